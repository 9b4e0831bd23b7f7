"""Plain requests for a tool of Sage's: a next step, a note, a search, what there is, by `requested.toml`.

A request is a whole message that names what it is about. A wish, a promise and a question aren't requests.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from coaching.practice.coach.spoken import spoken_language
from coaching.practice.coach.texts import LANGUAGES, Language, language, read_table

Request = Literal["step", "note", "search", "files", "steps", "able", "how"]

_MAX_CHARACTERS = 700
_FEW_WORDS = 3
_AROUND = " \t\n.!?,;:-–—\"'“”„«»‘’"


@cache
def request_patterns() -> Mapping[Language, Mapping[str, Sequence[re.Pattern[str]]]]:
    """Return the patterns by language, then by what is requested."""
    table = read_table("requested")
    return {
        code: {
            name: [_pattern(text.replace("{ask}", table[code]["ask"])) for text in given]
            for name, given in table[code].items()
            if name != "ask"
        }
        for code in LANGUAGES
    }


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


def requested(request: Request, words: str) -> str:
    """Return what words request, as they say it; nothing if they request no such thing."""
    plain = words.replace("’", "'").strip()
    if len(plain) > _MAX_CHARACTERS:
        return ""
    others = LANGUAGES if len(plain.split()) <= _FEW_WORDS else ()  # whose language may not show
    for code in dict.fromkeys((spoken_language(plain) or language(), *others)):
        for pattern in request_patterns()[code][request]:
            if found := pattern.search(plain):
                return found[1].strip(_AROUND)
    return ""
