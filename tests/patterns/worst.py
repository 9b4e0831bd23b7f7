"""Generates, from a pattern, the texts that cost it most: what backtracks, and what nearly matches."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from random import Random
from typing import Any

# By name, because type checkers know these modules only if some installed package imports them.
codes: Any = import_module("re._constants")
parser: Any = import_module("re._parser")

UNBOUNDED = 50
"""A repetition of more counts as one without an end."""
FAILING = "\x00"
PLAIN = (
    "a",
    " ",
    "\n",
    '"',
    "'",
    "[",
    "<",
    "(",
    "`",
    "*",
    ".",
    "1",
    "a ",
    "a\n",
    " \n",
    "<a ",
    '"a',
    "[a](",
    "?",
)
MAX_UNITS = 26
_CATEGORIES = {
    codes.CATEGORY_WORD: "a1_",
    codes.CATEGORY_NOT_WORD: ' ,"',
    codes.CATEGORY_DIGIT: "12",
    codes.CATEGORY_NOT_DIGIT: "a ",
    codes.CATEGORY_SPACE: " \n",
    codes.CATEGORY_NOT_SPACE: "ab.",
}
_REPEATS = frozenset({codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT})
_HOLD_OTHERS = _REPEATS | {codes.SUBPATTERN, codes.BRANCH, codes.ASSERT, codes.ASSERT_NOT, codes.ATOMIC_GROUP}

Text = Callable[[int], str]


def worst_texts(pattern: str, flags: int) -> Sequence[Text]:
    """Return functions that make texts of a length."""
    parsed = list(parser.parse(pattern, flags))
    chosen = [*islice(_distinct(_units(parsed, Random(7))), MAX_UNITS)]
    chosen += [("", plain, "") for plain in PLAIN]
    return [_repeated(*unit) for unit in dict.fromkeys(chosen)] + [
        lambda n: "[" * (n // 2) + "]" * (n - n // 2)
    ]


def _units(parsed: Sequence[Any], random: Random) -> Iterator[tuple[str, str, str]]:
    """Yield what comes first, what is repeated, and what follows."""
    for before, inner in _loops(parsed, "", random):
        yield from ((before, inner, FAILING), (before, inner, ""), ("", before + inner, FAILING))
    for number in range(4):
        whole = _sample(parsed, random, number)
        yield from (("", whole, ""), ("", whole[:-1], ""), ("", f"{whole[:-1]}{FAILING}", ""))
    for end in range(1, len(parsed)):
        yield ("", _sample(parsed[:end], random, 1), FAILING)


def _distinct(units: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    known = set()
    for unit in units:
        if unit[1] and unit not in known:
            known.add(unit)
            yield unit


def _repeated(before: str, unit: str, after: str) -> Text:
    def text(characters: int) -> str:
        return f"{before}{unit * (characters // len(unit) + 1)}"[: characters - len(after)] + after

    return text


def _loops(parsed: Sequence[Any], before: str, random: Random) -> Iterator[tuple[str, str]]:
    """Yield, for each repetition without an end, what leads to it and what it repeats."""
    for position, (code, value) in enumerate(parsed):
        if code not in _HOLD_OTHERS:
            continue
        lead = before + _sample(parsed[:position], random, 1)
        if code in _REPEATS:
            if value[1] > UNBOUNDED:
                yield from ((lead, _sample(value[2], random, number)) for number in range(2))
            yield from _loops(list(value[2]), lead, random)
        for inner in _parts_of(code, value):
            yield from _loops(list(inner), lead, random)


def _parts_of(code: Any, value: Any) -> Sequence[Any]:
    if code is codes.SUBPATTERN:
        return [value[3]]
    if code is codes.BRANCH:
        return list(value[1])
    if code in {codes.ASSERT, codes.ASSERT_NOT}:
        return [value[1]]
    return [value] if code is codes.ATOMIC_GROUP else []


def _sample(parsed: Sequence[Any], random: Random, repetitions: int) -> str:
    """Return a text that this part of a pattern matches, but for what it looks at around it."""
    return "".join(_one(code, value, random, repetitions) for code, value in parsed)


def _one(code: Any, value: Any, random: Random, repetitions: int) -> str:
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.NOT_LITERAL:
        return "a" if chr(value) != "a" else "b"
    if code is codes.ANY:
        return "a"
    if code is codes.IN:
        return random.choice(_members(value))
    if code in _REPEATS:
        least, most, inner = value
        return "".join(_sample(inner, random, repetitions) for _ in range(min(max(least, repetitions), most)))
    if code is codes.BRANCH:
        return _sample(random.choice(value[1]), random, repetitions)
    if code is codes.ASSERT and value[0] > 0:
        return _sample(value[1], random, repetitions)
    inner = _parts_of(code, value)
    return _sample(inner[0], random, repetitions) if inner and code is not codes.ASSERT_NOT else ""


def _members(items: Sequence[Any]) -> str:
    found = ""
    for code, value in items:
        if code is codes.LITERAL:
            found += chr(value)
        elif code is codes.RANGE:
            found += chr(value[0]) + chr(value[1])
        elif code is codes.CATEGORY:
            found += _CATEGORIES.get(value, "a")
    if items[0][0] is codes.NEGATE:
        return "".join(letter for letter in "ab 1.,;\"'<[({" if letter not in found) or "z"
    return found or "a"


def feed(pattern: re.Pattern[Any], method: str, text: Any) -> None:
    """Let a pattern see a text."""
    if method in {"search", "match", "fullmatch"}:
        getattr(pattern, method)(text)
        return
    for _ in pattern.finditer(text):
        pass
