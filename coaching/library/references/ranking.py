"""Ranks references by how well they fit a text and a file name. Lexical, deterministic, no database access.

Three signals are added: identifying phrases that are in the text (also inside a German compound),
BM25 over the words of the references (https://doi.org/10.1561/1500000019), and words of the file name.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from coaching.library.references.text import ReferenceText

HEAD, TAIL = 12_000, 3_000
"""The characters of a long text that are read, at its begin and its end."""
START = 400
"""A phrase that stands in the first characters counts more: titles are there."""
K1, B = 1.2, 0.6
PHRASE, NAME, TAG, AT_START, COMPOUND = 1.6, 2.0, 2.5, 0.5, 0.8
LONG_WORD = 8
"""A phrase of one word with so many letters also counts inside a longer word."""
LONGEST_WORD = 80
"""What is longer is no word, and costs time by the square of its length."""

Scores = defaultdict[str, float]

_WORD = re.compile(r"[^\W_]+")
_UMLAUT = re.compile(r"([aou])e")
_BOUNDARY = re.compile(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_EXTENSION = re.compile(r"(?:\.[A-Za-z]{2,5}){1,4}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A reference's file type and its score, above 0."""

    file_type: str
    score: float


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are compared: without case, accents and a plural's s."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in folded if not unicodedata.combining(c)) if not folded.isascii() else folded
    return [_stem(word) for word in _WORD.findall(_UMLAUT.sub(r"\1", plain)) if word != "s"]


def words_of_name(name: str) -> list[str]:
    """Return the words of a file name without its extensions; “SA100_Oct25” is sa, 100, oct, 25."""
    stem = _EXTENSION.sub("", name)
    return [*words_of(stem), *words_of(_BOUNDARY.sub(" ", stem))]


_STOP_WORDS = frozenset(
    words_of(
        """
        a an and are as at be by for from has have i in is it its of on or our that the this to was we were
        what which who will with you your not no one all any there they their
        am auf aus bei bis das dem den der des die durch ein eine einem einen einer er es für hat ich ihr im
        ist mit nach nicht noch oder sich sie sind und unter über vom von vor war wir wird zu zum zur
        """
    )
)


class ReferenceIndex:
    """The references, prepared for ranking."""

    def __init__(self, references: Iterable[ReferenceText]) -> None:
        self._references = tuple(references)
        self._own_names = {each.file_type: (each.title, each.file_type) for each in self._references}
        self._phrases: dict[tuple[str, ...], list[str]] = {}
        for reference in self._references:
            for phrase in {tuple(words_of(text)) for text in _names_of(reference)} - {()}:
                self._phrases.setdefault(phrase, []).append(reference.file_type)
        self._longest = max(map(len, self._phrases), default=0)
        self._beginnings = {phrase[0] for phrase in self._phrases}
        self._long_words = {
            phrase[0] for phrase in self._phrases if len(phrase) == 1 and len(phrase[0]) >= LONG_WORD
        }

    def rank(
        self, *, text: str, name: str = "", tags: Collection[str] = (), unnamed: str = ""
    ) -> Sequence[Ranked]:
        """Return the references with any similarity, best first.

        `unnamed` is a type whose title and file type don't count.
        """
        scores: Scores = defaultdict(float)
        read = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
        left_out = [words_of(own) for own in self._own_names.get(unnamed, ())]
        words = _without(words_of(read), left_out)
        self._add_phrases(scores, words, start=len(words_of(read[:START])), weight=PHRASE)
        self._add_words(scores, Counter(words), weight=1.0)
        name_words = _without(words_of_name(name), left_out)
        self._add_phrases(scores, name_words, start=0, weight=NAME)
        self._add_words(scores, Counter(set(name_words)), weight=NAME)
        for reference in self._references:
            scores[reference.file_type] += TAG * len(set(tags) & set(reference.tags))
        found = [Ranked(file_type=key, score=round(value, 6)) for key, value in scores.items() if value > 0]
        return sorted(found, key=lambda ranked: (-ranked.score, ranked.file_type))

    def _add_phrases(self, scores: Scores, words: Sequence[str], *, start: int, weight: float) -> None:
        """Add the weight of each phrase that occurs, once; more if it is among the first `start` words."""
        best: dict[tuple[str, ...], float] = {}
        for position, phrase, share in self._occurrences(words):
            value = share * (1 + (AT_START if position < start else 0))
            best[phrase] = max(best.get(phrase, 0), value)
        for phrase, value in best.items():
            for file_type in self._phrases[phrase]:
                scores[file_type] += weight * value * self._weight_of(phrase)

    def _occurrences(self, words: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...], float]]:
        for position, word in enumerate(words):
            if word in self._beginnings:
                for length in range(1, self._longest + 1):
                    phrase = tuple(words[position : position + length])
                    if phrase in self._phrases:
                        yield position, phrase, 1.0
            for cut in range(LONG_WORD, len(word) if len(word) <= LONGEST_WORD else 0):
                for part in (word[:cut], word[-cut:]):
                    if part in self._long_words:
                        yield position, (part,), COMPOUND

    def _weight_of(self, phrase: tuple[str, ...]) -> float:
        """A phrase weighs as much as its words, and less if several references have it."""
        rarity = sum(self._idf.get(word, 0) for word in phrase if word not in _STOP_WORDS) or 1.0
        return min(rarity, 8.0) / len(self._phrases[phrase])

    def _add_words(self, scores: Scores, words: Mapping[str, int], *, weight: float) -> None:
        for word, count in words.items():
            for file_type, value in self._postings.get(word, ()):
                scores[file_type] += weight * value * (1 + math.log(count))

    @cached_property
    def _counts(self) -> Mapping[str, Counter[str]]:
        return {
            reference.file_type: Counter(
                word
                for part in (*_names_of(reference), reference.title, reference.body)
                for word in words_of(part)
                if word not in _STOP_WORDS
            )
            for reference in self._references
        }

    @cached_property
    def _idf(self) -> Mapping[str, float]:
        number = len(self._references)
        found = Counter(word for counts in self._counts.values() for word in counts)
        return {word: math.log(1 + (number - df + 0.5) / (df + 0.5)) for word, df in found.items()}

    @cached_property
    def _postings(self) -> Mapping[str, Sequence[tuple[str, float]]]:
        """The BM25 value of each word in each reference."""
        lengths = {file_type: counts.total() for file_type, counts in self._counts.items()}
        mean = sum(lengths.values()) / max(1, len(lengths))
        postings: dict[str, list[tuple[str, float]]] = {}
        for file_type, counts in self._counts.items():
            norm = K1 * (1 - B + B * lengths[file_type] / mean)
            for word, count in counts.items():
                value = self._idf[word] * count * (K1 + 1) / (count + norm)
                postings.setdefault(word, []).append((file_type, value))
        return postings


def _without(words: Sequence[str], names: Iterable[Sequence[str]]) -> Sequence[str]:
    """Return words without those that make one of the names."""
    text = "".join(f" {word} " for word in words)
    for name in filter(None, names):
        text = text.replace("".join(f" {word} " for word in name), "")
    return text.split()


def _names_of(reference: ReferenceText) -> Sequence[str]:
    return reference.title, reference.file_type.replace("-", " "), *reference.phrases
