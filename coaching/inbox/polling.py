"""Reads the mailbox once: new mails first, then those that wait, each in the order of their numbers.

Each mail is decided in one transaction and moved on the server afterwards: a process that is killed
in between leaves a row that says what is still to be moved. A mail at which a reading fails is set aside, so
that the next reading begins after it.
"""

import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime

import structlog
from django.db import DataError, Error, IntegrityError
from django.utils import timezone

from coaching.files.errors import QuotaReached, StorageFailed
from coaching.inbox import state
from coaching.inbox.claims import read_claims
from coaching.inbox.connection import Ending, InboxFailed, NotDone
from coaching.inbox.mailbox import MAX_HEADER, MAX_UID, UIDS_AT_ONCE, Mailbox, open_mailbox
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
READING_SECONDS = 120.0
"""Then no other mail is begun: half of the connection's time is left for the last one."""
MAX_NOT_DONE = 3
"""A reading fails if the server refuses this many mails and delivers none."""
MOVE_REFUSED = "move"

logger = structlog.get_logger(__name__)


class Reading:
    """One reading of the mailbox, of about so many seconds. `stop` may be called by another thread.

    `error` is a kind of failure; `is_replaced`: another reader has taken over.
    """

    def __init__(
        self,
        place: InboxPlace,
        *,
        server: str,
        clock: Callable[[], datetime] = timezone.now,
        seconds: float = READING_SECONDS,
    ) -> None:
        self._place = place
        self._server = server
        self._clock = clock
        self._seconds = seconds
        self._stopped = threading.Event()
        self._ending = Ending()
        self._lease = uuid.UUID(int=0)
        self._until = 0.0
        self._undecided: int | None = None
        self._not_done = 0
        self.counts: Counter[str] = Counter()
        self.error = ""
        self.is_replaced = False

    def stop(self) -> None:
        """End the reading soon, also if it waits for the server."""
        self._stopped.set()
        self._ending.cut()

    def run(self, *, is_due_only: bool = True) -> bool:
        """Read the mailbox; return whether that was due. Blocks for minutes, outside transactions."""
        lease = state.take_lease(now=self._clock(), is_due_only=is_due_only)
        if lease is None:
            return False
        self._lease = lease
        try:
            self._read_or_fail()
        except state.LeaseLost:
            self.is_replaced = True
            logger.info("inbox_read_elsewhere")
        return True

    def _read_or_fail(self) -> None:
        self._until = time.monotonic() + self._seconds
        try:
            with open_mailbox(self._place, ending=self._ending) as box:
                self._read(box)
            state.note_success(self._lease, now=self._clock(), error=self.error)
        except state.LeaseLost:
            raise
        except (InboxFailed, StorageFailed, NotStarted) as error:
            is_of_server = isinstance(error, InboxFailed)
            self._fail(str(error) if is_of_server else type(error).__name__, is_of_mail=is_of_server)
        except (
            Exception
        ) as error:  # isolates a mail: it is set aside, so others aren't held up by a fault of ours
            # Rows that the database refuses are due to the mail at hand, an outage isn't.
            is_of_mail = isinstance(error, (DataError, IntegrityError)) or not isinstance(error, Error)
            with suppress(Error, state.LeaseLost):
                self._fail(type(error).__name__, is_of_mail=is_of_mail)
            raise

    def _fail(self, error: str, *, is_of_mail: bool) -> None:
        """Note a failure, unless it is our own stop. `is_of_mail`: the mail at hand may be the cause."""
        if self._stopped.is_set():
            return
        self.error, now = error, self._clock()
        if is_of_mail and self._undecided is not None:
            state.set_aside(self._lease, self._undecided, now=now)
        state.note_failure(self._lease, error=error, now=now, is_first=self.counts.total() > 0)

    @property
    def _is_over(self) -> bool:
        is_late = time.monotonic() > self._until
        return self._stopped.is_set() or is_late or self.counts.total() >= MAX_OF_A_READING

    def _read(self, box: Mailbox) -> None:
        last = state.begin_reading(self._lease, place=self._place, uid_validity=box.uid_validity)
        self._read_mails(box, last)
        self._move_taken(box)

    def _read_mails(self, box: Mailbox, last: int) -> None:
        for uids in self._batches(box, last):
            sizes = self._sizes(box, uids)
            for uid in uids:
                self._undecided = uid
                try:
                    size = box.sizes([uid]).get(uid) if sizes is None else sizes.get(uid)
                    self._read_mail(box, uid, size=size)
                except NotDone:
                    self._set_aside(uid)
                self._undecided = None
                if self._is_over:
                    return

    def _sizes(self, box: Mailbox, uids: list[int]) -> Mapping[int, int] | None:
        """Return the sizes of mails; None if the server says no, which may be because of one of them."""
        try:
            return box.sizes(uids) if uids else {}
        except NotDone:
            return None

    def _set_aside(self, uid: int) -> None:
        self._not_done += 1
        has_room = state.set_aside(self._lease, uid, now=self._clock())
        if not has_room or (self._not_done >= MAX_NOT_DONE and not self.counts):
            self._undecided = None
            raise InboxFailed("protocol")

    def _batches(self, box: Mailbox, last: int) -> Iterator[list[int]]:
        due = list(InboxWaiting.unscoped.filter(due_at__lte=self._clock()).values_list("uid", flat=True))
        end = min(box.uid_next - 1, MAX_UID)
        for first in range(last + 1, min(end, last + MAX_SEARCHES * UIDS_AT_ONCE) + 1, UIDS_AT_ONCE):
            until = min(first + UIDS_AT_ONCE - 1, end)
            yield from _in_parts(box.uids(first, until))
            state.settle_up_to(self._lease, until)
            if self._is_over:
                return
        yield from _in_parts(due)

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
        try:
            if isinstance(verdict, Taken):
                self._take(box, uid, header, verdict, now)
            else:
                self._settle(uid, verdict, now)
        except state.PersonGone:
            self._settle(uid, Refusal(reason=InboxRefusalReason.ADDRESS), now)

    def _take(self, box: Mailbox, uid: int, header: bytes, taken: Taken, now: datetime) -> None:
        user_id = taken.user_id
        data = box.whole(uid, size=taken.size, most=most_bytes())
        if data is None:
            self._settle(uid, Refusal(reason=InboxRefusalReason.LARGE, user_id=user_id), now)
            return
        if not data.startswith(header):
            self._settle(uid, Refusal(reason=InboxRefusalReason.UNUSUAL, user_id=user_id), now)
            return
        mail = Fetched(data=data, header_size=len(header), uid=uid, uid_validity=box.uid_validity)
        if was_taken(taken, mail):
            state.pass_over(self._lease, uid)
            self.counts["known"] += 1
            self._move(box, uid)
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
        if self._move(box, uid):
            _note_moved(row)

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
        refused = 0
        for row in left.order_by("uid")[:MAX_OF_A_READING]:
            if self._is_over or refused == MAX_NOT_DONE:
                return
            if self._move(box, row.uid):
                _note_moved(row)
            else:
                refused += 1

    def _move(self, box: Mailbox, uid: int) -> bool:
        """Move a mail that is decided. If the server says no, note that, and go on taking others."""
        self._undecided = None
        try:
            box.move(uid)
        except NotDone:
            self.error = MOVE_REFUSED
            return False
        return True


def _note_moved(row: InboxMail) -> None:
    InboxMail.of(row.user_id).filter(pk=row.pk).update(is_moved=True)


def _in_parts(uids: list[int]) -> Iterator[list[int]]:
    return (uids[start : start + SIZES_AT_ONCE] for start in range(0, len(uids), SIZES_AT_ONCE))
