"""Whether a value is in a sentence: numbers, amounts and dates by meaning, words as they are. Pure.

What is ambiguous (03/04/2027 for one of two days, where `order` doesn't decide; 1.234, where `mark` doesn't)
stands there only as it is written; an amount between two currencies doesn't.
"""

import re
import unicodedata
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from coaching.library.amounts import (
    DOLLARS,
    FACTORS,
    GLUED,
    SIGNS,
    UNITS,
    DecimalMark,
    is_spelled_unit,
    readings,
    unit_of,
)
from coaching.library.calendar_words import folded
from coaching.library.dates import DateOrder, written_dates

MAX_VALUE = 2_000
"""The characters of a value or a sentence that are compared."""
_CODE = "|".join(sorted(each for each in UNITS if len(each) == 3))
_SIGN_FIRST = re.compile(rf"(?<!\w)-((?:{DOLLARS}|[{SIGNS}]|{_CODE}) ?)(?=[0-9])")
_CODE_FIRST = re.compile(rf"(?<!\w)({_CODE})(?=[0-9])")
_PART = re.compile(
    rf"(?P<number>(?P<minus>(?<!\w)-)?(?<![\w.,])"
    r"(?:\d{1,3}(?: \d{3})++(?:[.,]\d++)?+(?![\d.,]?\d)|\d++(?:[.,'/:-]\d++)*+))"
    rf"(?P<glued>[^\W\d_]*+)|(?P<unit>(?<!\w){DOLLARS}|[{SIGNS}])|(?P<word>\w++)"
)
_DIGITS = re.compile(r"\d++")
_DOT_ABOVE = "\u0307"
"""What remains of a Turkish capital İ in small letters."""
_AROUND = 6
_LEAD = 40
"""So many characters before a parenthesis say what it means."""
_DASHES = str.maketrans("‐‑‒–—−’‘", "------''")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A word, the code of a currency, or a number with its readings."""

    word: str
    readings: frozenset[Decimal] = frozenset()
    currencies: frozenset[str] = frozenset()

    @property
    def is_unit(self) -> bool:
        return self.word in UNITS and not self.readings


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    """A word, a date or an amount: its readings, and the currencies next to it."""

    word: str = ""
    days: frozenset[date] = frozenset()
    readings: frozenset[Decimal] = frozenset()
    currencies: frozenset[str] = frozenset()

    @property
    def meaning(self) -> Hashable:
        """What is equal for two units just if each is in the other."""
        if self.days:
            return (self.days, self.word if len(self.days) > 1 else "")
        if self.readings:
            return (self.readings, self.currencies, self.word if len(self.readings) > 1 else "")
        return self.word

    def is_in(self, other: "_Unit") -> bool:
        """Say whether a value's unit means what a sentence's does."""
        if self.days or other.days:
            return self.days == other.days and (len(self.days) == 1 or self.word == other.word)
        if self.readings and other.readings:
            is_alike = len(self.readings) == 1 or self.word == other.word
            return (
                is_alike
                and self.readings == other.readings
                and (not self.currencies or self.currencies == other.currencies)
            )
        return bool(self.word) and self.word == other.word


def stands_in(
    value: str, sentence: str, *, order: DateOrder | None = None, mark: DecimalMark | None = None
) -> bool:
    """Say whether a sentence has a value. `order` and `mark` are those of the sentence's text."""
    wanted, there = list(_units(value, order, mark)), list(_units(sentence, order, mark))
    last = len(there) - len(wanted)
    return bool(wanted) and any(
        all(one.is_in(there[start + n]) for n, one in enumerate(wanted)) for start in range(last + 1)
    )


def meaning_of(value: str, *, order: DateOrder | None, mark: DecimalMark | None) -> Hashable:
    """Return what is equal for two values just if each is in the other."""
    return tuple(unit.meaning for unit in _units(value, order, mark))


def unsupported(
    words: str, sentence: str, *, order: DateOrder | None = None, mark: DecimalMark | None = None
) -> bool:
    """Say whether words have a date or a number that a sentence doesn't have."""
    there, said = list(_units(sentence, order, mark)), list(_units(words, order, mark))
    amounts = [one for one in said if one.days or one.readings]
    digits = {number for one in said if one not in amounts for number in _numbers(one.word)}
    return not digits <= _numbers(sentence[:MAX_VALUE]) or not all(
        any(one.is_in(other) for other in there) for one in amounts
    )


def _numbers(text: str) -> set[int]:
    """Return the numbers in a text, also those inside words (30days) and those that aren't amounts (9/5)."""
    return {int(digits) for digits in _DIGITS.findall(unicodedata.normalize("NFKC", text))}


def _units(text: str, order: DateOrder | None, mark: DecimalMark | None) -> Iterator[_Unit]:
    plain = unicodedata.normalize("NFKC", text[:MAX_VALUE]).translate(_DASHES).casefold()
    plain = _SIGN_FIRST.sub(r"\1 -", " ".join(plain.replace(_DOT_ABOVE, "").split()))
    plain = _CODE_FIRST.sub(r"\1 ", plain)
    position = 0
    for start, end, days in written_dates(plain, order=order):
        yield from _parts(plain[position:start], mark)
        yield _Unit(word=plain[start:end], days=days)
        position = end
    yield from _parts(plain[position:], mark)


def _parts(text: str, mark: DecimalMark | None) -> Iterator[_Unit]:
    """Yield words and amounts. Words of currencies next to an amount belong to it."""
    parts = [_part(found, text, mark) for found in _PART.finditer(text)]
    owned: set[int] = set()
    units: list[tuple[int, _Unit]] = []
    for at, part in enumerate(parts):
        if part.readings:
            exponent = FACTORS.get(folded(parts[at + 1].word), 0) if at + 1 < len(parts) else 0
            last = at + 1 if exponent else at
            after = last + 2 if exponent and parts[last + 1 : last + 2] in _OF else last + 1
            beside = [each for each in (at - 1, after) if 0 <= each < len(parts) and parts[each].is_unit]
            owned.update(beside, range(at, after if after in beside else last + 1))
            amount = _Unit(
                word=part.word,
                readings=frozenset(each.scaleb(exponent) for each in part.readings),
                currencies=part.currencies | {parts[each].word for each in beside},
            )
            units.append((at, amount))
    units += [(at, _Unit(word=part.word)) for at, part in enumerate(parts) if at not in owned]
    yield from (unit for _, unit in sorted(units, key=lambda each: each[0]))


_OF = ([_Part(word="de")], [_Part(word="di")])
"""`5 millones de euros`."""


def _part(found: re.Match[str], text: str, mark: DecimalMark | None) -> _Part:
    number, glued = found["number"], found["glued"] or ""
    if number is None:
        return _Part(word=unit_of(found[0]))
    unit, exponent = unit_of(glued), GLUED.get(folded(glued), 0)
    if glued and not exponent and unit not in UNITS:
        return _Part(word=found[0])
    meant = {each.scaleb(exponent) for each in readings(number.removeprefix("-"), mark)}
    signs = [-1] if found["minus"] or _has_minus_behind(found, text) else _signs(found, text)
    return _Part(
        word=found[0],
        readings=frozenset(sign * each for each in meant for sign in signs),
        currencies=frozenset({unit} if unit in UNITS else ()),
    )


def _has_minus_behind(found: re.Match[str], text: str) -> bool:
    """Say whether a statement of account writes a number so: 1.234,56-."""
    behind = text[found.end() : found.end() + 2]
    return behind[:1] == "-" and not behind[1:].strip() and found[0][-3:-2] in (".", ",")


def _signs(found: re.Match[str], text: str) -> Sequence[int]:
    """Return the signs that a number may have: in parentheses it may be negative."""
    before, after = text[max(0, found.start() - _AROUND) : found.start()], text[found.end() :][:_AROUND]
    opened, closed = before.rfind("("), after.find(")")
    inside = [before[opened + 1 :].strip(), after[:closed].strip()]
    if opened < 0 or closed < 0 or any(each and unit_of(each) not in UNITS for each in inside):
        return [1]
    start = found.start() - len(before) + opened
    lead = text[max(0, start - _LEAD) : start].split()
    last = lead[-1].strip(".,") if lead else ""
    if unit_of(last) in UNITS and not is_spelled_unit(last):
        return [-1]
    if found["number"].isdigit() and not any(inside):
        return [1]
    if not last or last[-1] == ":" or last[-1].isdigit():
        return [-1]
    return [1] if any(inside) or is_spelled_unit(last) or folded(last) in FACTORS else [1, -1]
