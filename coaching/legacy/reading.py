"""Reads an export in a process without rights that can be killed, a little at a time.

The process gets the open file and sends what it finds (`importers.reader`). It is killed when it has used a
minute of processor time without finishing an item, when it needs too much memory, and when whoever waits for
it stops. Whatever it does, a step here takes half a second.
"""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Protocol

import structlog
from django.conf import settings
from django.utils.translation import gettext_noop

from coaching.legacy.importers.assembly import Assembly
from coaching.legacy.importers.bounded import MAX_TOKEN_BYTES
from coaching.legacy.importers.formats import NAMES, OTHER, UNKNOWN
from coaching.legacy.importers.reader import request
from coaching.legacy.importers.source import REFUSALS
from coaching.legacy.importers.things import Format, NotImportable, Thing
from coaching.legacy.importers.wire import MAX_FRAME_BYTES, Frame, Misread, decode
from coaching.sandbox.errors import AllBusy, NotAnswered, NotStarted, OutOfTime
from coaching.sandbox.host import ProcessHost, Reading
from coaching.sandbox.limits import MEGABYTE, Limits

logger = structlog.get_logger(__name__)

STEP_SECONDS = 0.5
MAX_ITEM_CPU_SECONDS = 60.0
MAX_SILENT_SECONDS = 1_800.0
"""An item's limit by the clock, for a process that uses no processor time either."""
MEMORY_BYTES = 512 << 20
MAX_CPU_SECONDS = 3_600
READERS = 2
NICENESS = 10

TOO_COSTLY = gettext_noop(
    "This file takes too much time or memory to read, so Sage stopped. If it’s a ZIP, unpack it and upload "
    "only the conversations.json in it."
)
CRASHED = gettext_noop(
    "Sage couldn’t read this file and stopped. Download your export again, and upload it exactly as you get "
    "it."
)

_host = ProcessHost(
    "coaching.legacy.importers.reader",
    Limits(
        memory_bytes=MEMORY_BYTES,
        cpu_seconds=MAX_CPU_SECONDS,
        seconds=float(MAX_CPU_SECONDS),
        answer_bytes=MAX_FRAME_BYTES,
        niceness=NICENESS,
    ),
    slots=READERS,
)
_REFUSALS = {*REFUSALS, UNKNOWN, *(OTHER.format(name=name) for name in NAMES.values())}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A file that can be read to its end, with as many items, `total` of them conversations."""

    format: Format
    items: int
    total: int


class Watch(Protocol):
    """Who waits for a reader. It may raise to stop it."""

    def look(self) -> None:
        """Take a moment; called at least once a step."""
        ...

    def seconds_stuck_at(self, items: int) -> float:
        """Return how much processor time earlier readers used after as many items of both passes."""
        ...

    def is_stuck(self, items: int, seconds: float) -> None:
        """Take how much processor time was used since the last item."""
        ...

    def has_checked(self, percent: int) -> None:
        """Take how far a check is."""
        ...


def check_steps(file: BinaryIO, watch: Watch, *, wanted: Format | None = None) -> Iterator[Checked | None]:
    """Read a file to its end; yield None after each step, then what it is. Raises `NotImportable`."""
    for frame in _frames(file, request(wanted=wanted), watch, earlier_items=0):
        if frame is not None and frame.format is not None:
            yield Checked(format=frame.format, items=frame.items, total=frame.total)
            return
        if frame is not None and frame.json_bytes:
            watch.has_checked(min(100, frame.read_bytes * 100 // frame.json_bytes))
        yield None


def thing_steps(file: BinaryIO, watch: Watch, *, checked: Checked) -> Iterator[Thing | None]:
    """Yield what a checked file holds, and None after each step. Raises `NotImportable`."""
    most_bytes = settings.SAGE_MAX_UPLOAD_MB * MEGABYTE
    assembly = Assembly(most_bytes + MAX_TOKEN_BYTES)
    head = request(read_as=checked.format, most_bytes=most_bytes)
    for frame in _frames(file, head, watch, earlier_items=checked.items):
        if frame is not None:
            try:
                yield from assembly.take(frame.found)
            except Misread as error:
                raise _crashed() from error
        yield None


def _frames(file: BinaryIO, head: bytes, watch: Watch, *, earlier_items: int) -> Iterator[Frame | None]:
    """Yield a reader's frames, None when there was none for a while."""
    with ExitStack() as held:
        readable = held.enter_context(_read_only(file))
        reading: Reading | None = None
        while reading is None:
            watch.look()
            try:
                opened = _host.open(readable, head, wait_seconds=STEP_SECONDS)
                reading = held.enter_context(opened)
            except NotStarted:
                raise
            except AllBusy:
                yield None
        clock = _Clock(watch, earlier_items)
        while True:
            frame = _next(reading)
            watch.look()
            clock.check(frame, reading.cpu_seconds)
            yield frame
            if frame is not None and frame.is_last:
                return


def _next(reading: Reading) -> Frame | None:
    try:
        answer = reading.next(seconds=STEP_SECONDS)
        frame = None if answer is None else decode(answer)
    except OutOfTime:
        return None
    except NotAnswered as error:
        logger.warning("import_reader_failed", is_too_costly=error.is_too_costly)
        raise NotImportable(TOO_COSTLY if error.is_too_costly else CRASHED) from error
    except Misread as error:
        raise _crashed() from error
    if frame is None or (frame.refusal and frame.refusal[0] not in _REFUSALS):
        raise _crashed()
    if frame.refusal:
        raise NotImportable(*frame.refusal)
    return frame


def _crashed() -> NotImportable:
    logger.warning("import_reader_misread")
    return NotImportable(CRASHED)


class _Clock:
    """Ends a reader that goes on without finishing items."""

    def __init__(self, watch: Watch, earlier_items: int) -> None:
        self._watch = watch
        self._earlier_items = earlier_items
        self._items = 0
        self._cpu_before = 0.0
        self._since = time.monotonic()

    def check(self, frame: Frame | None, cpu_seconds: float) -> None:
        """Raise `NotImportable` at the limit."""
        if frame is not None and frame.items > self._items:
            self._items, self._cpu_before, self._since = frame.items, cpu_seconds, time.monotonic()
        used, items = cpu_seconds - self._cpu_before, self._earlier_items + self._items
        total = used + self._watch.seconds_stuck_at(items)
        if total > MAX_ITEM_CPU_SECONDS or time.monotonic() - self._since > MAX_SILENT_SECONDS:
            logger.warning("import_reader_stuck", items=items, cpu_seconds=round(total))
            raise NotImportable(TOO_COSTLY)
        self._watch.is_stuck(items, total)


@contextmanager
def _read_only(file: BinaryIO) -> Iterator[BinaryIO]:
    """Open a file again, so that its reader can't write to it and has a position of its own."""
    descriptor = os.open(f"/dev/fd/{file.fileno()}", os.O_RDONLY)
    with os.fdopen(descriptor, "rb") as again:
        yield again
