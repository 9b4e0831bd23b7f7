"""Plain requests for a tool of Sage's: a next step, a note, a search, what there is, by `requested.toml`.

A request is a whole message that names what it is about; for a step, one of its sentences. A wish, a promise
and a question aren't requests, nor are several lines or what stands in quotation marks: they may be somebody
else's. A plan of harm goes on no list.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from coaching.practice.coach.spoken import spoken_language
from coaching.practice.coach.texts import LANGUAGES, Language, language, once_per_text, read_table
from coaching.safety.card import danger_in

Request = Literal["step", "too", "item", "note", "search", "files", "steps", "able", "how"]
Known = Request | Literal["harm", "end"]

_STEPS = frozenset({"step", "too", "item"})
_MAX_CHARACTERS = 700
_FEW_WORDS = 3
_I_WILL: Mapping[Language, str] = {"en": "I will", "de": "Ich werde", "es": "Voy a"}
_QUOTED = "\"'“„«‘"
_SENTENCE = re.compile(r"[^.!?\n]++[.!?]*+")
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


@once_per_text
def requested(request: Request, words: str) -> str:
    """Return what words request, as they say it; nothing if they request no such thing."""
    plain = words.replace("’", "'").strip()
    if len(plain) > _MAX_CHARACTERS or not _is_own(plain):
        return ""
    is_short = request != "search" and len(plain.split()) <= _FEW_WORDS  # its language may not show
    for code in dict.fromkeys((spoken_language(plain) or language(), *(LANGUAGES if is_short else ()))):
        if found := _found(code, request, plain):
            wanted = found[1].strip(_AROUND)
            return "" if request in _STEPS and _does_harm(code, wanted) else wanted
    return ""


def _is_own(words: str) -> bool:
    return "\n" not in words.strip() and not words.lstrip().startswith(tuple(_QUOTED))


def _found(code: Language, name: Known, plain: str) -> re.Match[str] | None:
    matches = (pattern.search(plain) for pattern in request_patterns()[code][name])
    return next((match for match in matches if match), None)


def does_harm(wanted: str) -> bool:
    """Return whether a step would harm somebody."""
    return _does_harm(spoken_language(wanted) or language(), wanted)


def _does_harm(code: Language, wanted: str) -> bool:
    """Say whether a step would harm somebody: it goes on no list, and is answered as other words are."""
    return names_harm(code, wanted) or danger_in(f"{_I_WILL[code]} {wanted}") is not None


def names_harm(code: Language, wanted: str) -> bool:
    """Return whether words name something that harms somebody, whatever they say of it."""
    return is_end(code, wanted) or _found(code, "harm", wanted) is not None


def is_end(code: Language, wanted: str) -> bool:
    """Return whether what somebody wants sounds like the end of their life: "to not exist", "the balcony"."""
    return _found(code, "end", wanted) is not None


def step_in(words: str) -> tuple[str, str]:
    """Return the next step that words request, and the words or the sentence that do; nothing for others."""
    sentences = _SENTENCE.findall(words) if len(words) <= _MAX_CHARACTERS and _is_own(words) else []
    found = ((requested("step", said), said) for said in (words, *sentences))
    return next((each for each in found if each[0]), ("", ""))
