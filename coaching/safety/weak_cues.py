"""Weak cues that suggest danger only in combination.

Each cue (`words/weak-cues.txt`) weighs 1, 2 or 3 and counts once; weights in two adjacent sentences are added
up. From `ENOUGH` on it is a concern: a safety net under `phrases`, with more false alarms.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from coaching.safety import harmless
from coaching.safety.pieces import Pieces
from coaching.safety.tables import expanded, needed_in, read_table, whole_words

ENOUGH = 3

_TABLE = read_table("weak-cues")
_BENIGN = whole_words(_TABLE["benign"])
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|me|my|myself)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """A cue and what it weighs. A sentence without any of `needs` can't contain it."""

    weight: int
    line: str
    needs: frozenset[str]


def is_enough(sentences: Sequence[str]) -> bool:
    """Return whether two adjacent sentences weigh enough, not only by cues of little weight."""
    pieces, cues = _pieces(), all_cues()
    by_sentence = {
        sentence: _weights_in(sentence, [cues[number] for number in numbers])
        for sentence, numbers in pieces.rules_for(dict.fromkeys(sentences))
    }
    pairs = (
        {**by_sentence[one], **by_sentence.get(following, {})}
        for one, following in pairwise([*sentences, ""])
        if by_sentence[one]
    )
    return any(sum(pair.values()) >= ENOUGH and max(pair.values()) > 1 for pair in pairs)


def _weights_in(sentence: str, cues: Sequence[Cue]) -> Mapping[str, int]:
    """Return a sentence's cues and their weights; denied, retold or studied ones weigh nothing."""
    if not cues or any(pattern.search(sentence) for pattern in (harmless.TOLD, harmless.STUDIED, _BENIGN)):
        return {}
    is_first_person = bool(_FIRST_PERSON.search(sentence))
    weights = {}
    for cue in cues:
        if cue.weight < ENOUGH and not is_first_person:
            continue
        found = _pattern_of(cue.line).search(sentence)
        if found and not harmless.DENIED.search(sentence[: found.start()]):
            weights[cue.line] = cue.weight
    return weights


@cache
def all_cues() -> tuple[Cue, ...]:
    """Return all cues, the heaviest first."""
    return tuple(
        Cue(weight=int(weight), line=line, needs=needed_in(expanded(line)))
        for weight in ("3", "2", "1")
        for line in _TABLE[weight]
    )


@cache
def _pieces() -> Pieces:
    return Pieces.of(cue.needs for cue in all_cues())


@cache
def _pattern_of(line: str) -> re.Pattern[str]:
    return whole_words([line])
