"""Stores sessions that another program has recorded, and removes them as long as nobody went on in them.

Their turns count in no limit and no figure of what was asked here. A session and all of its messages are
stored in one transaction, so a session that exists is whole.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform

from sessions_app.import_metadata import (
    ADDED_KEY,
    ANSWERED_KEY,
    BRANCH_KEY,
    CHOSEN_KEY,
    COMPLETED_KEY,
    IMPORT_KEY,
    ORIGIN_KEY,
)
from sessions_app.models import BriefCorrection, Message, Session, TitleSource, Turn
from sessions_app.recorded import RecordedSession, answer_rows, answered_among, rows_of, session_row

_ROWS_A_STATEMENT = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSession:
    """A session that exists under an imported id.

    `import_id` is that of the import that made it. Until the message `until` it is imported, `added` says by
    which later imports, `completed` how many messages these have completed, and `answered` how many other
    answers they brought. `is_used_here`: its user went on in it since, or in one that continues it, or chose
    another answer.
    """

    session_id: uuid.UUID
    import_id: int | None
    until: int
    added: Mapping[str, Sequence[int]]
    completed: Mapping[str, int]
    answered: Mapping[str, int]
    title: str
    origin: Mapping[str, str]
    is_deleted: bool
    is_used_here: bool


def known_sessions(*, user_id: int, imported_ids: Collection[str]) -> Mapping[str, KnownSession]:
    """Return the user's sessions that were imported under these ids, also those that were just deleted."""
    found = {}
    for sessions in (Session.of(user_id), Session.deleted_of(user_id)):
        named = _with_imported_id(sessions).filter(imported_id__in=imported_ids)
        named = named.annotate(is_continued=Exists(continuing(user_id).filter(continues=OuterRef("pk"))))
        for session in named.defer("opening", "summary"):
            found[session.imported_id] = KnownSession(
                session_id=session.pk,
                import_id=session.metadata.get(IMPORT_KEY),
                until=session.imported_until,
                added=session.metadata.get(ADDED_KEY) or {},
                completed=session.metadata.get(COMPLETED_KEY) or {},
                answered=session.metadata.get(ANSWERED_KEY) or {},
                title=session.title,
                origin=session.metadata.get(ORIGIN_KEY) or {},
                is_deleted=session.deleted_at is not None,
                is_used_here=session.is_continued
                or session.last_message_number > session.imported_until
                or CHOSEN_KEY in session.metadata,
            )
    return found


def branches_of(imported_id: str) -> Q:
    """Return the condition of other branches of an imported session."""
    branch = Q(**{f"metadata__{ORIGIN_KEY}__{BRANCH_KEY}": imported_id})
    return Q(metadata__has_key="imported_id") & branch


def continuing(user_id: int) -> QuerySet[Session]:
    """Return the user's sessions that continue another one, also those that can still be restored."""
    return Session.stored_of(user_id).exclude(continues=None)


@transaction.atomic
def store_recorded(*, user_id: int, import_id: int, recorded: Sequence[RecordedSession]) -> None:
    """Store sessions with their messages. Raises `IntegrityError` where one is stored already."""
    sessions: list[Session] = []
    turns: list[Turn] = []
    messages: list[Message] = []
    for each in recorded:
        session = session_row(user_id, import_id, each)
        sessions.append(session)
        said_here = []
        for turn, said in rows_of(session, each.messages):
            turns.append(turn)
            said_here += said
        others = answer_rows(session, each.answers, asked=answered_among(said_here))
        turns += [message.turn for message in others]
        messages += [*said_here, *others]
    Session.of(user_id).bulk_create(sessions)
    Turn.of(user_id).bulk_create(turns, batch_size=_ROWS_A_STATEMENT)
    Message.of(user_id).bulk_create(messages, batch_size=_ROWS_A_STATEMENT)


def sessions_of_import(*, user_id: int, import_id: int) -> QuerySet[Session]:
    return Session.of(user_id).filter(made_by_import(import_id))


def made_by_import(import_id: int) -> Q:
    """Return the condition of sessions that an import made."""
    return Q(metadata__has_key="imported_id") & Q(**{f"metadata__{IMPORT_KEY}": import_id})


@transaction.atomic
def remove_unchanged(*, user_id: int, session_ids: Collection[uuid.UUID]) -> Collection[uuid.UUID]:
    """Remove imported sessions in which their user has changed nothing since; return those that stay.

    One that was just deleted goes at once.
    """
    named = Session.stored_of(user_id).filter(pk__in=session_ids)
    locked = named.select_for_update(no_key=True).order_by("pk")
    kept = {session.pk for session in locked.defer("opening") if _is_changed(session)}
    kept |= set(
        BriefCorrection.of(user_id).filter(session__in=session_ids).values_list("session_id", flat=True)
    )
    kept |= set(continuing(user_id).filter(continues__in=session_ids).values_list("continues_id", flat=True))
    Session.stored_of(user_id).filter(pk__in=set(session_ids) - kept).delete()
    return kept


def _with_imported_id(sessions: QuerySet[Session]) -> QuerySet[Any]:
    named = sessions.filter(metadata__has_key="imported_id")
    return named.annotate(imported_id=KeyTextTransform("imported_id", "metadata"))


def _is_changed(session: Session) -> bool:
    is_marked = session.title_source == TitleSource.USER or session.pinned_at is not None
    is_used = session.last_message_number > session.imported_until or CHOSEN_KEY in session.metadata
    return is_used or is_marked
