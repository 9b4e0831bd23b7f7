"""Stores the summary of a session, which its page, its export and the openings of later sessions show.

One that the summary job wrote says which messages it was made from (`summary_covers`), and is taken back as
soon as one of them is withdrawn, turns out to be danger, or the person corrects what Sage remembers. One that
Sage gave when it completed the session stays.
"""

from sessions_app.models import Session

FIELDS = ("summary", "summary_covers")


def has_own_summary(session: Session) -> bool:
    """Return whether the session has a summary that Sage gave."""
    return bool(session.summary) and not session.summary_covers


def give_summary(session: Session, summary: str) -> None:
    """Store the summary that Sage gives. The caller has locked the session's row."""
    session.summary, session.summary_covers = summary, 0
    session.save(update_fields=FIELDS)


def store_summary(session: Session, summary: str, *, covers: int) -> bool:
    """Store a summary of the messages until `covers`; False where there is a newer one, or Sage's own.

    The caller has locked the session's row.
    """
    if has_own_summary(session) or session.summary_covers >= covers:
        return False
    session.summary, session.summary_covers = summary, covers
    session.save(update_fields=FIELDS)
    return True


def withdraw_summary(session: Session, *, since: int = 0) -> None:
    """Take back a summary that was made from a message `since`. The caller has locked the session's row."""
    if session.summary_covers and session.summary_covers >= since:
        session.summary, session.summary_covers = "", 0
        session.save(update_fields=FIELDS)
