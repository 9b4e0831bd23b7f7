"""The arcs of a session: the current one and the completed ones.

An open conversation enters an arc and leaves it (`Session.active_arc`); a session of an arc's kind is in
that arc from its first moment. `metadata["arcs"]` keeps an entry for each one that was entered or closed,
`metadata["completed_arcs"]` the names of the completed ones in order. For every write the caller has
locked the session's row. What an arc must produce isn't known here.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sessions_app.models import Session, SessionKind
from sessions_app.session_events import ArcEntered, ArcLeft, append


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentArc:
    """The arc that a session is in.

    `entered_by` is the call that entered it, empty where the session began in it. `told_by` is the call
    whose result said what the arc still lacks instead of completing it, empty until then.
    """

    arc: SessionKind
    started_at: datetime
    entered_by: str
    told_by: str


def current_arc(session: Session) -> CurrentArc | None:
    """Return the arc that the session is in, or None."""
    arc = session.effective_kind
    if arc == SessionKind.OPEN_CONVERSATION:
        return None
    entry = _open_entry(session) or {}
    started_at = entry.get("started_at")
    return CurrentArc(
        arc=SessionKind(arc),
        started_at=datetime.fromisoformat(started_at) if started_at else session.started_at,
        entered_by=entry.get("entered_by", ""),
        told_by=entry.get("told_by", ""),
    )


def enter_arc(session: Session, *, arc: SessionKind, entered_by: str, now: datetime) -> None:
    """Put an open conversation into an arc."""
    session.active_arc = arc
    entry = {
        "arc": str(arc),
        "started_at": now.isoformat(),
        "first_number": session.last_message_number,
        "entered_by": entered_by,
    }
    session.metadata = {**session.metadata, "arcs": [*_entries(session), entry]}
    append(session, ArcEntered(arc=str(arc)), changed=["active_arc", "metadata"])


def note_told(session: Session, *, told_by: str) -> None:
    """Record that the result of the call `told_by` said what the current arc still lacks."""
    _change_entry(session, told_by=told_by)
    session.save(update_fields=["metadata"])


def complete_arc(session: Session, *, still_missing: list[str], summary: str, now: datetime) -> None:
    """Complete the arc that the session is in; an open conversation goes on without it."""
    arc = session.effective_kind
    _change_entry(
        session,
        completed_at=now.isoformat(),
        last_number=session.last_message_number,
        still_missing=still_missing,
        summary=summary,
    )
    completed = [*session.metadata.get("completed_arcs", ()), str(arc)]
    session.metadata = {**session.metadata, "completed_arcs": completed}
    _leave(session)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedArc:
    """An arc that a session has completed or left; `number` is its place among the session's arcs.

    Its first turn answers the message `first_message`, its last one the message `last_message`.
    """

    number: int
    arc: SessionKind
    first_message: int
    last_message: int


def unsummarised_arc(session: Session, number: int = -1) -> EndedArc | None:
    """Return an arc that has ended and has no summary, the last one unless its number is given."""
    entries = _entries(session)
    place = number if number >= 0 else len(entries) - 1
    if not 0 <= place < len(entries):
        return None
    entry = entries[place]
    if entry.get("summary") or not {"completed_at", "left_at"} & entry.keys():
        return None
    return EndedArc(
        number=place,
        arc=SessionKind(entry["arc"]),
        first_message=entry.get("first_number", 0),
        last_message=entry.get("last_number", session.last_message_number),
    )


def store_arc_summary(session: Session, arc: EndedArc, summary: str) -> None:
    entries = _entries(session)
    entries[arc.number] = {**entries[arc.number], "summary": summary}
    session.metadata = {**session.metadata, "arcs": entries}
    session.save(update_fields=["metadata"])


def leave_arc(session: Session, *, now: datetime) -> None:
    """Leave the arc of an open conversation that was idle for too long."""
    _change_entry(session, left_at=now.isoformat(), last_number=session.last_message_number)
    _leave(session)


def _leave(session: Session) -> None:
    """Store an arc's end; a session of an arc's kind stays in it."""
    facts = [ArcLeft(arc=session.active_arc)] if session.active_arc else []
    session.active_arc = ""
    append(session, *facts, changed=["active_arc", "metadata"])


def _entries(session: Session) -> list[dict[str, Any]]:
    return list(session.metadata.get("arcs", ()))


def _open_entry(session: Session) -> dict[str, Any] | None:
    entries = _entries(session)
    if not entries or "completed_at" in entries[-1] or entries[-1]["arc"] != session.effective_kind:
        return None
    return entries[-1]


def _change_entry(session: Session, **values: object) -> None:
    """Change the current arc's entry; create it for a session that began in its arc."""
    entries = _entries(session)
    entry = _open_entry(session)
    if entry is None:
        entry = {"arc": session.effective_kind, "started_at": session.started_at.isoformat()}
        entries.append(entry)
    entries[-1] = {**entry, **values}
    session.metadata = {**session.metadata, "arcs": entries}
