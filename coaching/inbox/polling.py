"""Reads the mailbox once: what waits first, then what is new, mail by mail in the order of their numbers.

Each mail is decided in one transaction, and moved on the server afterwards: a process that dies in between
leaves a row that says what is still to be moved.
"""

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime

import structlog
from django.utils import timezone

from coaching.files.errors import QuotaReached, StorageFailed
from coaching.inbox import state
from coaching.inbox.claims import read_claims
from coaching.inbox.mailbox import MAX_HEADER, MAX_UID, UIDS_AT_ONCE, InboxFailed, Mailbox, open_mailbox
from coaching.inbox.place import InboxPlace
from coaching.inbox.taking import (
    DayIsFull,
    Fetched,
    Refusal,
    Taken,
    Waits,
    decide,
    most_bytes,
    put_off,
    store,
    was_taken,
)
from coaching.models import InboxMail, InboxRefusalReason, InboxWaiting
from coaching.sandbox.errors import NotStarted

MAX_SEARCHES = 1_000
MAX_OF_A_READING = 2_000
SIZES_AT_ONCE = 200

logger = structlog.get_logger(__name__)


class Reading:
    """One reading of the mailbox. `stop` may be called by another thread."""

    def __init__(
        self, place: InboxPlace, *, server: str, clock: Callable[[], datetime] = timezone.now
    ) -> None:
        self._place = place
        self._server = server
        self._clock = clock
        self._stopped = threading.Event()
        self._box: Mailbox | None = None
        self._lease = uuid.UUID(int=0)
        self.counts: Counter[str] = Counter()
        self.error = ""

    def stop(self) -> None:
        """End the reading soon, also if it waits for the server."""
        self._stopped.set()
        if self._box is not None:
            self._box.close()

    def run(self, *, is_due_only: bool = True) -> bool:
        """Read the mailbox; return whether that was due. Blocks for minutes, outside transactions."""
        lease = state.take_lease(now=self._clock(), is_due_only=is_due_only)
        if lease is None:
            return False
        self._lease = lease
        try:
            with open_mailbox(self._place) as self._box:
                self._read(self._box)
            state.note_success(lease, now=self._clock())
        except state.LeaseLost:
            logger.info("inbox_read_elsewhere")
        except (InboxFailed, StorageFailed, NotStarted) as error:
            self._fail(str(error) if isinstance(error, InboxFailed) else type(error).__name__)
        return True

    def _fail(self, error: str) -> None:
        if self._stopped.is_set():
            return
        self.error = error
        try:
            state.note_failure(self._lease, error=error, now=self._clock())
        except state.LeaseLost:
            logger.info("inbox_read_elsewhere")

    def _read(self, box: Mailbox) -> None:
        last = state.begin_reading(self._lease, uid_validity=box.uid_validity)
        self._move_taken(box)
        for uids in self._batches(box, last):
            sizes = box.sizes(uids) if uids else {}
            for uid in uids:
                if self._stopped.is_set() or self.counts.total() >= MAX_OF_A_READING:
                    return
                self._read_mail(box, uid, size=sizes.get(uid))

    def _batches(self, box: Mailbox, last: int) -> Iterator[list[int]]:
        due = list(InboxWaiting.unscoped.filter(due_at__lte=self._clock()).values_list("uid", flat=True))
        yield from _in_parts(due)
        end = min(box.uid_next - 1, MAX_UID)
        for first in range(last + 1, min(end, last + MAX_SEARCHES * UIDS_AT_ONCE) + 1, UIDS_AT_ONCE):
            until = min(first + UIDS_AT_ONCE - 1, end)
            yield from _in_parts(box.uids(first, until))
            if self._stopped.is_set() or self.counts.total() >= MAX_OF_A_READING:
                return
            state.settle_up_to(self._lease, until)

    def _read_mail(self, box: Mailbox, uid: int, *, size: int | None) -> None:
        now = self._clock()
        header = box.header(uid) if size is not None else None
        if header is None or size is None:
            state.pass_over(self._lease, uid)
            return
        if len(header) > MAX_HEADER:
            self._settle(uid, Refusal(reason=InboxRefusalReason.UNUSUAL), now)
            return
        claims = read_claims(header, place=self._place, server=self._server)
        verdict = decide(claims, uid=uid, size=size, now=now)
        if isinstance(verdict, Taken):
            self._take(box, uid, header, verdict, now)
        else:
            self._settle(uid, verdict, now)

    def _take(self, box: Mailbox, uid: int, header: bytes, taken: Taken, now: datetime) -> None:
        user_id = taken.user_id
        data = box.whole(uid, most=most_bytes())
        if data is None:
            self._settle(uid, Refusal(reason=InboxRefusalReason.LARGE, user_id=user_id), now)
            return
        if not data.startswith(header):
            self._settle(uid, Refusal(reason=InboxRefusalReason.UNUSUAL, user_id=user_id), now)
            return
        mail = Fetched(data=data, header_size=len(header), uid=uid, uid_validity=box.uid_validity)
        if was_taken(taken, mail):
            box.move(uid)
            state.pass_over(self._lease, uid)
            self.counts["known"] += 1
            return
        try:
            row = store(taken, mail, lease=self._lease, now=now)
        except (DayIsFull, QuotaReached) as full:
            is_full = isinstance(full, QuotaReached)
            reason = InboxRefusalReason.ROOM if is_full else InboxRefusalReason.WAITING
            self._settle(uid, put_off(user_id, uid=uid, now=now, reason=reason), now)
            return
        self.counts["taken"] += 1
        logger.info("mail_taken", user_id=user_id, bytes=len(data))
        self._move(box, row)

    def _settle(self, uid: int, verdict: Refusal | Waits, now: datetime) -> None:
        if isinstance(verdict, Waits):
            state.let_wait(self._lease, uid, user_id=verdict.user_id, now=now, until=verdict.until)
            self.counts["waiting"] += 1
        else:
            state.refuse(self._lease, uid, verdict.reason, user_id=verdict.user_id, now=now)
            self.counts["refused"] += 1

    def _move_taken(self, box: Mailbox) -> None:
        """Move what an earlier reading took and couldn't move any more."""
        left = InboxMail.unscoped.filter(is_moved=False, uid_validity=box.uid_validity)
        for row in left.order_by("uid")[:MAX_OF_A_READING]:
            self._move(box, row)

    def _move(self, box: Mailbox, row: InboxMail) -> None:
        box.move(row.uid)
        InboxMail.of(row.user_id).filter(pk=row.pk).update(is_moved=True)


def _in_parts(uids: list[int]) -> Iterator[list[int]]:
    return (uids[start : start + SIZES_AT_ONCE] for start in range(0, len(uids), SIZES_AT_ONCE))
