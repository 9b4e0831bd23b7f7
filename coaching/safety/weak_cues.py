"""Weak cues that suggest danger only in combination.

Each cue (`words/weak-cues.txt`) weighs 1, 2 or 3 and counts once; weights in two adjacent sentences are added
up. From `ENOUGH` on it is a concern, never more: a safety net under `phrases`, with more false alarms.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

from coaching.safety import harmless
from coaching.safety.tables import expanded, needed_in, read_table, whole_words

ENOUGH = 3

_TABLE = read_table("weak-cues")
_BENIGN = whole_words(_TABLE["benign"])
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|me|my|myself)\b")


def is_enough(sentences: Sequence[str]) -> bool:
    """Return whether two adjacent sentences weigh enough, not only by cues of little weight."""
    weights = [_weights_in(sentence) for sentence in sentences]
    pairs = [{**mine, **following} for mine, following in pairwise([*weights, {}])]
    return any(sum(pair.values()) >= ENOUGH and max(pair.values()) > 1 for pair in pairs)


def _weights_in(sentence: str) -> Mapping[str, int]:
    """Return a sentence's cues and their weights; denied, retold or studied ones weigh nothing."""
    if any(pattern.search(sentence) for pattern in (harmless.TOLD, harmless.STUDIED, _BENIGN)):
        return {}
    is_first_person = bool(_FIRST_PERSON.search(sentence))
    weights = {}
    cues, pieces = all_cues()
    there = {piece for piece in pieces if piece in sentence}
    for weight, line, needs in cues:
        if (weight < ENOUGH and not is_first_person) or (needs and needs.isdisjoint(there)):
            continue
        found = _pattern_of(line).search(sentence)
        if found and not harmless.DENIED.search(sentence[: found.start()]):
            weights[line] = weight
    return weights


@cache
def all_cues() -> tuple[tuple[tuple[int, str, frozenset[str]], ...], frozenset[str]]:
    """Return all cues, each with its weight and required pieces, and the set of all such pieces."""
    cues = tuple(
        (int(weight), line, needed_in(expanded(line)))
        for weight in ("3", "2", "1")
        for line in _TABLE[weight]
    )
    return cues, frozenset().union(*(needs for _, _, needs in cues))


@cache
def _pattern_of(line: str) -> re.Pattern[str]:
    return whole_words([line])
