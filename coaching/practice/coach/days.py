"""Which day it is for the person, which days words name, and how a day is named."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.hearing import HEARD, is_about
from coaching.practice.coach.texts import LANGUAGES
from coaching.safety.readable import without_accents

_TODAY = re.compile(r"^Time: \w+ (\d{4}-\d\d-\d\d)", re.MULTILINE)
_EITHER = {"á": "[áa]", "é": "[ée]", "ñ": "[ñn]", "ü": "(?:ü|ue?)"}
_WEEK = 7
_NEAR = 2
"""So many days are called by a word that is another one's tomorrow."""


def today_in(conversation: Conversation) -> date | None:
    """Return the person's day, as the request says; None if it says none."""
    told = [found for text in conversation.context_texts for found in _TODAY.findall(text)]
    return date.fromisoformat(told[-1]) if told else None


def days_in(text: str, today: date | None) -> Iterator[tuple[str, date]]:
    """Yield the words for a day, as they stand in the text, with the day that they mean."""
    since = today or date.min
    for words, value in _day_words_in(text):
        ahead = int(value.lstrip("w"))
        if value.startswith("w"):
            ahead = (ahead - since.weekday() - 1) % 7 + 1
        yield words, since + timedelta(days=ahead)


@texts.once_per_text
def _day_words_in(text: str) -> Sequence[tuple[str, str]]:
    """Return the words for a day in a text, without a morning or a habit, and what each means."""
    return [
        (found[0], values[_plain(found[1])])
        for pattern, values in _days()
        for found in pattern.finditer(text)
        if found[1]
    ]


@cache
def _days() -> Sequence[tuple[re.Pattern[str], Mapping[str, str]]]:
    """Return for each language the words for a day, the longest first, and what they mean."""
    found = []
    for code in LANGUAGES:
        days = HEARD[code]["days"]
        spelt = {**days["words"], **days["spelt"]}
        words = "|".join(_with_or_without_accents(each) for each in sorted(spelt, key=len, reverse=True))
        values = {_plain(word): value for word, value in spelt.items()}
        named = rf"{days['no_day']}|{days['lead']}\b({words})\b{days['trail']}"
        found.append((re.compile(named, re.IGNORECASE), values))
    return found


def _plain(word: str) -> str:
    return without_accents(" ".join(word.lower().split())).replace("ue", "u")


def _with_or_without_accents(word: str) -> str:
    for letter, either in _EITHER.items():
        word = word.replace(letter, either)
    return word


def day_in_words(conversation: Conversation, day: str) -> str:
    """Return the name of a day of the coming week, with its date where that is today or tomorrow.

    Any other day is its date.
    """
    today = today_in(conversation)
    if not day or today is None or not 0 <= (date.fromisoformat(day) - today).days <= _WEEK:
        return day
    meant = date.fromisoformat(day)
    ahead = (meant - today).days
    if ahead < _NEAR:
        return f"{_word_for(str(ahead))}, {_date_in_words(meant)}"
    return str(HEARD[texts.language()]["days"]["weekday"]).format(day=_word_for(f"w{meant.weekday()}"))


def say_today(conversation: Conversation, *, is_asked: bool = False) -> str:
    """Return what day it is, if the newest words ask for that and the request says it; else nothing."""
    today = today_in(conversation)
    asked = conversation.exchanges[-1] if conversation.exchanges else None
    if today is None or asked is None or asked.value or not (is_asked or is_about("asks_day", asked.answer)):
        return ""
    tomorrow = today + timedelta(days=1)
    return texts.said("today_is", today=_date_in_words(today), tomorrow=_date_in_words(tomorrow))


def _word_for(value: str) -> str:
    words = HEARD[texts.language()]["days"]["words"]
    return str(next(word for word, known in words.items() if known == value))


def named_day_in_words(text: str) -> str:
    """Return a day that a tool names (`Sunday 2026-11-22`) in the language that is spoken."""
    return _date_in_words(date.fromisoformat(text.rpartition(" ")[2]))


def _date_in_words(day: date) -> str:
    months = texts.said("months").split()
    weekday = _word_for(f"w{day.weekday()}")
    return texts.said("date", weekday=weekday, number=str(day.day), month=months[day.month - 1])
