"""A safety plan's text as it is shown: lines, with the phone numbers in them to tap. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from coaching.safety.plan import PlanSection, SafetyPlan

MAX_LINES_ON_CARD = 12

_LIST_MARK = re.compile(r"\A(?:[-*•–][ \t]+|[0-9]{1,2}[.)][ \t]+)")
_NUMBER = re.compile(r"(?<![\w+])\+?\(?[0-9](?:(?: ?\(0\) ?|\) ?|[ /.-])?[0-9]){2,18}(?![\w])")
_DATE = re.compile(r"[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}|[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SHORT = re.compile(r"[0-9]{3}|[0-9]{3} ?[0-9]{3}|[0-9]{2} [0-9]{2} [0-9]{2}")
_TRUNK_ZERO = re.compile(r"\(0\)")
_NOT_DIALLED = re.compile(r"[^0-9+]")
_WITH_NUMBERS = frozenset({PlanSection.WHOM_TO_CALL, PlanSection.PROFESSIONALS})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPart:
    """A piece of a line; `dialled` is set where it is a phone number."""

    text: str
    dialled: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLine:
    """A line of a section, without the mark of its list."""

    parts: Sequence[PlanPart]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanExcerpt:
    """What a card shows of a plan: what helps, and whom to call."""

    what_helps: Sequence[PlanLine]
    whom_to_call: Sequence[PlanLine]


def lines_of(section: PlanSection, text: str) -> Sequence[PlanLine]:
    lines = (_LIST_MARK.sub("", line.strip(), count=1).replace("**", "").strip() for line in text.split("\n"))
    return [PlanLine(parts=_parts_of(line, is_of_numbers=section in _WITH_NUMBERS)) for line in lines if line]


def excerpt_of(plan: SafetyPlan) -> PlanExcerpt | None:
    """Return what a card shows of a plan; None where it has nothing of that."""
    helps, calls = (
        lines_of(section, plan.text(section))[:MAX_LINES_ON_CARD]
        for section in (PlanSection.WHAT_HELPS, PlanSection.WHOM_TO_CALL)
    )
    return PlanExcerpt(what_helps=helps, whom_to_call=calls) if helps or calls else None


def _parts_of(line: str, *, is_of_numbers: bool) -> Sequence[PlanPart]:
    parts, end = [], 0
    for found in _NUMBER.finditer(line):
        dialled = _dialled(found[0], is_of_numbers=is_of_numbers)
        if not dialled:
            continue
        if found.start() > end:
            parts.append(PlanPart(text=line[end : found.start()]))
        parts.append(PlanPart(text=found[0], dialled=dialled))
        end = found.end()
    if line[end:]:
        parts.append(PlanPart(text=line[end:]))
    return parts


def _dialled(number: str, *, is_of_numbers: bool) -> str:
    """Return what is dialled; empty where the digits are rather a date, an amount or a post code.

    Short numbers, like 988 or 116 123, are taken where numbers are what the section is for.
    """
    if _DATE.fullmatch(number):
        return ""
    is_abroad = number.startswith("+")
    digits = _NOT_DIALLED.sub("", _TRUNK_ZERO.sub("", number) if is_abroad else number)
    count = len(digits.removeprefix("+"))
    is_long = count >= 7 or (count >= 5 and (is_abroad or digits.startswith("0")))
    is_short = is_of_numbers and _SHORT.fullmatch(number)
    return digits if is_long or is_short else ""
