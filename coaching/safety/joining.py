"""The wish to be with somebody who died (`words/joining.txt`): "soon I'll be with her", "why am I here?".

The same words are harmless where nobody died, so `danger` asks whether a loss is told of, and what the text
weighs. Pure; long sentences are read in pieces.
"""

import re
from functools import cache

from coaching.safety import harmless, languages
from coaching.safety.pieces import Pieces
from coaching.safety.sentences import sentences_in
from coaching.safety.tables import expanded, needed_in, read_table

ENGLISH = "english"
_HOME_CHARACTERS = 40
_TABLE = read_table("joining")


def read_words() -> None:
    """Compile the rules early, so that nobody's first message waits for it."""
    for section in ("loss", "over", "home"):
        section_of(section)
    for language in (ENGLISH, *languages.LANGUAGES):
        _rules_of(language)


def is_wished(letters: str) -> bool:
    """Return whether plain letters say so, and neither deny it nor tell that it is over."""
    if section_of("over").search(letters):
        return False
    sentences = dict.fromkeys(sentences_in(letters))
    return any(
        _is_said(sentence, patterns_of(language)[number], language)
        for language in (ENGLISH, *languages.languages_in(letters))
        for sentence, numbers in _rules_of(language).rules_for(sentences)
        for number in numbers
    )


def tells_of_loss(letters: str) -> bool:
    """Return whether plain letters tell that somebody died."""
    return section_of("loss").search(letters) is not None


def _is_said(sentence: str, pattern: re.Pattern[str], language: str) -> bool:
    return any(
        not _is_denied(sentence, found.start(), language) and not _is_about_a_home(sentence, found)
        for found in pattern.finditer(sentence)
    )


def _is_about_a_home(sentence: str, found: re.Match[str]) -> bool:
    """Return whether it is a house that somebody doesn't want to stay in."""
    return section_of("home").search(sentence, found.start(), found.end() + _HOME_CHARACTERS) is not None


def _is_denied(sentence: str, position: int, language: str) -> bool:
    if language == ENGLISH:
        return harmless.DENIED.search(sentence, 0, position) is not None
    return languages.ends_denied(sentence, position)


@cache
def _lines_of(language: str) -> tuple[str, ...]:
    if language == ENGLISH:
        return tuple(map(expanded, _TABLE[language]))
    them = f"(?:{'|'.join(_TABLE[f'{language}-them'])})"
    return tuple(line.replace("<them>", them) for line in _TABLE[language])


@cache
def _rules_of(language: str) -> Pieces:
    return Pieces.of(map(needed_in, _lines_of(language)))


@cache
def patterns_of(language: str) -> tuple[re.Pattern[str], ...]:
    """Return the phrases of a language, in the order of the table."""
    return tuple(re.compile(rf"(?<!\w)(?:{line})(?!\w)") for line in _lines_of(language))


@cache
def section_of(name: str) -> re.Pattern[str]:
    """Return the words of a section that isn't a language's."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(_TABLE[name])})(?!\w)")
