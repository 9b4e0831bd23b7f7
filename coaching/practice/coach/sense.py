"""What somebody's words are for, by weights that were learnt from utterances: `sense.txt`.

A list of patterns knows the sentences that it was written with. So each word, pair of neighbouring words and
run of letters, and what they speak of (`concepts.txt`), has weights for the intents, and the greatest sum
decides. `tests.practice.training` learns them from `tests/practice/heard`. All languages share a table. Pure.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
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


FELT = frozenset({
    "loss", "fear", "anger", "shame", "tired", "sleep", "lonely", "close", "sad", "money", "ill",
})  # fmt: skip
"""Intents of words that confide something hard."""
_SURE = 0.6
_SURE_OF_GROUP = 0.5


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
def learnt() -> tuple[Sequence[str], Mapping[str, str]]:
    """Return the intents, and for each feature its weights for them as they are written: `7:31 12:-8`."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    intents, *rows = (line for line in lines if not line.startswith("# "))
    return intents.split(), dict(row.split("\t") for row in rows)


def weigh(text: str) -> Mapping[str, int]:
    """Return what a text weighs for each intent."""
    intents, weights = learnt()
    sums = [0] * len(intents)
    for feature in features_of(text):
        for pair in weights.get(feature, "").split():
            number, _, weight = pair.partition(":")
            sums[int(number)] += int(weight)
    return dict(zip(intents, sums, strict=True))


@lru_cache(maxsize=256)
def sense(text: str) -> str:
    """Return the intent of a text; `felt`, `asked` or `told` where only so much of it is clear."""
    weights = weigh(text)
    most = max(weights.values())
    powers = {intent: exp((weight - most) / 100) for intent, weight in weights.items()}
    total = sum(powers.values())
    intent = max(powers, key=powers.__getitem__)
    if powers[intent] >= _SURE * total:
        return intent
    if sum(powers[each] for each in FELT) >= _SURE_OF_GROUP * total:
        return "felt"
    return "asked" if "?" in text else "told"
