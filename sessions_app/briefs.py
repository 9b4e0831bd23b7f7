"""Stores what Sage remembers of a session: versions of its brief.

A version is stored only if nothing has changed since its job read the session: it started from the newest
version, and each message that it covers is still there, with the same words. Texts are written by
`coaching.jobs.briefs`; what the user says about them is stored by `brief_corrections`.
"""

import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from sessions_app.figures import sessions_with_brief_behind
from sessions_app.fingerprints import fingerprint_of, stored_fingerprint
from sessions_app.models import BriefCorrection, Message, Session, SessionBrief, ToolCallRecord
from sessions_app.queries import Columns, parameter, prepared, run_queries
from sessions_app.summaries import withdraw_summary
from sessions_app.text import mended

BRIEFS_AT_ONCE = 50
MESSAGES_AT_ONCE = 2_000
"""More than fit into a request, so that a long history isn't read whole."""

_BRIEF, _CORRECTION = Columns(SessionBrief), Columns(BriefCorrection)


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefWork:
    """The messages that a new version adds to `base`, in order, and what the user said about the brief.

    `newest` is the key of the newest version at the time of reading, and `base` that version or, for a brief
    that is written anew, None. `attempts` have failed since the last success.
    """

    user_id: int
    session_id: uuid.UUID
    base: SessionBrief | None
    newest: int | None
    messages: Sequence[Message]
    corrections: Sequence[BriefCorrection]
    attempts: int

    @property
    def covers_from(self) -> int:
        return self.base.covers_until + 1 if self.base else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBrief:
    """A version that was written from these messages, the last of which it covers.

    `left_open` are those of its lines that are still open, as long as its text has them.
    """

    messages: Sequence[Message]
    input_version: int
    left_open: Sequence[str]
    model: str
    usage_id: int | None
    cost_micro_usd: int | None
    """Of all its requests; None where the price of one is unknown."""
    finish: Callable[[Sequence[BriefCorrection]], str]
    """Returns the text to store, by the corrections at that moment."""


def newest_brief(session: Session) -> SessionBrief | None:
    """Return the newest version that covers no withdrawn message."""
    return usable_briefs(session).order_by("-version").first()


@prepared
def _newest() -> "QuerySet[Any, Any]":
    briefs = SessionBrief.unscoped.filter(session=parameter("session"), is_withdrawn=False)
    return briefs.order_by("-version").values_list(*_BRIEF.lookups)[:1]


@prepared
def _corrections() -> "QuerySet[Any, Any]":
    corrections = BriefCorrection.unscoped.filter(session=parameter("session")).order_by("pk")
    return corrections.values_list(*_CORRECTION.lookups)


def read_brief(session: Session) -> tuple[SessionBrief | None, Sequence[BriefCorrection]]:
    """Return the newest version and what the user said about the brief, in one round trip."""
    briefs, corrections = run_queries([_newest(session=session.id), _corrections(session=session.id)])
    brief = _BRIEF.object_of(briefs[0]) if briefs else None
    return brief, [_CORRECTION.object_of(row) for row in corrections]


def newest_briefs_with(
    *, user_id: int, words: Sequence[str], sessions: Collection[uuid.UUID] | None = None
) -> Iterator[tuple[SessionBrief, Sequence[BriefCorrection]]]:
    """Yield the newest versions whose text has one of the words, of some sessions or of all.

    Each comes with its session and what the user said about it. They are read as they are wanted,
    `BRIEFS_AT_ONCE` together.
    """
    usable = SessionBrief.of(user_id).filter(is_withdrawn=False, session__deleted_at=None)
    newest = usable.filter(session=OuterRef("session")).order_by("-version").values("pk")[:1]
    has_words = Q()
    for word in words:
        has_words |= Q(text__icontains=word)
    found = usable.filter(has_words, pk=Subquery(newest)).order_by("pk")
    if sessions is not None:
        found = found.filter(session__in=sessions)
    found = found.select_related("session").defer("session__opening")
    after = 0
    while briefs := list(found.filter(pk__gt=after)[:BRIEFS_AT_ONCE]):
        said: dict[uuid.UUID, list[BriefCorrection]] = {brief.session_id: [] for brief in briefs}
        for correction in BriefCorrection.of(user_id).filter(session__in=said).order_by("pk"):
            said[correction.session_id].append(correction)
        yield from ((brief, said[brief.session_id]) for brief in briefs)
        after = briefs[-1].pk


def corrections_of(session: Session) -> Sequence[BriefCorrection]:
    """Return what the user said about the session's brief, oldest first."""
    return list(session.brief_corrections.order_by("pk"))


def read_brief_work(session_id: uuid.UUID, *, is_anew: bool = False, after: int = 0) -> BriefWork | None:
    """Return the finished messages that no brief covers, None where there are none.

    With `is_anew` those after the number `after`, covered or not, for a brief that starts from no other.
    """
    session = Session.unscoped.filter(id=session_id).defer("opening").first()
    if session is None:
        return None
    newest = newest_brief(session)
    base = None if is_anew else newest
    start = base.covers_until if base else after
    messages = list(_finished(session).filter(number__gt=start).order_by("number")[:MESSAGES_AT_ONCE])
    if not messages:
        return None
    return BriefWork(
        user_id=session.user_id,
        session_id=session.id,
        base=base,
        newest=newest.pk if newest else None,
        messages=messages,
        corrections=corrections_of(session),
        attempts=session.brief_attempts,
    )


def lacks_answers(session_id: uuid.UUID, *, since: int) -> bool:
    """Return whether the newest brief covers an answer to a question and was written without it.

    `since` is the first `input_version` with answers.
    """
    session = Session.unscoped.filter(id=session_id).defer("opening").first()
    newest = newest_brief(session) if session else None
    if session is None or newest is None or newest.input_version >= since:
        return False
    covered = session.messages.filter(number__lte=newest.covers_until, turn__is_withdrawn=False)
    calls = ToolCallRecord.within(session).filter(value__isnull=False)
    return calls.filter(turn__in=covered.values("turn")).exists()


def count_attempt(session_id: uuid.UUID) -> None:
    """Count an attempt before it starts, so that one that kills its process is counted too."""
    Session.unscoped.filter(id=session_id).update(brief_attempts=F("brief_attempts") + 1)


@transaction.atomic
def store_brief(work: BriefWork, written: WrittenBrief) -> SessionBrief | None:
    """Store the next version; None, and nothing changed, where the session has changed since it was read."""
    session = Session.of(work.user_id).select_for_update(no_key=True).filter(id=work.session_id).first()
    if session is None:
        return None
    newest = newest_brief(session)
    first, last = work.covers_from, written.messages[-1].number
    covered = stored_fingerprint(_finished(session).filter(number__range=(first, last)))
    is_stale = (newest.pk if newest else None) != work.newest or (newest and last < newest.covers_until)
    if is_stale or covered != fingerprint_of(written.messages):
        return None
    brief = SessionBrief.within(session).create(
        session=session,
        version=next_version(session),
        text=mended(written.finish(corrections_of(session))),
        left_open=mended("\n".join(written.left_open)),
        covers_from=first,
        covers_until=last,
        input_version=written.input_version,
        model=written.model[:100],
        usage_id=written.usage_id,
        cost_micro_usd=written.cost_micro_usd,
        lag_seconds=_seconds_since(written.messages, newest, session.imported_until),
    )
    session.brief_covers, session.brief_attempts = last, 0
    session.save(update_fields=["brief_covers", "brief_attempts"])
    return brief


def withdraw_briefs(session: Session, *, since: int) -> None:
    """Withdraw the versions that cover the message `since`. The caller has locked the session's row."""
    if session.brief_covers < since:
        return
    usable_briefs(session).filter(covers_until__gte=since).update(is_withdrawn=True)
    newest = newest_brief(session)
    session.brief_covers = newest.covers_until if newest else 0
    mark_changed(session, "brief_covers")


def sessions_behind(*, now: datetime) -> Sequence[Session]:
    """Return the sessions whose brief is to be written, the longest idle first."""
    behind = sessions_with_brief_behind(now=now)
    return list(behind.only("id", "brief_attempts").order_by("last_active_at"))


def mark_changed(session: Session, *fields: str) -> None:
    """Store that what Sage remembers has changed, with other changed fields of a session that is locked."""
    session.brief_revision += 1
    session.save(update_fields=["brief_revision", *fields])
    withdraw_summary(session)  # it may say what was corrected


def next_version(session: Session) -> int:
    """Return the number of the version that comes next, also after withdrawn ones."""
    return 1 + (session.briefs.order_by("-version").values_list("version", flat=True).first() or 0)


def usable_briefs(session: Session) -> "QuerySet[SessionBrief]":
    """Return the versions that cover no withdrawn message."""
    return session.briefs.filter(is_withdrawn=False)


def _finished(session: Session) -> "QuerySet[Message]":
    """Return the messages of turns that have ended."""
    return session.messages.filter(turn__is_withdrawn=False, turn__ended_at__isnull=False)


def _seconds_since(messages: Sequence[Message], newest: SessionBrief | None, imported_until: int) -> int:
    known = max(newest.covers_until if newest else 0, imported_until)
    added = [message for message in messages if message.number > known]
    return max(0, round((timezone.now() - added[0].created_at).total_seconds())) if added else 0
