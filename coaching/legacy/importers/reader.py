"""Reads one export: the script of the processes that `coaching.legacy.reading` starts.

A file is read twice: first a check goes through all of it, so that a file that can't be read to its end
changes nothing, then its contents are sent.
"""

import encodings.cp437  # noqa: F401 - for names in a ZIP, where nothing can be loaded any more
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from coaching.legacy.importers.about import NAMES, FoundNote, Notes
from coaching.legacy.importers.claude_about import ClaudeNotes
from coaching.legacy.importers.formats import ADAPTERS, Recognition
from coaching.legacy.importers.json_stream import Item
from coaching.legacy.importers.left import LeftBehind, Leftovers, MoreLeftBehind
from coaching.legacy.importers.members import Files
from coaching.legacy.importers.sentences import gettext_noop
from coaching.legacy.importers.source import Source, open_source
from coaching.legacy.importers.things import (
    MAX_NAMES,
    MAX_PROBLEMS,
    Format,
    FoundReference,
    MoreProblems,
    NotImportable,
    Problem,
    Thing,
    UnknownFields,
    document_of,
)
from coaching.legacy.importers.wire import FRAME_BYTES, encode
from coaching.legacy.importers.wire_entries import entries_of

FRAME_SECONDS = 0.25
OLDER = gettext_noop("This is an older version. Sage took the newest one.")
MAX_COUNTED_FIELDS = 10_000
"""Of unknown fields, by name; a file with more has them to take up memory."""


def request(*, wanted: Format | None = None, read_as: Format | None = None, most_bytes: int = 0) -> bytes:
    """Return the head of a check, or of a read once a check has found the format.

    `most_bytes` is how large a file for the library may be.
    """
    return json.dumps({"wanted": wanted, "read_as": read_as, "most_bytes": most_bytes}).encode()


def answers(head: bytes, source: BinaryIO) -> Iterator[bytes]:
    """Yield frames about an export."""
    asked = json.loads(head)
    frames = _Frames()
    try:
        found = frames.source = open_source(source)
        if asked["read_as"] is None:
            yield from _check(found, asked["wanted"], frames)
        else:
            yield from _read(found, asked["read_as"], frames, most_bytes=asked["most_bytes"])
    except NotImportable as error:
        yield frames.made(refusal=(error.sentence, error.detail))


class _Frames:
    """Collects what is found until a frame is due."""

    def __init__(self) -> None:
        self.source: Source | None = None
        self.items = 0
        self._entries: list[Any] = []
        self._bytes = 0
        self._sent_at = time.monotonic()

    def add(self, thing: Thing) -> Iterator[bytes]:
        """Take something in; yield the frames that it fills."""
        for entry in entries_of(thing):
            yield from self.add_entry(entry)

    def add_entry(self, entry: Mapping[str, Any]) -> Iterator[bytes]:
        """Take in what is sent as it is; yield the frame that it fills."""
        self._entries.append(entry)
        named = (name for names in entry.get("messages", ()) for name in names)
        texts = (value for value in entry.values() if isinstance(value, str))
        self._bytes += 200 + sum(map(len, texts)) + sum(map(len, named))
        if self._bytes >= FRAME_BYTES:
            yield self.made()

    def is_due(self) -> bool:
        return time.monotonic() - self._sent_at >= FRAME_SECONDS

    def made(self, **fields: Any) -> bytes:
        entries, self._entries, self._bytes = self._entries, [], 0
        self._sent_at = time.monotonic()
        source = self.source
        progress = {
            "items": self.items,
            "read_bytes": source.read_bytes if source else 0,
            "json_bytes": source.json_bytes if source else 0,
        }
        return encode({**progress, "found": entries, **fields})


def _check(source: Source, wanted: Format | None, frames: _Frames) -> Iterator[bytes]:
    recognition = Recognition(wanted)
    total = 0
    for item in source.items():
        recognition.look_at(item)
        total += _is_conversation(item)
        frames.items += 1
        if frames.is_due():
            yield frames.made()
    yield frames.made(format=recognition.found().format, total=total, is_last=True)


def _is_conversation(item: Item) -> bool:
    return isinstance(item.path[-1], int) and item.path[0] not in ("files", "ratings")


def _read(source: Source, read_as: Format, frames: _Frames, *, most_bytes: int) -> Iterator[bytes]:
    adapter, listed = ADAPTERS[read_as], _Listed(source)
    for thing in _beside_conversations(source, read_as):
        yield from _add(listed.kept(thing), frames)
    for item in source.items():
        for thing in adapter.read(item):
            yield from _add(listed.kept(thing), frames)
        frames.items += 1
        if frames.is_due():
            yield frames.made()
    for entry in listed.files.entries(most_bytes) if read_as == "chatgpt" else ():
        if isinstance(entry, LeftBehind):
            listed.left.add(entry)
            continue
        yield from frames.add_entry(entry)
        frames.items += entry["kind"] == "document_end"
    for name in source.others:
        listed.left.add(LeftBehind(kind="member", name=name))
    for thing in listed.rest():
        yield from frames.add(thing)
    yield frames.made(is_last=True)


def _add(kept: Thing | None, frames: _Frames) -> Iterator[bytes]:
    return iter(()) if kept is None else frames.add(kept)


def _beside_conversations(source: Source, read_as: Format) -> Iterator[Thing]:
    """Yield what a ZIP has about its person and their projects."""
    if read_as == "claude":
        notes = ClaudeNotes()
        for member, item in source.about_person():
            yield from notes.read(member, item)


class _Listed:
    """Problems and unknown fields, as many as are listed; `more` are the others.

    What was `left` behind is sent at the end, and so are `notes` and `files`.
    """

    def __init__(self, source: Source) -> None:
        self.files = Files(source)
        self.more = MoreProblems(count=0, lost=0)
        self.left = Leftovers()
        self.notes = Notes()
        self._problems = 0
        self._names: set[str] = set()

    def kept(self, thing: Thing) -> Thing | None:
        """Return what is sent on, None where it was only counted."""
        if isinstance(thing, LeftBehind):
            self.left.add(thing)
            return None
        if isinstance(thing, FoundNote):
            self.notes.add(thing)
            return None
        if isinstance(thing, FoundReference):
            missing = self.files.add(thing)
            if missing is not None:
                self.left.add(missing)
            return None
        if isinstance(thing, UnknownFields):
            return self._new_fields(thing.names)
        if isinstance(thing, Problem):
            self._problems += 1
            if self._problems > MAX_PROBLEMS:
                more = self.more
                self.more = MoreProblems(count=more.count + 1, lost=more.lost + thing.is_lost)
                return None
        return thing

    def rest(self) -> Iterator[Thing]:
        """Yield the notes, what was left behind, and what was only counted.

        Notes that don't fit become documents.
        """
        notes, others = self.notes.divided()
        yield from notes
        for note in others:
            name = " – ".join(filter(None, [NAMES[note.kind], note.project]))
            yield document_of(f"{name}.md", note.text, project=note.project)
        for kind, project, count in self.notes.older():
            older = LeftBehind(kind="instructions", name=NAMES[kind], where=project, count=count, why=OLDER)
            self.left.add(older)
        if (fields := len(self._names) - MAX_NAMES) > 0:
            self.left.add_more(MoreLeftBehind(kind="field", count=fields))
            self.more = MoreProblems(count=self.more.count + fields, lost=self.more.lost)
        yield from self.left.all()
        if self.more.count:
            yield self.more

    def _new_fields(self, names: frozenset[str]) -> UnknownFields | None:
        """Return the names that are listed and weren't yet; more are counted, each once."""
        new = sorted(names - self._names)[: MAX_COUNTED_FIELDS - len(self._names)]
        listed = new[: max(0, MAX_NAMES - len(self._names))]
        self._names.update(new)
        return UnknownFields(names=frozenset(listed)) if listed else None
