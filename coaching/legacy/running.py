"""Stores what a checked export holds, in steps.

Each step is a transaction, so an import that was killed goes on where it stopped once it is run again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import BinaryIO

from django.conf import settings
from django.db import transaction

from coaching.legacy.documents import DocumentStore
from coaching.legacy.importers.things import (
    FoundConversation,
    FoundDocument,
    FoundFile,
    FoundProfile,
    FoundRating,
    Thing,
)
from coaching.legacy.reading import Checked, Watch, thing_steps
from coaching.legacy.recording import record
from coaching.legacy.storing import Target, fill_profile, store_file, store_ratings, store_sessions
from coaching.legacy.tally import Tally
from coaching.legacy.written_blocks import WrittenBlocks
from coaching.models import ImportFormat
from sessions_app.recorded import RecordedSession

SESSIONS_AT_ONCE = 50
MESSAGES_AT_ONCE = 1_000
RATINGS_AT_ONCE = 500


@dataclass(slots=True)
class _Batch:
    """What has been read and isn't stored yet."""

    sessions: list[RecordedSession] = field(default_factory=list)
    messages: int = 0
    ratings: list[FoundRating] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return (
            len(self.sessions) >= SESSIONS_AT_ONCE
            or self.messages >= MESSAGES_AT_ONCE
            or len(self.ratings) >= RATINGS_AT_ONCE
        )


def import_steps(
    target: Target, file: BinaryIO, checked: Checked, tally: Tally, watch: Watch
) -> Iterator[None]:
    """Import a file, yielding after each step.

    Raises `NotImportable`, `StorageFailed`, and what `watch` raises.
    """
    tally.total = checked.total
    run = _Run(target, ImportFormat(checked.format), tally)
    for thing in thing_steps(file, watch, checked=checked):
        if thing is None or run.has_stored(thing):
            watch.look()
            yield
    for _ in run.last_steps():
        watch.look()
        yield


class _Run:
    def __init__(self, target: Target, read_as: ImportFormat, tally: Tally) -> None:
        self._target, self._format, self._tally = target, read_as, tally
        self._idle_since = target.now - timedelta(hours=settings.SAGE_SESSION_TTL_HOURS)
        self._batch = _Batch()
        self._blocks = WrittenBlocks(target.timezone)
        self._documents = DocumentStore(target, tally)

    def has_stored(self, thing: Thing) -> bool:
        """Take something in; return whether anything was stored.

        A conversation and its other branches are stored together.
        """
        is_full = self._batch.is_full and not (isinstance(thing, FoundConversation) and thing.branch_of)
        if is_full:
            self._store_batch()
        return self._take(thing) or is_full

    def last_steps(self) -> Iterator[None]:
        """Store the rest once all was taken in."""
        self._store_batch()
        yield
        yield from self._blocks.store(self._target, self._tally)
        self._store_batch()

    def _take(self, thing: Thing) -> bool:
        """Take something in; return whether it was stored at once."""
        match thing:
            case FoundConversation():
                self._take_conversation(thing)
                return False
            case FoundRating():
                self._batch.ratings.append(thing)
                return False
            case FoundFile():
                self._blocks.leave_out(thing.path)
                store_file(self._target, thing, self._tally)
            case FoundDocument():
                self._store_batch()  # its messages
                self._documents.take(thing)
            case FoundProfile():
                fill_profile(self._target, thing, self._tally)
            case _:
                self._tally.take(thing)
                return False
        return True

    def _take_conversation(self, found: FoundConversation) -> None:
        made = record(found, now=self._target.now, idle_since=self._idle_since)
        self._tally.done += not found.branch_of
        for problem in made.problems:
            self._tally.report(problem)
        if made.session is None:
            self._tally.skipped += 1
            return
        self._batch.sessions.append(made.session)
        self._batch.messages += len(made.session.messages)
        if self._format == ImportFormat.SAGE:
            self._blocks.look_in(made.session)

    @transaction.atomic
    def _store_batch(self) -> None:
        batch, self._batch = self._batch, _Batch()
        store_sessions(self._target, batch.sessions, self._tally)
        store_ratings(self._target, batch.ratings, self._tally)
        if self._target.row is not None:
            self._target.row.save(update_fields=self._tally.put_into(self._target.row))
