"""Whether what somebody wants to be written is light enough for a script to write it.

Patterns of requests and promises can't tell which of them is dangerous. So before a step or a note is
written, or a step is offered, all of the message is weighed, with what was told just before. Words that
aren't surely light are written nowhere, and it is said why.
"""

import re
from collections.abc import Mapping
from functools import cache

from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.hearing import danger_heard, is_about
from coaching.practice.coach.spoken import spoken_language
from coaching.practice.coach.texts import LANGUAGES, Language, language, once_per_text, read_table

_LATELY = 3
"""So many messages may be what a request is about."""


@cache
def heeding_patterns() -> Mapping[Language, Mapping[str, re.Pattern[str]]]:
    """Return the patterns by language, then by name."""
    table = read_table("heeding")
    return {code: {name: _pattern(text) for name, text in table[code].items()} for code in LANGUAGES}


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


@once_per_text
def is_light(words: str) -> bool:
    """Return whether words name nothing dark or dangerous; whether a step harms is known by its plan."""
    own = heeding_patterns()[spoken_language(words) or language()]
    plain = own["plain"].sub(" ", words.replace("’", "'"))
    return not (is_about("dark", plain) or own["grave"].search(plain) or danger_heard(words))


def may_write(conversation: Conversation) -> bool:
    """Return whether the newest words, and what was told just before, are light enough to be written."""
    told = [each.answer for each in conversation.exchanges[-_LATELY:] if not each.value]
    before = [each for each in told[-2:-1] if len(each.split()) > 1]
    return all(map(is_light, (*told[-1:], *before))) and not any(map(danger_heard, told))
