"""Runs an import in steps, each of them short: first the whole file is checked, then it is stored.

A file that can't be read to its end changes nothing. Each step is a transaction, so an import that was killed
goes on where it stopped once it is run again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.db import transaction

from coaching.legacy.importers.formats import read_things
from coaching.legacy.importers.json_stream import Item
from coaching.legacy.importers.source import Source
from coaching.legacy.importers.things import (
    Adapter,
    FoundConversation,
    FoundFile,
    FoundProfile,
    FoundRating,
    Problem,
    Thing,
    UnknownFields,
)
from coaching.legacy.recording import record
from coaching.legacy.storing import Target, fill_profile, store_file, store_ratings, store_sessions
from coaching.legacy.tally import Tally
from coaching.legacy.written_blocks import WrittenBlocks
from coaching.models import ImportFormat
from sessions_app.imports import RecordedSession

CHECKED_AT_ONCE = 200
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


def import_steps(target: Target, source: Source, adapter: Adapter, tally: Tally) -> Iterator[None]:
    """Import a file, yielding after each step. Raises `NotImportable`, `StorageFailed`."""
    for number, item in enumerate(source.items()):
        tally.total += _is_conversation(item)
        if number % CHECKED_AT_ONCE == 0:
            yield
    yield from _Run(target, adapter, tally).steps(source)


def _is_conversation(item: Item) -> bool:
    return isinstance(item.path[-1], int) and item.path[0] not in ("files", "ratings")


class _Run:
    def __init__(self, target: Target, adapter: Adapter, tally: Tally) -> None:
        self._target, self._adapter, self._tally = target, adapter, tally
        self._idle_since = target.now - timedelta(hours=settings.SAGE_SESSION_TTL_HOURS)
        self._batch = _Batch()
        self._blocks = WrittenBlocks(target.timezone)

    def steps(self, source: Source) -> Iterator[None]:
        """Store what the file holds."""
        for thing in read_things(source, self._adapter):
            is_stored = self._take(thing)
            if self._batch.is_full:
                self._store_batch()
                is_stored = True
            if is_stored:
                yield
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
            case FoundProfile():
                fill_profile(self._target, thing, self._tally)
            case Problem():
                self._tally.report(thing)
                return False
            case UnknownFields():
                self._tally.report_unknown(thing.names)
                return False
        return True

    def _take_conversation(self, found: FoundConversation) -> None:
        made = record(found, now=self._target.now, idle_since=self._idle_since)
        self._tally.done += 1
        for problem in made.problems:
            self._tally.report(problem)
        if made.session is None:
            self._tally.skipped += 1
            return
        self._batch.sessions.append(made.session)
        self._batch.messages += len(made.session.messages)
        if self._adapter.format == ImportFormat.SAGE:
            self._blocks.look_in(made.session)

    @transaction.atomic
    def _store_batch(self) -> None:
        batch, self._batch = self._batch, _Batch()
        store_sessions(self._target, batch.sessions, self._tally)
        store_ratings(self._target, batch.ratings, self._tally)
        if self._target.row is not None:
            self._target.row.save(update_fields=self._tally.put_into(self._target.row))
