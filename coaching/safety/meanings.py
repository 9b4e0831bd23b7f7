"""What a text is about, as features that a weight may be learnt for (`words/meanings.txt`).

Words are replaced by their meanings, which are the same in each language: "will zu ihr" and "quiero ir con
ella" share features. A feature is a word, a pair of neighbouring words, a meaning, or meanings that follow
each other, adjacent or with others between them. Pure.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from coaching.safety.tables import read_table

MAX_SENTENCE_WORDS = 60
"""A longer sentence is read in pieces."""
SPANS = (20, 10)
"""A sentence of more words is judged in overlapping spans, too: many people write without a full stop."""
_NEXT_MEANINGS = 4
"""So many meanings later a pair may end."""
_PHRASE_WORDS = (3, 2, 1)
_START, _END = "^", "$"
_TOKEN = re.compile(r"[a-z0-9]++(?:['-][a-z0-9]++)*+|[.!?;\n]++")
_ENDS = frozenset(".!?;\n")
_COMMON = {name: frozenset(" ".join(lines).split()) for name, lines in read_table("common-words").items()}
"""English is last, so that another language needs no more words than English has."""
ENGLISH = "english"
_CODES = {
    ENGLISH: "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt",
}  # fmt: skip
LANGUAGES = frozenset(_CODES)
"""The languages whose words have meanings."""
_Phrase = tuple[str, ...]


def sentences_of(letters: str) -> Iterator[Sequence[str]]:
    """Yield the words of each sentence of plain letters (`readable.plain_letters`), repeated ones once."""
    words: list[str] = []
    last: Sequence[str] = ()
    for token in (*_TOKEN.findall(letters), "."):
        if token[0] not in _ENDS:
            words.append(token)
        if words and (token[0] in _ENDS or len(words) == MAX_SENTENCE_WORDS):
            if words != last:
                yield words
            last, words = words, []


def spans_of(sentences: Sequence[Sequence[str]]) -> Iterator[Sequence[str]]:
    """Yield overlapping spans of long sentences, and of one that was read in pieces."""
    last: Sequence[str] = ()
    for sentence in sentences:
        before = last[-max(SPANS) :] if len(last) == MAX_SENTENCE_WORDS else ()
        words = [*before, *sentence]
        if len(words) > max(SPANS):
            for length in SPANS:
                step = length // 2
                yield from (words[start : start + length] for start in range(0, len(words) - step, step))
        last = sentence


def language_of(sentences: Sequence[Sequence[str]]) -> str:
    """Return the language that most of the frequent words belong to, English without any."""
    words = {word for sentence in sentences for word in sentence}
    counts = {language: len(words & common) for language, common in _COMMON.items()}
    return max(counts, key=lambda language: counts[language]) if any(counts.values()) else "english"


def meanings_in(words: Sequence[str], language: str) -> Sequence[tuple[str, bool]]:
    """Return each word or phrase as its meaning, or as itself, and whether it has one."""
    phrases, beginnings, lengths = _meanings(language)
    found: list[tuple[str, bool]] = []
    position = 0
    while position < len(words):
        for count in _PHRASE_WORDS:
            meaning = phrases.get(tuple(words[position : position + count]))
            if meaning is not None:
                break
        else:
            count, word = 1, words[position]
            meaning = next((beginnings[word[:n]] for n in lengths if word[:n] in beginnings), None)
        found.append((meaning or words[position], meaning is not None))
        position += count
    return found


def features_of(words: Sequence[str], meanings: Sequence[tuple[str, bool]]) -> Iterator[str]:
    """Yield the features of a sentence: its words, and its words by meaning (`meanings_in`)."""
    yield from words
    last = _START
    for word in (*words, _END):
        yield f"{last} {word}"
        last = word
    both = [_START, *(name for name, _ in meanings), _END]
    are_known = [False, *(is_known for _, is_known in meanings), False]
    for number in range(1, len(both)):
        if any(are_known[number - 1 : number + 1]):
            yield f"<{both[number - 1]} {both[number]}>"
        if number > 1 and any(are_known[number - 2 : number + 1]):
            yield f"<{both[number - 2]} {both[number - 1]} {both[number]}>"
    known = [name for name, is_known in meanings if is_known]
    for number, name in enumerate(known):
        yield f"<{name}>"
        for following in known[number + 1 : number + 1 + _NEXT_MEANINGS]:
            yield f"<{name} .. {following}>"


@cache
def _meanings(language: str) -> tuple[Mapping[_Phrase, str], Mapping[str, str], Sequence[int]]:
    """Return the phrases of a language with their meanings, its beginnings of words, and their lengths."""
    phrases: dict[_Phrase, str] = {}
    beginnings: dict[str, str] = {}
    for meaning, lines in read_table("meanings").items():
        for line in lines:
            name, _, words = line.partition(": ")
            for word in words.split() if name == _CODES.get(language) else ():
                if word.endswith("*"):
                    beginnings.setdefault(word[:-1], meaning)
                else:
                    phrases.setdefault(tuple(word.split("_")), meaning)
    return phrases, beginnings, sorted({len(each) for each in beginnings}, reverse=True)
