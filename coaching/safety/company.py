"""Words that mean little alone and much in company: what danger sounds like when nobody names it.

Each cue (`words/company.txt`) weighs 1, 2 or 3, once; what stands in two neighbouring sentences is added up.
From `ENOUGH` on it is a concern, never more: this is a net under `phrases`, and it catches other things too.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

from coaching.safety import harmless
from coaching.safety.tables import expanded, needed_in, read_table, whole_words

ENOUGH = 3

_TABLE = read_table("company")
_BENIGN = whole_words(_TABLE["benign"])
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|me|my|myself)\b")


def is_enough(sentences: Sequence[str]) -> bool:
    """Return whether two neighbouring sentences carry enough, and not only by words of little weight."""
    weights = [_weights_in(sentence) for sentence in sentences]
    pairs = [{**mine, **following} for mine, following in pairwise([*weights, {}])]
    return any(sum(pair.values()) >= ENOUGH and max(pair.values()) > 1 for pair in pairs)


def _weights_in(sentence: str) -> Mapping[str, int]:
    """Return a sentence's cues and what each weighs; what is denied, told or studied weighs nothing."""
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
    """Return all cues, each with its weight and the pieces that it needs, and all such pieces."""
    cues = tuple(
        (int(weight), line, needed_in(expanded(line)))
        for weight in ("3", "2", "1")
        for line in _TABLE[weight]
    )
    return cues, frozenset().union(*(needs for _, _, needs in cues))


@cache
def _pattern_of(line: str) -> re.Pattern[str]:
    return whole_words([line])
