"""What somebody's words do, and what they are about, by weights learnt from utterances: `sense.txt`.

A list of patterns knows the sentences that it was written with. So each word, pair of neighbouring words and
run of letters, and what they speak of (`concepts.txt`), has weights for the acts (to greet, to tell, to ask
about the tour) and for the topics of acts that have some. A topic counts only where it is sure.
`tests.practice.training` learns them from `tests/practice/heard`. All languages share a table. Pure.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from math import exp
from pathlib import Path

from coaching.safety.meanings import sentences_of
from coaching.safety.readable import plain_letters

ALWAYS = "<>"
"""The feature that each text has."""
FILE = Path(__file__).with_name("sense.txt")
_START, _END = "^", "$"
_PIECE = 4
_PHRASE_WORDS = 4
LAUGHS = re.compile(r"[😂🤣😹😆😄😅]|\b(?:(?:ha|ja|hi|je){2,}+h?|lol|lmao|xd)\b")
CRIES = re.compile("[😢😭😞😔💔☹🥺😿]")
_FEW, _SOME, _MANY = 1, 3, 8


_TEMPER = 150
"""The higher, the less clear an act is that outweighs the others by as much."""
_SURE = 0.5
_SURE_TOPIC = 60
"""In hundredths: as much must speak for a topic more than against it."""
_MARGIN = 90
"""And as much more than for another one."""
_GRAVE = frozenset({"confide"})
"""Acts whose topics it would hurt to hear where they aren't meant."""
_LOSS = "confide/loss"
"""The one of them that it would hurt to miss, too."""
_VAGUE = frozenset({"tell/look", "tell/doubt", "ask_advice/wonder", "complain/quiet", "short/tease"})
"""Topics that others' words are easily taken for."""
_LIKELY_TOPIC = -120
_ANSWERED = frozenset({"ask_self"})
"""Acts that want an answer: there the likeliest topic is better than none."""


@dataclass(frozen=True, slots=True)
class Sensed:
    """What words do and are about. `share` is the act's of all acts; without a sure topic it is empty."""

    act: str
    share: float
    topic: str

    @property
    def is_sure(self) -> bool:
        return self.share >= _SURE


def features_of(text: str) -> frozenset[str]:
    """Return the features of a text."""
    return frozenset(_features(plain_letters(text)))


def _features(letters: str) -> Iterator[str]:
    yield ALWAYS
    count = 0
    for words in sentences_of(letters):
        count += len(words)
        last = _START
        for word in (*words, _END):
            yield f"{last} {word}"
            last = word
        concepts = list(concepts_in(words))
        yield from (f"<{name}>" for name in concepts)
        yield from (f"<{one} {two}>" for one, two in pairwise(concepts))
        for word in words:
            yield word
            padded = f"_{word}_"
            yield from (f"#{padded[i : i + _PIECE]}" for i in range(len(padded) - _PIECE + 1))
    yield f"<{sum(count > each for each in (_FEW, _SOME, _MANY))}>"
    yield from (mark for mark in "?!" if mark in letters)
    if LAUGHS.search(letters):
        yield "<laughs>"
    if CRIES.search(letters):
        yield "<cries>"


def concepts_in(words: Sequence[str]) -> Iterator[str]:
    """Yield what words and phrases speak of."""
    phrases, beginnings, lengths = _concepts()
    for position, word in enumerate(words):
        for count in range(1, _PHRASE_WORDS + 1):
            if position + count <= len(words):
                yield from phrases.get(" ".join(words[position : position + count]), ())
        for length in lengths:
            if length <= len(word):
                yield from beginnings.get(word[:length], ())


@cache
def _concepts() -> tuple[Mapping[str, Sequence[str]], Mapping[str, Sequence[str]], Sequence[int]]:
    phrases: dict[str, list[str]] = defaultdict(list)
    beginnings: dict[str, list[str]] = defaultdict(list)
    lines = FILE.with_name("concepts.txt").read_text(encoding="utf-8").splitlines()
    for name, _, words in (line.partition(": ") for line in lines if line and not line.startswith("#")):
        for word in dict.fromkeys(words.split()):
            kept = beginnings[word[:-1]] if word.endswith("*") else phrases[word.replace("_", " ")]
            kept.append(name)
    return phrases, beginnings, sorted({len(each) for each in beginnings})


@cache
def learnt() -> tuple[Sequence[str], Sequence[str], Mapping[str, str]]:
    """Return the acts, the topics as `act/topic`, and the weights of each feature: `7:31 12:-8`.

    The numbers count the acts first, then the topics.
    """
    lines = FILE.read_text(encoding="utf-8").splitlines()
    acts, topics, *rows = (line for line in lines if not line.startswith("# "))
    return acts.split(), topics.split(), dict(row.split("\t") for row in rows)


@lru_cache(maxsize=4_096)
def _weights_of(feature: str) -> Sequence[tuple[int, int]]:
    """Return the numbers of the acts and topics that a feature weighs for, each with the weight."""
    pairs = (pair.partition(":") for pair in learnt()[2].get(feature, "").split())
    return [(int(number), int(weight)) for number, _, weight in pairs]


def weigh(text: str) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Return what a text weighs for each act and for each topic."""
    acts, topics, _ = learnt()
    sums = [0] * (len(acts) + len(topics))
    for feature in features_of(text):
        for number, weight in _weights_of(feature):
            sums[number] += weight
    return dict(zip(acts, sums, strict=False)), dict(zip(topics, sums[len(acts) :], strict=True))


@lru_cache(maxsize=512)
def sense(text: str) -> Sensed:
    """Return what a text does and is about."""
    acts, topics = weigh(text)
    most = max(acts.values())
    powers = {act: exp((weight - most) / _TEMPER) for act, weight in acts.items()}
    act = max(powers, key=powers.__getitem__)
    share = powers[act] / sum(powers.values())
    (best, first), (_, second) = sorted(topics.items(), key=lambda each: -each[1])[:2]
    of_act, _, topic = best.partition("/")
    least, margin = (_LIKELY_TOPIC, 0) if of_act == act in _ANSWERED else (_SURE_TOPIC, _MARGIN)
    if of_act in _GRAVE:
        least, margin = (2 if best == _LOSS else 4) * _SURE_TOPIC, 2 * _MARGIN
    elif best in _VAGUE:
        least, margin = 2 * _SURE_TOPIC, 2 * _MARGIN
    if first < least or first - second < margin or (of_act != act and first < 2 * _SURE_TOPIC):
        return Sensed(act, share, "")
    return Sensed(of_act, share, topic)
