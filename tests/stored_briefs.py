"""Briefs as a worker would have written them: without any, windows grow with each answer."""

from django.db.models import F, Max

from sessions_app.models import Session, SessionBrief

LINES = "\n".join(f"- The user spoke of something of a usual length [{number}]." for number in range(1, 9))


def cover_all() -> None:
    """Add a version to each brief that is behind, and note on its session how far it reaches."""
    sessions = Session.unscoped.filter(last_message_number__gt=0).annotate(
        version=Max("briefs__version"), covered=Max("briefs__covers_until")
    )
    SessionBrief.unscoped.bulk_create(
        SessionBrief(
            session=session,
            version=(session.version or 0) + 1,
            text=LINES,
            covers_from=(session.covered or 0) + 1,
            covers_until=session.last_message_number,
        )
        for session in sessions.only("last_message_number")
        if session.last_message_number > (session.covered or 0)
    )
    sessions.update(brief_covers=F("last_message_number"))
