"""How far the mailbox was read, in one row that one reader at a time may write.

A reader that finds another lease in the row has been replaced, for instance because its process was frozen:
it writes nothing any more. Each function is a transaction, or belongs into its caller's.
"""

import uuid
from datetime import UTC, date, datetime, timedelta

import structlog
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from coaching.clock.days import local_day
from coaching.inbox.place import InboxPlace
from coaching.models import (
    InboxMail,
    InboxRefusal,
    InboxRefusalReason,
    InboxState,
    InboxWaiting,
    Profile,
)

FIRST_WAIT = timedelta(minutes=1)
LONGEST_WAIT = timedelta(hours=1)
UNREADABLE_WAIT = timedelta(hours=1)
UNREADABLE_FOR = timedelta(hours=6)
MAX_UNREADABLE = 500
"""More than that many are a failure of the server."""
REFUSALS_KEPT = timedelta(days=90)

logger = structlog.get_logger(__name__)


class LeaseLost(Exception):
    """Another reader has taken over."""


class PersonGone(Exception):
    """The person was deleted, or their account was blocked, after a mail was decided."""


@transaction.atomic
def take_lease(*, now: datetime, is_due_only: bool) -> uuid.UUID | None:
    """Become the reader; None while the wait after a failure lasts, and `is_due_only`."""
    state, _ = InboxState.objects.select_for_update().get_or_create(pk=1)
    if is_due_only and state.next_try_at is not None and state.next_try_at > now:
        return None
    state.lease = uuid.uuid4()
    state.save(update_fields=["lease"])
    return state.lease


def lock_state(lease: uuid.UUID) -> InboxState:
    """Return the row, locked in the caller's transaction. Raises `LeaseLost`."""
    state = InboxState.objects.select_for_update().filter(lease=lease).first()
    if state is None:
        raise LeaseLost
    return state


def lock_person(user_id: int) -> None:
    """Let an account be neither deleted nor blocked until the caller's transaction ends.

    Raises `PersonGone` if it was.
    """
    if not User.objects.select_for_update(no_key=True).filter(pk=user_id, is_active=True).exists():
        raise PersonGone


@transaction.atomic
def begin_reading(lease: uuid.UUID, *, place: InboxPlace, uid_validity: int) -> int:
    """Return the last number that is decided. In another mailbox, or one numbered anew, begin again."""
    state = lock_state(lease)
    if (state.place_digest, state.uid_validity) != (place.digest, uid_validity):
        state.place_digest, state.uid_validity, state.last_uid = place.digest, uid_validity, 0
        state.save(update_fields=["place_digest", "uid_validity", "last_uid"])
        InboxWaiting.unscoped.all().delete()
        InboxMail.unscoped.filter(is_moved=False).update(is_moved=True)
    return state.last_uid


def settle(state: InboxState, uid: int) -> None:
    """Note that a mail is decided, in the caller's transaction."""
    InboxWaiting.unscoped.filter(uid=uid).delete()
    if uid > state.last_uid:
        state.last_uid = uid
        state.save(update_fields=["last_uid"])


@transaction.atomic
def settle_up_to(lease: uuid.UUID, uid: int) -> None:
    """Note that there is no other mail up to a number."""
    state = lock_state(lease)
    state.last_uid = max(state.last_uid, uid)
    state.save(update_fields=["last_uid"])


@transaction.atomic
def pass_over(lease: uuid.UUID, uid: int) -> None:
    """Settle a mail that is gone, or was taken before."""
    settle(lock_state(lease), uid)


@transaction.atomic
def refuse(
    lease: uuid.UUID, uid: int, reason: InboxRefusalReason, *, user_id: int | None, now: datetime
) -> None:
    """Leave a mail on the server for good, and count it. Raises `PersonGone`."""
    state = lock_state(lease)
    if user_id is not None:
        lock_person(user_id)
    _count_refusal(reason, user_id=user_id, now=now)
    settle(state, uid)


def _day_of(user_id: int | None, now: datetime) -> date:
    """Return the person's day; UTC's where a mail is for nobody."""
    profile = Profile.of(user_id).first() if user_id is not None else None
    return local_day(now, profile.zone if profile else UTC)


def _count_refusal(reason: InboxRefusalReason, *, user_id: int | None, now: datetime) -> None:
    day = _day_of(user_id, now)
    # The lease's lock keeps others from counting at once.
    row, _ = InboxRefusal.unscoped.get_or_create(
        user_id=user_id,  # type: ignore[misc]  # the stubs take no null
        day=day,
        reason=reason,
    )
    InboxRefusal.unscoped.filter(pk=row.pk).update(count=F("count") + 1)
    logger.info("mail_refused", reason=str(reason), user_id=user_id)


@transaction.atomic
def let_wait(lease: uuid.UUID, uid: int, *, user_id: int, now: datetime, until: datetime) -> None:
    """Leave a mail on the server until a moment. Raises `PersonGone`."""
    state = lock_state(lease)
    lock_person(user_id)
    kept = InboxWaiting.of(user_id).filter(uid=uid).values_list("since", flat=True).first()
    settle(state, uid)
    InboxWaiting.of(user_id).create(uid=uid, since=kept or now, due_at=until)


@transaction.atomic
def set_aside(lease: uuid.UUID, uid: int, *, now: datetime) -> bool:
    """Try a mail again in an hour with which a reading failed, so that it holds up no others.

    Refuse it after hours. Return whether there is room for more of them.
    """
    state = lock_state(lease)
    unread = InboxWaiting.unscoped.filter(user=None)
    since = unread.filter(uid=uid).values_list("since", flat=True).first()
    if since is None and unread.count() >= MAX_UNREADABLE:
        return False
    settle(state, uid)
    if since is not None and now - since >= UNREADABLE_FOR:
        _count_refusal(InboxRefusalReason.UNREADABLE, user_id=None, now=now)
    else:
        InboxWaiting.unscoped.create(user=None, uid=uid, since=since or now, due_at=now + UNREADABLE_WAIT)
        logger.warning("mail_set_aside", uid=uid)
    return True


@transaction.atomic
def note_success(lease: uuid.UUID, *, now: datetime, error: str = "") -> None:
    """Note that the mailbox was read, and forget old refusals. `error` is what is wrong all the same."""
    state = lock_state(lease)
    state.read_at, state.failures, state.next_try_at = now, 0, None
    state.error, state.failing_since = error, (state.failing_since or now) if error else None
    state.save()
    InboxRefusal.unscoped.filter(day__lt=(now - REFUSALS_KEPT).date()).delete()


@transaction.atomic
def note_failure(lease: uuid.UUID, *, error: str, now: datetime, is_first: bool) -> None:
    """Note a failure, after which the mailbox is left alone for longer each time.

    `is_first`: mails were decided before it, so it isn't one of several in a row.
    """
    state = lock_state(lease)
    state.failures = 1 if is_first else state.failures + 1
    state.failing_since = now if is_first else state.failing_since or now
    state.error = error[: InboxState._meta.get_field("error").max_length]
    state.next_try_at = now + min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(state.failures - 1, 10))
    state.save()
    logger.warning("inbox_not_read", error=error, failures=state.failures)
