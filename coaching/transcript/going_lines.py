"""The lines that a yes would strike, as a card shows them: below the page or conversation that has them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from coaching.tools.going_lines import GoingLines, lines_going
from coaching.transcript.names import MadeFile, made_file, without_directions
from sessions_app.models import SessionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGoing:
    """Lines of a page, or of what Sage remembers of a session, which has a title and began on a day."""

    lines: Sequence[str]
    page: MadeFile | None = None
    session_id: str = ""
    title: str = ""
    day: date | None = None


def going_shown(details: Mapping[str, Any]) -> Sequence[ShownGoing]:
    return [_shown(each) for each in lines_going(details)]


def _shown(going: GoingLines) -> ShownGoing:
    if going.page:
        return ShownGoing(lines=going.lines, page=made_file(going.page))
    if not going.session:
        return ShownGoing(lines=going.lines)
    kind = str(SessionKind(going.kind).label)
    return ShownGoing(
        lines=going.lines,
        session_id=going.session,
        title=without_directions(going.title) or kind,
        day=date.fromisoformat(going.day),
    )
