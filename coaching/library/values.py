"""Whether a value stands in a sentence: numbers, amounts and dates by meaning, words as they are. Pure.

What is ambiguous (03/04/2027 for one of two days, where `order` doesn't decide; an amount between two
currencies) doesn't stand there.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from coaching.library.dates import DateOrder, written_dates

MAX_VALUE = 2_000
"""The characters of a value or a sentence that are compared."""
_CURRENCIES = {"€": "eur", "$": "usd", "£": "gbp", "¥": "jpy", "%": "%", "euro": "eur", "euros": "eur"}
_UNITS = frozenset({"eur", "usd", "gbp", "jpy", "chf", "%"})
_FACTORS = {
    "k": 3, "thousand": 3, "tausend": 3, "tsd": 3, "million": 6, "millions": 6, "millionen": 6, "mio": 6,
    "mn": 6, "bn": 9, "billion": 9, "billions": 9, "milliarden": 9, "mrd": 9,
}  # fmt: skip
_GLUED = _FACTORS | {"m": 6}
_SIGN_FIRST = re.compile(r"-([€$£¥])(?=\d)")
_PART = re.compile(
    r"(?P<number>(?:(?<!\w)-)?(?<![\w.,])"
    r"(?:\d{1,3}(?: \d{3})++(?:[.,]\d++)?+(?![\d.,]?\d)|\d++(?:[.,'/:-]\d++)*+))"
    r"(?P<glued>[^\W\d_]*+)|(?P<word>\w++)|(?P<unit>[€$£¥%])"
)
_DIGITS = re.compile(r"\d++")
_DASHES = str.maketrans("‐‑‒–—−’‘", "------''")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    """A word, a date or an amount: its readings, and the currencies beside it."""

    word: str = ""
    days: frozenset[date] = frozenset()
    readings: frozenset[Decimal] = frozenset()
    currencies: frozenset[str] = frozenset()

    def is_in(self, other: "_Unit") -> bool:
        """Say whether a value's unit means what a sentence's does."""
        if self.days or other.days:
            return self.days == other.days and (len(self.days) == 1 or self.word == other.word)
        if self.readings and other.readings:
            return not self.readings.isdisjoint(other.readings) and (
                not self.currencies or self.currencies == other.currencies
            )
        return bool(self.word) and self.word == other.word


def stands_in(value: str, sentence: str, *, order: DateOrder | None = None) -> bool:
    """Say whether a sentence has a value."""
    wanted, there = list(_units(value, order)), list(_units(sentence, order))
    last = len(there) - len(wanted)
    return bool(wanted) and any(
        all(one.is_in(there[start + n]) for n, one in enumerate(wanted)) for start in range(last + 1)
    )


def unsupported(words: str, sentence: str, *, order: DateOrder | None = None) -> bool:
    """Say whether words have a date or a number that a sentence doesn't have."""
    there, said = list(_units(sentence, order)), list(_units(words, order))
    amounts = [one for one in said if one.days or one.readings]
    digits = {number for one in said if one not in amounts for number in _numbers(one.word)}
    return not digits <= _numbers(sentence[:MAX_VALUE]) or not all(
        any(one.is_in(other) for other in there) for one in amounts
    )


def _numbers(text: str) -> set[int]:
    """Return the numbers in a text, also those inside words (30days) and those that aren't amounts (9/5)."""
    return {int(digits) for digits in _DIGITS.findall(unicodedata.normalize("NFKC", text))}


def is_unit(word: str) -> bool:
    """Say whether a word is a currency's."""
    return _CURRENCIES.get(word.casefold(), word.casefold()) in _UNITS


def _units(text: str, order: DateOrder | None) -> Iterator[_Unit]:
    plain = unicodedata.normalize("NFKC", text[:MAX_VALUE]).translate(_DASHES).casefold()
    plain = _SIGN_FIRST.sub(r"\1-", " ".join(plain.split()))
    position = 0
    for start, end, days in written_dates(plain, order=order):
        if start >= position:
            yield from _parts(plain[position:start])
            yield _Unit(word=plain[start:end], days=days)
            position = end
    yield from _parts(plain[position:])


def _parts(text: str) -> Iterator[_Unit]:
    parts = [_part(found) for found in _PART.finditer(text)]
    number = 0
    while number < len(parts):
        word, readings = parts[number]
        around = parts[max(0, number - 1) : number] + parts[number + 1 : number + 3]
        if readings:
            exponent = 0
            following = [each for each, _ in parts[number + 1 : number + 2]]
            if following and following[0] in _FACTORS:
                exponent = _FACTORS[following[0]]
                number += 1
            else:
                around = around[: len(around) - (len(parts) > number + 2)]
            currencies = frozenset(each for each, numbers in around if each in _UNITS and not numbers)
            yield _Unit(
                word="" if exponent else word,
                readings=frozenset(each.scaleb(exponent) for each in readings),
                currencies=currencies,
            )
        elif word not in _UNITS or len(parts) == 1:
            yield _Unit(word=word)
        number += 1


def _part(found: re.Match[str]) -> tuple[str, frozenset[Decimal]]:
    if found["number"] is None:
        return _CURRENCIES.get(found[0], found[0]), frozenset()
    glued = found["glued"]
    if glued and glued not in _GLUED:
        code = _CURRENCIES.get(glued, glued)
        if code not in _UNITS:
            return found[0], frozenset()
    exponent = _GLUED.get(glued, 0)
    return found[0], frozenset(each.scaleb(exponent) for each in _readings(found["number"]))


def _readings(number: str) -> Iterator[Decimal]:
    """Yield what a written number may mean: 1.234 is one and a bit, or a thousand and more."""
    plain = number.replace(" ", "").replace("'", "")
    if not re.fullmatch(r"-?[0-9]++(?:[.,][0-9]++)*+", plain):
        return
    marks = [each for each in plain if each in ".,"]
    if not marks:
        yield Decimal(plain)
        return
    head, _, tail = plain.rpartition(marks[-1])
    if marks.count(marks[-1]) == 1:
        yield Decimal(f"{re.sub('[.,]', '', head)}.{tail}")
    if len(set(marks)) == 1 and re.fullmatch(r"-?[0-9]{1,3}(?:[.,][0-9]{3})+", plain):
        yield Decimal(re.sub("[.,]", "", plain))
