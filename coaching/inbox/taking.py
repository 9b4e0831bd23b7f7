"""Decides about one mail by its headers, and stores one that is taken, together with the row that says so."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.db.models import Count, F, Sum

from coaching.clock.days import day_bounds, local_day
from coaching.clock.timezones import UNKNOWN_TIMEZONE
from coaching.files.errors import QuotaReached
from coaching.files.quota import check_room
from coaching.inbox.addresses import can_send, confirmed_address
from coaching.inbox.claims import UNUSUAL, Claims
from coaching.inbox.state import PersonGone, lock_person, lock_state, settle
from coaching.library.documents.intake import destination_of, take_in
from coaching.models import (
    Document,
    FileUsage,
    InboxAddress,
    InboxMail,
    InboxRefusalReason,
    InboxWaiting,
    Profile,
)
from coaching.sandbox.limits import MEGABYTE

MAILS_A_DAY = 50
BYTES_A_DAY = 100 * MEGABYTE
FETCHED_A_DAY = 2 * BYTES_A_DAY
"""Also what was fetched in vain: known mails, and what didn't fit into the library."""
MAX_MAIL_MB = 25
"""As much as readers of documents take; a lower SAGE_MAX_UPLOAD_MB counts."""
MAX_WAITING = 500
MAX_WAIT = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A mail that stays on the server; `user_id` is None if it names no person."""

    reason: InboxRefusalReason
    user_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """A mail that is tried again at a moment."""

    user_id: int
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A mail that may be fetched and stored; `size` is what the server says."""

    user_id: int
    claims: Claims
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A mail's bytes, of which so many are its headers, and its number on the server."""

    data: bytes
    header_size: int
    uid: int
    uid_validity: int


class DayIsFull(Exception):
    """The person has had enough mail for the day."""


def most_bytes() -> int:
    """Return how large a mail may be."""
    return min(settings.SAGE_MAX_UPLOAD_MB, MAX_MAIL_MB) * MEGABYTE


def decide(claims: Claims, *, uid: int, size: int, now: datetime) -> Refusal | Waits | Taken:
    """Decide about a mail whose headers were read. Sync ORM code."""
    found = InboxAddress.unscoped.filter(token__in=claims.tokens, user__is_active=True)
    people = list(found.values_list("user_id", flat=True)) if claims.tokens else []
    if len(claims.tokens) > 1:
        return Refusal(reason=InboxRefusalReason.SEVERAL)
    if not people:
        is_unread = claims.refusal == UNUSUAL and not claims.tokens
        return Refusal(reason=InboxRefusalReason.UNUSUAL if is_unread else InboxRefusalReason.ADDRESS)
    (user_id,) = people
    if claims.refusal:
        known = claims.refusal in InboxRefusalReason.values
        reason = InboxRefusalReason(claims.refusal) if known else InboxRefusalReason.UNUSUAL
        return Refusal(reason=reason, user_id=user_id)
    if not _is_confirmed(user_id, claims.sender):
        return Refusal(reason=InboxRefusalReason.SENDER, user_id=user_id)
    if size > most_bytes():
        return Refusal(reason=InboxRefusalReason.LARGE, user_id=user_id)
    return _today(user_id, claims, uid=uid, size=size, now=now)


def _today(user_id: int, claims: Claims, *, uid: int, size: int, now: datetime) -> Refusal | Waits | Taken:
    try:
        # Before anything is fetched in vain; storing checks again.
        usage = FileUsage.of(user_id).first() or FileUsage(user_id=user_id)
        check_room(usage, size=size, is_new_file=True)
    except QuotaReached:
        return put_off(user_id, uid=uid, now=now, reason=InboxRefusalReason.ROOM)
    if _has_room_today(user_id, size=size, now=now) and _may_fetch(user_id, size=size, now=now):
        return Taken(user_id=user_id, claims=claims, size=size)
    return put_off(user_id, uid=uid, now=now, reason=InboxRefusalReason.WAITING)


def _may_fetch(user_id: int, *, size: int, now: datetime) -> bool:
    """Count bytes that will be fetched for a person, unless the day's are used up.

    The day is UTC's: a change of the time zone begins no other.
    """
    address, today = InboxAddress.of(user_id), now.date()
    address.exclude(fetched_on=today).update(fetched_on=today, fetched_bytes=0)
    room = address.filter(fetched_bytes__lte=FETCHED_A_DAY - size)
    return bool(room.update(fetched_bytes=F("fetched_bytes") + size))


def put_off(user_id: int, *, uid: int, now: datetime, reason: InboxRefusalReason) -> Refusal | Waits:
    """Let a mail wait for the person's next day, unless it has waited too long or too many do."""
    waiting = InboxWaiting.of(user_id)
    since = waiting.filter(uid=uid).values_list("since", flat=True).first()
    is_too_long = since is not None and now - since > MAX_WAIT
    if is_too_long or (since is None and waiting.count() >= MAX_WAITING):
        return Refusal(reason=reason, user_id=user_id)
    return Waits(user_id=user_id, until=_bounds_of_today(user_id, now)[1])


def was_taken(taken: Taken, mail: Fetched) -> bool:
    return InboxMail.of(taken.user_id).filter(**_key_of(taken.claims, mail)).exists()


def _key_of(claims: Claims, mail: Fetched) -> dict[str, str]:
    """Return what makes a mail the same as another of its person."""
    body = memoryview(mail.data)[mail.header_size :]
    return {"message_digest": claims.message, "body_digest": sha256(body).hexdigest()}


def store(taken: Taken, mail: Fetched, *, lease: uuid.UUID, now: datetime) -> InboxMail:
    """Store a mail as a document, and in the same transaction that it was taken.

    Sync code, outside transactions. Raises `DayIsFull`, `QuotaReached`, `StorageFailed`, `LeaseLost` and
    `PersonGone`.
    """
    rows: list[InboxMail] = []

    def note(document: Document) -> None:
        state = lock_state(lease)
        lock_person(taken.user_id)
        if not _has_room_today(taken.user_id, size=len(mail.data), now=now):
            raise DayIsFull
        row = InboxMail.of(taken.user_id).create(
            **_key_of(taken.claims, mail),
            document=document,
            size=len(mail.data),
            uid_validity=mail.uid_validity,
            uid=mail.uid,
            taken_at=now,
        )
        settle(state, mail.uid)
        rows.append(row)

    try:
        take_in(
            user_id=taken.user_id,
            name=_name_of(taken.claims.subject),
            data=mail.data,
            destination=destination_of(user_id=taken.user_id),
            also=note,
        )
    except IntegrityError:
        if User.objects.filter(pk=taken.user_id).exists():
            raise
        raise PersonGone from None  # before `note` could lock the account
    return rows[0]


def _name_of(subject: str) -> str:
    words = " ".join(subject.replace("/", "-").replace("\\", "-").split())
    return f"{words[:200] or 'Email'}.eml"


def _is_confirmed(user_id: int, sender: str) -> bool:
    """Whether a sender, in small letters and ASCII, is the person's confirmed address."""
    confirmed = confirmed_address(user_id)
    # Letters of other alphabets may become ASCII in small letters.
    return can_send(confirmed) and confirmed.lower() == sender


def _has_room_today(user_id: int, *, size: int, now: datetime) -> bool:
    begin, end = _bounds_of_today(user_id, now)
    today = InboxMail.of(user_id).filter(taken_at__gte=begin, taken_at__lt=end)
    sums = today.aggregate(mails=Count("pk"), bytes=Sum("size", default=0))
    return bool(sums["mails"] < MAILS_A_DAY and sums["bytes"] + size <= BYTES_A_DAY)


def _bounds_of_today(user_id: int, now: datetime) -> tuple[datetime, datetime]:
    profile = Profile.of(user_id).first()
    zone = profile.zone if profile else ZoneInfo(UNKNOWN_TIMEZONE)
    return day_bounds(local_day(now, zone), zone)
