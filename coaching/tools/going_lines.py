"""The lines that would go after a yes, as a call's details hold them while it waits: by where they stand."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sessions_app.turn_records import UNTIL_ANSWERED


@dataclass(frozen=True, slots=True, kw_only=True)
class GoingLines:
    """Lines of a page, by its path, or of the brief of a session, which has a kind and began on a day (ISO).

    A session that nobody named has no title.
    """

    lines: Sequence[str]
    page: str = ""
    session: str = ""
    kind: str = ""
    title: str = ""
    day: str = ""

    def as_values(self) -> dict[str, Any]:
        """Return what is there as JSON values."""
        return {name: value for name, value in asdict(self).items() if value}


def details_of(going: Sequence[GoingLines]) -> Mapping[str, Any]:
    """Return lines as a call's details, which aren't kept once the call has ended."""
    return {UNTIL_ANSWERED: [each.as_values() for each in going]}


def lines_going(details: Mapping[str, Any]) -> Sequence[GoingLines]:
    """Return the lines in a call's details; none where it has ended, or never had any.

    A call that has waited since an older version has them as one text, without their places.
    """
    held = details.get(UNTIL_ANSWERED, ())
    if isinstance(held, str):
        return [GoingLines(lines=held.splitlines())]
    return [GoingLines(**values) for values in held]
