"""What words say of steps on the list, by `on_list.toml`: questions, changes, answers to an offer."""

import re
from collections.abc import Mapping, Sequence
from datetime import time
from functools import cache

from coaching.practice.coach.colloquial import standard
from coaching.practice.coach.spoken import spoken_language
from coaching.practice.coach.texts import LANGUAGES, Language, language, once_per_text, read_table
from coaching.safety.readable import plain_letters

_NUMBERS: Mapping[str, int] = {
    word: number
    for words in (
        "one two three four five six seven eight nine ten eleven twelve",
        "eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf",
        "una dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "- - - - - - - - - - - noon",
        "- - - - - - - - - - - midday",
    )
    for number, word in enumerate(words.split(), start=1)
}
_NOON, _DAY_BEGINS = 12, 8
_EITHER = (6, 7)
"""Hours that are said of the morning and of the evening alike."""
_HOURS = 24


@cache
def list_patterns() -> Mapping[str, Mapping[Language, re.Pattern[str]]]:
    """Return the patterns by what words say, then by language."""
    table = read_table("on_list")
    names = {name: each for group, known in table.items() if group != "words" for name, each in known.items()}
    return {
        name: {code: _pattern(each[code], {part: table["words"][part][code] for part in table["words"]})
               for code in LANGUAGES}
        for name, each in names.items()
    }  # fmt: skip


def _pattern(text: str, parts: Mapping[str, str]) -> re.Pattern[str]:
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    return re.compile(text)


@cache
def list_questions() -> Sequence[str]:
    """Return the names of questions about the list, in the order in which they count."""
    return list(read_table("on_list")["asks"])


@once_per_text
def says(name: str, words: str) -> re.Match[str] | None:
    """Return where words say something of a step on the list."""
    codes = dict.fromkeys((spoken_language(words) or language(), language()))
    return next(filter(None, (_found(name, words, code) for code in codes)), None)


def _found(name: str, words: str, code: Language) -> re.Match[str] | None:
    plain = [plain_letters(each) for each in dict.fromkeys((words, standard(words)))]
    matches = (list_patterns()[name][code].search(each) for each in plain)
    return next(filter(None, matches), None)


@once_per_text
def time_in(words: str) -> time | None:
    """Return the time of day that words name; None where it isn't plain.

    Without a word for it, hours before six are after noon; six and seven may be either. Midnight and the
    hours after it belong to another day than the one that is named.
    """
    codes = dict.fromkeys((spoken_language(words) or language(), language()))
    times = ((code, _found("hour", words, code)) for code in codes)
    return next((_time(found, words, code) for code, found in times if found), None)


def _time(found: re.Match[str], words: str, code: Language) -> time | None:
    """Return the time that is found in words; other languages' words for a part of the day don't count."""
    is_morning, is_evening, is_night = (
        bool(_found(name, words, code)) for name in ("morning", "evening", "night")
    )
    said, minute = found["hour"], int(found["minute"] or 0)
    hour = int(said) if said.isdigit() else _NUMBERS[said]
    if found["half"] and not minute:
        minute = 30
        hour -= found["half"].startswith("halb")
    is_exact = said.startswith("0") or hour > _NOON
    is_open = hour in _EITHER and not (is_morning or is_evening)
    is_other_day = (hour == _NOON and (is_morning or is_night)) or (is_night and hour < min(_EITHER))
    if not is_exact and (is_open or is_other_day or (is_morning and is_evening)):
        return None
    if hour < _NOON and (is_evening or (hour < _DAY_BEGINS and not is_morning)) and not is_exact:
        hour += _NOON
    return time(hour, minute) if 0 <= hour < _HOURS else None
