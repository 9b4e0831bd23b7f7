"""What a person thinks of an answer, stored, changed and deleted by them. Sage never gets it."""

import uuid
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from coaching.models import AnswerFeedback
from sessions_app.errors import Refused
from sessions_app.limits import lock_limits
from sessions_app.models import MessageRole, Session, Turn
from sessions_app.text import is_storable

MAX_NOTE = 1_000


def rated_turn(*, user_id: int, session_id: uuid.UUID, turn_id: uuid.UUID) -> Turn:
    """Return a turn that has an answer of Sage's own. Raises `Session.DoesNotExist`, `Turn.DoesNotExist`."""
    session = Session.of(user_id).get(id=session_id)
    answers = session.messages.filter(turn=turn_id, role=MessageRole.ASSISTANT)
    answered = session.turns.filter(id__in=answers.values("turn"), ended_at__isnull=False)
    return answered.exclude(metadata__has_key="is_imported").defer("prefix", "shown").get(id=turn_id)


@transaction.atomic
def rate_answer(turn: Turn, *, rating: str) -> AnswerFeedback:
    """Store a rating of an answer; a note and what is shared stay as they are."""
    return _stored(turn, rating=rating)


@transaction.atomic
def write_feedback(
    turn: Turn, *, rating: str, note: str, is_shared: bool, is_answer_shared: bool
) -> AnswerFeedback:
    """Store all of a feedback. Raises `Refused`; an answer is shared only together with its rating."""
    words = note.replace("\r\n", "\n").strip()
    if len(words) > MAX_NOTE:
        raise Refused(
            _("A note can have up to %(most)s characters. This one has %(length)s."),
            most=MAX_NOTE,
            length=len(words),
        )
    if not is_storable(words):
        raise Refused(_("This note contains a character that can’t be stored. Please remove it."))
    is_answer_shared = is_shared and is_answer_shared
    return _stored(turn, rating=rating, note=words, is_shared=is_shared, is_answer_shared=is_answer_shared)


@transaction.atomic
def delete_feedback(turn: Turn) -> None:
    lock_limits(user_id=turn.session.user_id)
    AnswerFeedback.within(turn).delete()


def _stored(turn: Turn, **fields: Any) -> AnswerFeedback:
    """Write only these fields, so that a consent that was withdrawn meanwhile stays withdrawn.

    Under the user's lock, two first ratings don't both insert a row, and none brings back a deleted one.
    """
    lock_limits(user_id=turn.session.user_id)
    fields["updated_at"] = timezone.now()
    feedback, _is_new = AnswerFeedback.within(turn).update_or_create(turn=turn, defaults=fields)
    return feedback
