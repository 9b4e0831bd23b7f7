"""What words say of steps on the list, by `on_list.toml`: questions, changes, answers to an offer."""

import re
from collections.abc import Mapping, Sequence
from datetime import time
from functools import cache

from coaching.practice.coach.colloquial import standard
from coaching.practice.coach.spoken import spoken_language
from coaching.practice.coach.texts import LANGUAGES, Language, language, read_table
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


def says(name: str, words: str) -> re.Match[str] | None:
    """Return where words say something of a step on the list."""
    plain = [plain_letters(each) for each in dict.fromkeys((words, standard(words)))]
    codes = dict.fromkeys((spoken_language(words) or language(), language()))
    patterns = list_patterns()[name]
    found = (patterns[code].search(each) for code in codes for each in plain)
    return next((match for match in found if match), None)


def time_in(words: str) -> time | None:
    """Return the time of day that words name; without a word for it, hours before eight are after noon."""
    found = says("hour", words)
    if found is None:
        return None
    said, minute = found["hour"], int(found["minute"] or 0)
    hour = int(said) if said.isdigit() else _NUMBERS[said]
    if found["half"] and not minute:
        minute = 30
        hour -= found["half"].startswith("halb")
    is_late = bool(says("evening", words)) or (hour < _DAY_BEGINS and not says("morning", words))
    if hour < _NOON and is_late and not (said.isdigit() and said.startswith("0")):
        hour += _NOON
    return time(hour, minute) if 0 <= hour < _HOURS else None
