"""Decides whether an answer asks after danger, and stores that it does, or that somebody wants no questions.

Both are written in the transaction that writes the message which they belong to, under its session's lock.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

import structlog
from django.db import DatabaseError, transaction

from coaching.care.reading import read_care
from coaching.care.standing import Care, Ended, Place, SaidDanger, care_on
from coaching.clock.days import local_day
from coaching.models import CareAsk, CareEnd
from coaching.safety.no_more import wants_no_more_questions

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CareOfTurn:
    """What a request says: the care that stands, what its answer asks about, and whether it just ended."""

    care: Care
    ask: SaidDanger | None = None
    has_ended_now: bool = False


def foresee(care: Care, *, words: str, is_in_danger: bool, now: datetime) -> CareOfTurn:
    """Return what a turn's request would say, without storing anything."""
    if care.is_standing and not is_in_danger and wants_no_more_questions(words):
        return CareOfTurn(care=_ended(care, Ended(at=now, on=care.today, how="said")), has_ended_now=True)
    return CareOfTurn(care=care, ask=None if is_in_danger else care.to_ask())


def take_care(
    care: Care, *, user_id: int, place: Place, words: str, is_in_danger: bool, now: datetime, zone: ZoneInfo
) -> CareOfTurn:
    """Return what the request for the message at `place` says, and store it; `is_in_danger`: the message is.

    Of two messages at once only one asks. Without a database the answer asks nothing; the next one will.
    """
    foreseen = foresee(care, words=words, is_in_danger=is_in_danger, now=now)
    danger = None if foreseen.has_ended_now or is_in_danger else care.to_ask(place)
    if danger is None and not foreseen.has_ended_now:
        return replace(foreseen, ask=None)
    try:
        with transaction.atomic():
            if danger is not None:
                ask = _claim(danger, user_id=user_id, place=place, now=now, zone=zone)
                return replace(foreseen, ask=ask)
            _store_end(user_id, place, now)
    except DatabaseError as error:
        logger.warning("care_not_stored", error=type(error).__name__)
        return CareOfTurn(care=care)
    return foreseen


@transaction.atomic
def end_care(*, user_id: int, now: datetime, zone: ZoneInfo) -> bool:
    """Store that somebody pressed the button; return whether anything was remembered."""
    if not read_care(user_id=user_id, now=now, zone=zone).is_standing:
        return False
    CareEnd.of(user_id).create(ended_at=now, how="pressed")
    return True


def end_care_in(place: Place, *, user_id: int, now: datetime, zone: ZoneInfo) -> None:
    """Store that an answer in the turn of the message at `place` said so."""
    if read_care(user_id=user_id, now=now, zone=zone).is_standing:
        _store_end(user_id, place, now)


def _store_end(user_id: int, place: Place, now: datetime) -> None:
    CareEnd.of(user_id).get_or_create(
        session_id=place.session_id,
        message_number=place.number,
        defaults={"ended_at": now, "how": "said"},
    )


def _claim(
    danger: SaidDanger, *, user_id: int, place: Place, now: datetime, zone: ZoneInfo
) -> SaidDanger | None:
    """Store that the message at `place` asks today, and return about what; None where another one asks."""
    today = local_day(now, zone)
    values = {"about": danger.about, "session_id": place.session_id, "message_number": place.number}
    # A concurrent row of the same day is waited for.
    row = CareAsk(user_id=user_id, asked_on=today, **values)
    CareAsk.of(user_id).bulk_create([row], ignore_conflicts=True)
    held = CareAsk.of(user_id).select_for_update().get(asked_on=today)
    if (held.session_id, held.message_number) == (place.session_id, place.number):
        return danger
    # Another message has the day: it counts, unless its turn has come to nothing.
    if read_care(user_id=user_id, now=now, zone=zone).to_ask(place) is None:
        return None
    CareAsk.of(user_id).filter(pk=held.pk).update(**values)
    return danger


def _ended(care: Care, end: Ended) -> Care:
    dangers = [danger for danger in (care.own, care.other) if danger is not None]
    return replace(care_on(care.today, dangers=dangers, asked=care.asked, ended=end), is_ending=True)
