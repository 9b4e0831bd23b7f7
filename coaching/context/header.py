"""The header of a request: who the person is, when they were here last, what time it is for them."""

import hashlib
from collections.abc import Sequence

from coaching.clock.days import time_bracket, with_weekday
from coaching.context.continuity import RecentSession
from coaching.context.entries import Entry, Section
from coaching.context.fences import fence_value
from coaching.context.library import is_about_other
from coaching.context.life import Life, Unknown, known
from coaching.skills.facts import checkin_due_on
from sessions_app.english import in_english
from sessions_app.models import SessionKind

LANGUAGE_NAMES = {"de": "German", "es": "Spanish"}
"""Of the languages that a profile may have, in which an opening greets; English needs no word."""


def header(life: Life) -> Section:
    """Show the name, the last session, the time, and when the weekly check-in is due."""
    local = life.now.astimezone(life.profile.zone)
    # A day ends at 04:00, so the date is that of the user's own day.
    past = " past midnight" if local.date() != life.today else ""
    bracket = f"{with_weekday(life.today)}, {time_bracket(local)}"
    clock = f"{bracket}, {local:%H:%M}{past} ({life.profile.timezone})"
    lines = [
        *standing_header(life),
        *_language_of(life),
        f"Time: {clock}",
        *_checkin_of(life),
    ]
    return Section(
        name="session_context", attributes={}, entries=(Entry(tag="", attributes={}, text="\n".join(lines)),)
    )


def header_digest(life: Life) -> str:
    """Hash the header's content without minutes: day, part of the day and time zone count."""
    local = life.now.astimezone(life.profile.zone)
    what = [
        life.profile.timezone,
        *standing_header(life),
        *_language_of(life),
        life.today.isoformat(),
        time_bracket(local),
        *_checkin_of(life),
    ]
    return hashlib.sha256("\n".join(what).encode("utf-8", "replace")).hexdigest()[:16]


def _language_of(life: Life) -> Sequence[str]:
    name = LANGUAGE_NAMES.get(life.profile.language)
    return [f"Language: {name}"] if name else []


def standing_header(life: Life) -> Sequence[str]:
    """Return the header's lines without the clock."""
    name = life.profile.name or life.profile.user.first_name
    return [f"Name: {fence_value(name, 100) or 'not known yet'}", _last_session_of(life)]


def client_of(life: Life) -> str:
    """Return the name of the client that the conversation is about; empty where it is the person's own."""
    about = None if isinstance(life.library, Unknown) else life.library
    return str(about.scope["client"]) if about and about.scope and is_about_other(about) else ""


def _last_session_of(life: Life) -> str:
    """Return the line about the last session, in a conversation about a client that about the client."""
    recent = known(life.recent_sessions)
    if client := client_of(life):
        of_client = next((session for session in recent if session.client), None)
        said = _session(of_client, life) if of_client else "none yet"
        return f"Last session about {fence_value(client, 60)}: {said}"
    said = "none yet"
    if last := life.last_session:
        said = _session(last, life)
    elif recent:
        imported = recent[0]
        ago = _days_ago((life.today - imported.day).days)
        said = f"none with Sage yet; with {imported.imported_from or 'another program'} {ago}"
    return f"Last session: {said}"


def _session(session: RecentSession, life: Life) -> str:
    kind = in_english(SessionKind(session.kind).label).lower()
    return f"{kind}, {_days_ago((life.today - session.day).days)}"


def _checkin_of(life: Life) -> Sequence[str]:
    """Return the line about the check-in; none in a first conversation, as long as nothing is due.

    Nor in a conversation about a client: the person's own week isn't asked about there.
    """
    if client_of(life):
        return []
    is_due = checkin_due_on(life.profile) <= life.today
    return [f"Check-in: {_checkin_status(life)}"] if is_due or life.last_session else []


def _checkin_status(life: Life) -> str:
    if life.holds_offers:
        return "rests until they ask for it"
    due_on = checkin_due_on(life.profile)
    days = (due_on - life.today).days
    if days < 0:
        return f"overdue since {with_weekday(due_on)}"
    if days == 0:
        return "due today"
    return f"next on {with_weekday(due_on)}, {'tomorrow' if days == 1 else f'in {days} days'}"


def _days_ago(days: int) -> str:
    if days <= 0:
        return "earlier today"
    return "yesterday" if days == 1 else f"{days} days ago"
