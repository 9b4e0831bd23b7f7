"""What a turn's request says of danger days ago, stored with its message before the request is built."""

from collections.abc import Mapping
from datetime import datetime

import structlog
from django.db import transaction

from coaching.care.questions import CareOfTurn, end_care_in, take_care
from coaching.care.reading import read_care
from coaching.care.standing import Care, Place
from coaching.context.help_lines import danger_of
from coaching.context.life import READ_ERRORS, Life, Unknown
from coaching.models import Profile
from coaching.safety.no_more import wants_no_more_questions
from sessions_app.models import Message, MessageRole, Session, ToolCallRecord

logger = structlog.get_logger(__name__)


def care_of_turn(
    life: Life, session: Session, message: Message, *, is_edit: bool = False
) -> CareOfTurn | None:
    """Return what the request for a session's newest message says; None where that couldn't be read.

    The message needn't be stored yet. What the life knows was read before; what this message has withdrawn
    is known only now.
    """
    care = life.care
    if is_edit or (not isinstance(care, Unknown) and (care.is_standing or care.ended)):
        care = _read_again(life)
    if isinstance(care, Unknown):
        return None
    return take_care(
        care,
        user_id=session.user_id,
        place=Place(session_id=session.id, number=message.number),
        words="" if message.metadata.get("is_hidden") else message.content,
        is_in_danger=danger_of(message) is not None,
        now=life.now,
        zone=life.profile.zone,
    )


def _read_again(life: Life) -> Care | Unknown:
    try:
        with transaction.atomic():
            return read_care(user_id=life.profile.user_id, now=life.now, zone=life.profile.zone)
    except READ_ERRORS as error:
        logger.warning("care_unknown", error=type(error).__name__)
        return Unknown(error)


def hear_answer(session: Session, call: ToolCallRecord, words: object, *, now: datetime) -> None:
    """Note where the answer to one of Sage's questions says that they want no more of them after danger."""
    said = words.get("note") if isinstance(words, Mapping) else words
    if not isinstance(said, str) or not wants_no_more_questions(said):
        return
    message = call.turn.messages.filter(role=MessageRole.USER).first()
    profile = Profile.of(session.user_id).first() or Profile(user_id=session.user_id)
    if message is not None:
        place = Place(session_id=session.id, number=message.number)
        end_care_in(place, user_id=session.user_id, now=now, zone=profile.zone)
