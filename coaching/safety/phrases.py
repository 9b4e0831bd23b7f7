"""Phrases of danger (`words/phrases.txt`): level, topic, and whose.

There are hundreds, and a sentence contains pieces of few: the table is read on first use, and a phrase is
compiled when a sentence may contain it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from coaching.safety.pieces import Pieces
from coaching.safety.tables import expanded, needed_in, read_table, whole_words

Level = Literal["immediate", "concern"]
Topic = Literal["life", "violence"]
About = Literal["self", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A phrase. A sentence without any of `needs` can't contain it.

    `about` says who is in danger; if it is None, the subject before the phrase does, or a group `own` in it
    ("himself"). `is_mention`: it only names the thing, so work, news or a course may be meant. It counts only
    with `requires` anywhere in the message, and not with `unless` in its sentence.
    """

    line: str
    needs: frozenset[str]
    level: Level
    topic: Topic
    about: About | None
    is_mention: bool
    requires: re.Pattern[str] | None
    unless: re.Pattern[str] | None

    @property
    def pattern(self) -> re.Pattern[str]:
        return _pattern_of(self.line)


def phrases_in(sentences: Iterable[str]) -> Iterator[tuple[str, Sequence[Phrase]]]:
    """Yield each sentence with the phrases that it may contain, in order."""
    phrases = all_phrases()
    for sentence, numbers in _pieces().rules_for(sentences):
        yield sentence, [phrases[number] for number in numbers]


@cache
def _pattern_of(line: str) -> re.Pattern[str]:
    return whole_words([line])


_TABLE = read_table("phrases")


def _phrases(
    section: str,
    level: Level,
    topic: Topic = "life",
    about: About | None = None,
    *,
    is_mention: bool = False,
    requires: str = "",
    unless: str = "",
) -> Iterable[Phrase]:
    return [
        Phrase(
            line=line,
            needs=needed_in(expanded(line)),
            level=level,
            topic=topic,
            about=about,
            is_mention=is_mention,
            requires=whole_words(_TABLE[requires]) if requires else None,
            unless=whole_words(_TABLE[unless]) if unless else None,
        )
        for line in _TABLE[section]
    ]


@cache
def all_phrases() -> tuple[Phrase, ...]:
    """Return all phrases in matching order."""
    return (
        *_phrases("ending-it", "immediate"),
        *_phrases("named", "immediate", is_mention=True),
        *_phrases("leaving", "immediate", unless="a-place"),
        *_phrases("acts", "immediate"),
        *_phrases("doing-it", "immediate", requires="means"),
        *_phrases("in-earnest", "immediate", about="self", requires="earnest"),
        *_phrases("self-harm", "immediate"),
        *_phrases("overdose", "immediate"),
        *_phrases("too-much", "immediate", requires="unwell"),
        *_phrases("unconscious", "immediate", about="other"),
        *_phrases("breath-named", "immediate", about="other", is_mention=True),
        *_phrases("harmed-now", "immediate", "violence", "self", unless="no-aggressor"),
        *_phrases("harms-now", "immediate", about="self"),
        *_phrases("at-hand", "immediate", unless="at-ease"),
        *_phrases("now", "immediate", unless="at-ease"),
        *_phrases("hints", "concern", unless="at-ease"),
        *_phrases("goodbyes", "concern", unless="a-place"),
        *_phrases("giving-up", "concern"),
        *_phrases("harmed", "concern", "violence", "self"),
        *_phrases("violence-named", "concern", "violence", "self", is_mention=True),
        *_phrases("harms", "concern", about="self"),
        *_phrases("others-harmed", "concern", "violence", "other"),
    )


@cache
def _pieces() -> Pieces:
    return Pieces.of(phrase.needs for phrase in all_phrases())
