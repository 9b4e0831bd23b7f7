"""What a question says beyond its words: who is asked about, which days, and whether it asks for a time.

Each is a preference of the ranking, never a filter: a wrong guess costs places, not hits.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from coaching.clock.days import day_bounds, local_day

MAX_CHARACTERS = 2_000
"""Of a longer question only the opening counts: beyond that, more words make no better ranking."""

_ADDRESSED = re.compile(
    r"^\W*(?:hey |hi |please )?(?:sage\b\W*)?"
    r"(?:(?:can|could|would|will|do|did) you (?:please |still )?"
    r"(?:remind|tell|remember|recall|show|find|look|search|know)"
    r"(?: me| up| for)*|remind me|tell me|show me)\b",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"\b(?:(?P<user>I|I’m|I'm|we)|(?P<sage>you|Sage))\b")
_OWNER = re.compile(r"\b(?:(?P<user>my|me|mine|our|us)|(?P<sage>your|yours))\b", re.IGNORECASE)
_ASKS_WHEN = re.compile(
    r"^\W*when\b|\bhow (?:long|recently)\b|\b(?:what|which) (?:day|date|week|month|year|time)\b",
    re.IGNORECASE,
)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6,
}  # fmt: skip
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30.44, "year": 365.25}
# These are matched against a case-folded text: `re.IGNORECASE` would match letters such as "ſ" too, whose
# words are in none of the tables above.
_NEAR_DAYS = {"day": (-2, -1), "yesterday": (-1, 0), "today": (0, 1), "this": (0, 1)}
_NEAR = re.compile(r"\b(?:day before yesterday|yesterday|today|this (?:morning|afternoon|evening))\b")
_AGO = re.compile(rf"\b(?:(\d{{1,3}}|{'|'.join(_NUMBERS)}) )(day|week|month|year)s? ago\b")
_LAST = re.compile(
    r"\b(last|this|past) (day|night|week|weekend|month|year"
    rf"|{'|'.join((*_SEASONS, *_WEEKDAYS, *_MONTHS))})\b",
)
_MONTH = re.compile(
    r"\b(?:(in|last|this|since|early|late|mid) )?(?:(\d{1,2})(?:st|nd|rd|th)?(?: of)? )?"
    rf"({'|'.join(_MONTHS)})"
    r"(?: (\d{1,2})(?:st|nd|rd|th)?)?\b(?:,? (\d{4}))?\b(?! last year| \w+ years? ago)",
)
_YEAR = re.compile(r"\b(?:in|during|of) (\d{4})\b")
_DATE = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")

_FRAMING = frozenset(
    {"say", "said", "says", "saying", "tell", "told", "telling", "talk", "talked", "talking", "speak",
     "spoke", "suggest", "suggested", "advise", "advised", "advice", "propose", "proposed", "recommend",
     "recommended", "mention", "mentioned", "discuss", "discussed", "remember", "remind", "recall",
     "happen", "happened"}
)  # fmt: skip

Between = tuple[datetime, datetime] | None
"""Aware moments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with what it prefers.

    `speaker`: 1 for what the user said, -1 for what Sage said, 0 for neither. `between`: aware moments.
    `names` are words, in lower case, that only say whom it is about, and `framing` those that say when, or
    that something was said: a passage that has them too is hardly better for it. `in_first_person` is the
    text to encode.
    """

    text: str
    speaker: int = 0
    names: tuple[str, ...] = ()
    asks_when: bool = False
    between: Between = None
    framing: frozenset[str] = frozenset()
    in_first_person: str = ""


def clean_question(text: str) -> str:
    """Return the part of a text that counts, without characters that a database can't compare."""
    return text[:MAX_CHARACTERS].replace("\x00", " ").encode("utf-8", "replace").decode()


def read_question(text: str, *, user_names: Collection[str], now: datetime) -> Question:
    """Read a question. `now` is aware, in the user's time zone; `user_names` are what the user is called."""
    text = clean_question(text)
    when, between = _time_asked_about(text, now)
    own = {name.lower() for name in user_names if len(name) > 1}
    words = {word.lower() for word in re.findall(r"\w+", text)}
    named = own & words
    is_of_sage = re.search(r"\bSage\b", text) is not None
    speaker = _speaker(text, is_user_named=bool(named))
    return Question(
        text=text,
        speaker=speaker,
        names=tuple(sorted(named | ({"sage"} if is_of_sage else set()))),
        asks_when=_ASKS_WHEN.search(text) is not None,
        between=between,
        framing=_FRAMING | set(re.findall(r"\w+", when)),
        in_first_person=_in_first_person(text, own, is_of_sage=speaker < 0),
    )


def _in_first_person(text: str, own: Collection[str], *, is_of_sage: bool) -> str:
    """Return the question as who is asked about would ask it, since that is how they speak of themselves."""
    text = _ADDRESSED.sub("", text)
    names = "|".join(map(re.escape, sorted(own, key=len, reverse=True)))
    if names:
        text = re.sub(rf"\b(?:(?:{names})\s+){{0,3}}(?:{names})['’]s\b", "my", text, flags=re.IGNORECASE)
        text = re.sub(rf"\b(?:(?:{names})\s+){{0,3}}(?:{names})\b", "I", text, flags=re.IGNORECASE)
    if is_of_sage:
        text = re.sub(r"\b(?:your|yours|Sage['’]s)\b", "my", text)
        text = re.sub(r"\b(?:you|Sage)\b", "I", text)
    return text.strip()


def _speaker(text: str, *, is_user_named: bool) -> int:
    asked = _ADDRESSED.sub("", text)
    found = _SPEAKER.search(asked)
    if is_user_named and (found is None or found["sage"] is None):
        return 1
    found = found or _OWNER.search(asked)
    if found is None:
        return 0
    return 1 if found["user"] else -1


def _time_asked_about(text: str, now: datetime) -> tuple[str, Between]:
    """Return the first time expression, and the days that it names, with a margin where it is vague."""
    zone = now.tzinfo or UTC
    today, _ = day_bounds(local_day(now, zone), zone)
    text = text.casefold()
    expressions = [(found, read) for pattern, read in _TIMES for found in pattern.finditer(text)]
    for found, read in sorted(expressions, key=lambda expression: expression[0].start()):
        if between := read(found, today):
            return found[0], between
    return "", None


def _near(found: re.Match[str], today: datetime) -> Between:
    first, last = _NEAR_DAYS[found[0].split()[0]]
    return today + timedelta(days=first), today + timedelta(days=last)


def _ago(found: re.Match[str], today: datetime) -> Between:
    count = int(found[1]) if found[1].isdigit() else _NUMBERS[found[1]]
    days = min(count * _UNIT_DAYS[found[2]], 36_500)
    about = today - timedelta(days=days)
    margin = timedelta(days=max(0.5, days * 0.25))
    return about - margin, about + margin + timedelta(days=1)


def _last(found: re.Match[str], today: datetime) -> Between:
    which, unit = found[1], found[2]
    day = timedelta(days=1)
    is_this = which == "this"
    if unit in {"day", "night"}:
        return today - day, today + day
    if unit in _WEEKDAYS:
        back = (today.weekday() - _WEEKDAYS.index(unit)) % 7
        start = today - (back or (0 if is_this else 7)) * day
        return start, start + day
    if unit in {"week", "weekend"}:
        start = today - (today.weekday() + (0 if is_this else 7)) * day
        return start, start + 7 * day
    if unit == "month":
        first = today.replace(day=1)
        return (first, today + day) if is_this else ((first - day).replace(day=1), first)
    if unit == "year":
        year = today.year - (0 if is_this else 1)
        return _safely(year, 1, 1, today, days=366)
    month, days = (_SEASONS[unit], 92) if unit in _SEASONS else (_MONTHS.index(unit) + 1, 31)
    return _safely(_latest_year(month, today), month, 1, today, days=days)


def _month(found: re.Match[str], today: datetime) -> Between:
    before, day_before, name, day_after, year = found.groups()
    if name == "may" and not (before or day_before or day_after or year):  # far more often the verb
        return None
    month = _MONTHS.index(name) + 1
    which = int(year) if year else _latest_year(month, today)
    if day := day_before or day_after:
        return _safely(which, month, int(day), today, days=1)
    return _safely(which, month, 1, today, days=31)


def _date(found: re.Match[str], today: datetime) -> Between:
    return _safely(int(found[1]), int(found[2]), int(found[3]), today, days=1)


def _year(found: re.Match[str], today: datetime) -> Between:
    return _safely(int(found[1]), 1, 1, today, days=365)


def _latest_year(month: int, today: datetime) -> int:
    return today.year if month <= today.month else today.year - 1


def _safely(year: int, month: int, of_month: int, today: datetime, *, days: int) -> Between:
    try:
        start = datetime.combine(date(year, month, of_month), today.timetz())
        return start, start + timedelta(days=days)
    except (ValueError, OverflowError):
        return None


_TIMES: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Between]]] = (
    (_NEAR, _near),
    (_AGO, _ago),
    (_LAST, _last),
    (_DATE, _date),
    (_MONTH, _month),
    (_YEAR, _year),
)
