"""The section of a session's brief in its opening."""

from collections.abc import Sequence

from coaching.context.brief_lines import brief_text, corrected_lines
from coaching.context.entries import wrap
from coaching.context.fences import fence
from coaching.context.statement import StatementPart
from sessions_app.models import BriefCorrection, SessionBrief


def brief_part(
    brief: SessionBrief | None, corrections: Sequence[BriefCorrection], *, first_in_window: int
) -> StatementPart | None:
    """Return the section of a brief, which says what it lacks of the messages before the window."""
    lines = corrected_lines(brief.text if brief else "", corrections)
    covers = brief.covers_until if brief else 0
    texts = [fence(brief_text(lines))] if lines else []
    if covers + 1 < first_in_window:
        missing = f"messages {covers + 1} to {first_in_window - 1}"
        texts.append(f"[The brief isn't up to date: {missing} are neither in it nor below.]")
    if not texts:
        return None
    attributes = {"covers_messages": f"1 to {covers}"} if covers else {}
    version = brief.version if brief else 0
    return StatementPart(key="brief", digest=str(version), text=wrap("brief", "\n".join(texts), attributes))
