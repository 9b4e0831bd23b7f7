"""Danger in other languages than English: rules for six of them, the plainest words of many more.

The six (`words/languages.txt`) have what English has, in less depth: denials, idioms, the past, other people.
Of the others (`words/other-languages.txt`) only explicit words are known.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Literal

from coaching.safety.phrases import About, Level, Topic
from coaching.safety.pieces import Pieces
from coaching.safety.readable import readable as readable_of
from coaching.safety.tables import needed_in, read_table

LANGUAGES = ("german", "french", "spanish", "italian", "portuguese", "dutch")
"""The languages with rules of their own, besides English."""

_KINDS: tuple[tuple[str, Level, About, Topic], ...] = (
    ("violence", "immediate", "self", "violence"),
    ("immediate", "immediate", "self", "life"),
    ("other", "concern", "other", "life"),
    ("concern", "concern", "self", "life"),
)
Found = tuple[Level, About, Topic]

_SHORT_WORDS = 5
"""A text of so few words may be of any language."""
_WORD = re.compile(r"[\w']+")
_SENTENCE = re.compile(r"[^.!?\n;]+[.!?\n;]*")
_MAX_CHARACTERS = 600
MAX_DENIAL_CHARACTERS = 120
"""What a denial has at most, with the words between it and a phrase."""
_CLASSES = {
    "<number>": r"(?:\d+|zehn|zwanzig|dreissig|tien|twintig|dertig)",
    "<many>": r"(?:(?!(?:nicht|nie|niet|nooit|no|pas|non|nao)\b)\w+ ){0,3}",
}

_COMMON = {name: frozenset(" ".join(lines).split()) for name, lines in read_table("common-words").items()}
_TABLE = read_table("languages")
_OTHER_TABLE = read_table("other-languages")


def read_words() -> None:
    """Compile the rules early, so that nobody's first message waits for it."""
    _denied()
    for language in LANGUAGES:
        _kinds_of(language)
    for section in _TABLE:
        if not section.startswith("denied"):
            _pattern(section)


def languages_in(folded: str) -> Sequence[str]:
    """Return which of the languages a text without accents may be in, judging by its frequent words."""
    words = set(_WORD.findall(folded[:_MAX_CHARACTERS]))
    if len(words) < _SHORT_WORDS:
        return LANGUAGES
    needed = 1 if len(words) < 3 * _SHORT_WORDS else 2
    return [name for name in LANGUAGES if len(words & _COMMON[name]) >= needed]


def danger_in_other_words(letters: str, *, readable: str) -> Found | None:
    """Return the most acute danger that a text names in another language than English, or None.

    It is given in plain letters, and as a readable text.
    """
    found = [danger for language in languages_in(letters) for danger in _dangers_in(letters, language)]
    if not found and (level := _plain_words_in(readable)):
        return level, "self", "life"
    return min(found, key=lambda danger: (danger[0] != "immediate", danger[1] != "self"), default=None)


def names_danger(letters: str) -> bool:
    """Return whether plain letters name danger in another language, even if it is denied, past or a death."""
    kinds = (*(kind for kind, *_ in _KINDS), "died")
    sections = [f"{language}-{kind}" for language in languages_in(letters) for kind in kinds]
    return any(_pattern(section).search(letters) for section in sections if section in _TABLE)


def _dangers_in(plain: str, language: str) -> Iterator[Found]:
    harmless = f"{language}-harmless"
    if any(piece in plain for piece in _needed_in(harmless)):
        plain = _pattern(harmless).sub(" ~ ", plain)
    pieces = dict.fromkeys(piece for whole in _SENTENCE.findall(plain) for piece in _pieces(whole))
    for sentence, numbers in _kinds_of(language).rules_for(pieces):
        kinds = [_KINDS[number] for number in numbers]
        said = [kind for kind in kinds if _says(sentence, f"{language}-{kind[0]}")]
        if not said or is_past(sentence):
            continue
        is_told = bool(_pattern("told").search(sentence))
        for kind, level, about, topic in said:
            if not (is_told and kind == "other"):
                yield level, about, topic


def _pieces(sentence: str) -> Sequence[str]:
    return [sentence[start : start + _MAX_CHARACTERS] for start in range(0, len(sentence), _MAX_CHARACTERS)]


def _says(sentence: str, section: str) -> bool:
    matches = _pattern(section).finditer(sentence)
    return any(not ends_denied(sentence, match.start()) for match in matches)


@cache
def _kinds_of(language: str) -> Pieces:
    return Pieces.of(_needed_in(f"{language}-{kind}") for kind, *_ in _KINDS)


@cache
def _needed_in(section: str) -> frozenset[str]:
    return needed_in(_lines(section))


def _lines(section: str) -> str:
    lines = "|".join(_TABLE[section])
    for name, pattern in _CLASSES.items():
        lines = lines.replace(name, pattern)
    return lines


@cache
def _pattern(section: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_lines(section)})(?!\w)")


def is_past(sentence: str) -> bool:
    """Return whether a sentence tells of a past that is over."""
    return bool(_pattern("past").search(sentence) and not _pattern("still").search(sentence))


@cache
def _denied() -> re.Pattern[str]:
    denials, between = ("|".join(" ".join(_TABLE[name]).split()) for name in ("denied", "denied-then"))
    return re.compile(rf"(?<!\w)(?:{denials})(?: (?:{between})){{0,4}} ?$")


def ends_denied(plain: str, position: int) -> bool:
    """Return whether a denial ends directly before a position."""
    return _denied().search(plain, max(0, position - MAX_DENIAL_CHARACTERS), position) is not None


_WISHES = tuple(readable_of(line) for line in _OTHER_TABLE["wish"])
_NAMES = tuple(readable_of(line) for line in _OTHER_TABLE["named"])
_DENIALS = ("no", "non", "nao", "ne", "nie", readable_of("не"))


def _plain_words_in(plain: str) -> Literal["immediate", "concern"] | None:
    """Return the level of danger that a readable text names explicitly, or None."""
    if _is_named(plain, _WISHES):
        return "immediate"
    names = [name for name in _NAMES if name in plain]
    if all(_is_denied(plain, name) or ends_denied(plain, plain.index(name)) for name in names):
        return None
    named = dict.fromkeys(
        sentence for sentence in _SENTENCE.findall(plain) if any(name in sentence for name in names)
    )
    is_lived = (not _pattern("told").search(each) and not _pattern("past").search(each) for each in named)
    return "concern" if any(is_lived) else None


def _is_named(plain: str, words: Collection[str]) -> bool:
    return any(word in plain and not _is_denied(plain, word) for word in words)


def _is_denied(plain: str, wish: str) -> bool:
    before = plain[: plain.index(wish)].rsplit(None, 1)
    return bool(before) and before[-1] in _DENIALS
