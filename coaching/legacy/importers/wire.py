"""What a process that reads an export sends to the one that stores it: JSON, bounded and checked.

The reader may have been taken over by the file, so each value has its type and its limit here. A conversation
is sent in parts, so that nothing holds up the other threads of the process that stores it.

Over 300 lines: what is sent, beside how it is written and read again.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from coaching.legacy.importers.about import MAX_NOTES_CHARACTERS, FoundNote, NoteKind
from coaching.legacy.importers.bounded import MAX_ITEM_BYTES, MAX_TOKEN_BYTES
from coaching.legacy.importers.left import LeftBehind, LeftKind, MoreLeftBehind
from coaching.legacy.importers.things import (
    MAX_ENDING_CHARACTERS,
    MAX_ID_CHARACTERS,
    MAX_MESSAGE_CHARACTERS,
    MAX_METADATA_CHARACTERS,
    MAX_NAMES,
    Format,
    FoundConversation,
    FoundFile,
    FoundMessage,
    FoundProfile,
    FoundRating,
    MoreProblems,
    Problem,
    Thing,
    UnknownFields,
)

FRAME_BYTES = 1 << 18
"""A frame is sent once it is as large; the largest holds a file more."""
MAX_FRAME_BYTES = FRAME_BYTES + 2 * MAX_TOKEN_BYTES

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

Id = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS)]
Line = Annotated[str, Field(max_length=1_000)]
"""A title, a place, a sentence."""
# One more than is stored, so that what was cut can be told.
Words = Annotated[str, Field(max_length=MAX_MESSAGE_CHARACTERS + 1)]


class Misread(Exception):
    """What a reader has sent makes no sense."""


class _Sent(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Conversation(_Sent):
    kind: Literal["conversation"] = "conversation"
    imported_id: Id
    title: Line
    session_kind: Line
    status: Line
    started_at: AwareDatetime | None
    where: Line


class _Message(_Sent):
    kind: Literal["message"] = "message"
    imported_id: Id
    role: Literal["user", "assistant"]
    text: Words
    created_at: AwareDatetime | None
    metadata: dict[str, Any]
    shorter: tuple[NonNegativeInt, Annotated[str, Field(max_length=MAX_ENDING_CHARACTERS)]] | None = None


class _End(_Sent):
    """A conversation has no more messages."""

    kind: Literal["end"] = "end"


class _File(_Sent):
    kind: Literal["file"] = "file"
    path: Line
    content: Annotated[str, Field(max_length=MAX_TOKEN_BYTES)]
    updated_at: AwareDatetime
    where: Line


class _Rating(_Sent):
    kind: Literal["rating"] = "rating"
    domain: Line
    rating: Annotated[int, Field(ge=1, le=5)]
    rated_at: AwareDatetime
    where: Line


class _Profile(_Sent):
    kind: Literal["profile"] = "profile"
    name: Line
    timezone: Line
    where: Line


class _Problem(_Sent):
    kind: Literal["problem"] = "problem"
    where: Line
    text: Line
    is_lost: bool


class _MoreProblems(_Sent):
    kind: Literal["more_problems"] = "more_problems"
    count: NonNegativeInt
    lost: NonNegativeInt


class _Note(_Sent):
    kind: Literal["note"] = "note"
    what: NoteKind
    project: Line
    text: Annotated[str, Field(min_length=1, max_length=MAX_NOTES_CHARACTERS)]


class _Left(_Sent):
    kind: Literal["left"] = "left"
    what: LeftKind
    name: Line
    where: Line
    count: Annotated[int, Field(ge=1)]


class _MoreLeft(_Sent):
    kind: Literal["more_left"] = "more_left"
    what: LeftKind
    count: NonNegativeInt


class _UnknownFields(_Sent):
    kind: Literal["unknown"] = "unknown"
    names: Annotated[list[Line], Field(max_length=MAX_NAMES)]


Entry = Annotated[
    _Conversation
    | _Message
    | _End
    | _File
    | _Rating
    | _Profile
    | _Note
    | _Left
    | _MoreLeft
    | _Problem
    | _MoreProblems
    | _UnknownFields,
    Field(discriminator="kind"),
]


class Frame(_Sent):
    """One answer of a reader: how far it is, and what it has found since the last one.

    `items` are finished, `read_bytes` of `json_bytes` read. A check ends with the format and the number of
    conversations; either ends with `is_last`, or with a `refusal`, whose second part is a detail.
    """

    items: NonNegativeInt
    read_bytes: NonNegativeInt
    json_bytes: NonNegativeInt
    found: list[Entry] = []
    format: Format | None = None
    total: NonNegativeInt = 0
    refusal: tuple[Line, Line] | None = None
    is_last: bool = False


def encode(frame: Mapping[str, Any]) -> bytes:
    text = json.dumps(frame, ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", text).encode()


def decode(data: bytes) -> Frame:
    """Check a frame. Raises `Misread`."""
    try:
        return Frame.model_validate_json(data)
    except ValidationError as error:
        raise Misread from error


def entries_of(thing: Thing) -> Iterator[Mapping[str, Any]]:
    """Yield what is sent for something that was found; what is too long is cut."""
    match thing:
        case FoundConversation():
            yield {
                "kind": "conversation",
                "imported_id": thing.imported_id,
                "title": _cut(thing.title),
                "session_kind": _cut(thing.kind),
                "status": _cut(thing.status),
                "started_at": thing.started_at and thing.started_at.isoformat(),
                "where": _cut(thing.where),
            }
            yield from map(_message, thing.messages)
            yield {"kind": "end"}
        case FoundFile():
            yield {
                "kind": "file",
                "path": _cut(thing.path),
                "content": thing.content,
                "updated_at": thing.updated_at.isoformat(),
                "where": _cut(thing.where),
            }
        case FoundRating():
            yield {
                "kind": "rating",
                "domain": thing.domain,
                "rating": thing.rating,
                "rated_at": thing.rated_at.isoformat(),
                "where": _cut(thing.where),
            }
        case FoundProfile():
            yield {
                "kind": "profile",
                "name": _cut(thing.name),
                "timezone": _cut(thing.timezone),
                "where": _cut(thing.where),
            }
        case FoundNote() | LeftBehind() | MoreLeftBehind():
            yield _beside(thing)
        case Problem():
            yield {
                "kind": "problem",
                "where": _cut(thing.where),
                "text": _cut(thing.text),
                "is_lost": thing.is_lost,
            }
        case MoreProblems():
            yield {"kind": "more_problems", "count": thing.count, "lost": thing.lost}
        case UnknownFields():
            yield {"kind": "unknown", "names": sorted(map(_cut, thing.names))[:MAX_NAMES]}


def _beside(thing: FoundNote | LeftBehind | MoreLeftBehind) -> Mapping[str, Any]:
    match thing:
        case FoundNote():
            return {"kind": "note", "what": thing.kind, "project": _cut(thing.project), "text": thing.text}
        case LeftBehind():
            return {
                "kind": "left",
                "what": thing.kind,
                "name": _cut(thing.name),
                "where": _cut(thing.where),
                "count": thing.count,
            }
        case MoreLeftBehind():
            return {"kind": "more_left", "what": thing.kind, "count": thing.count}


def _message(message: FoundMessage) -> Mapping[str, Any]:
    return {
        "kind": "message",
        "imported_id": message.imported_id,
        "role": message.role,
        "text": message.text[: MAX_MESSAGE_CHARACTERS + 1],
        "created_at": message.created_at and message.created_at.isoformat(),
        "metadata": _small(message.metadata),
        "shorter": message.shorter if len(_ending(message)) <= MAX_ENDING_CHARACTERS else None,
    }


def _ending(message: FoundMessage) -> str:
    return message.shorter[1] if message.shorter else ""


def _small(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message's metadata, nothing where they are large or no database takes them."""
    if not metadata:
        return {}
    try:
        is_small = len(json.dumps(metadata, allow_nan=False)) <= MAX_METADATA_CHARACTERS
    except ValueError:
        return {}
    return metadata if is_small else {}


def _cut(text: str) -> str:
    return text[:1_000]


class Assembly:
    """Puts conversations together again."""

    def __init__(self) -> None:
        self._open: _Conversation | None = None
        self._messages: list[FoundMessage] = []
        self._characters = 0

    def take(self, entries: Sequence[Entry]) -> Iterator[Thing]:
        """Yield what is complete with these entries. Raises `Misread`."""
        for entry in entries:
            if isinstance(entry, _Message):
                self._add(entry)
            elif isinstance(entry, _End):
                yield self._closed()
            elif self._open is not None:
                raise Misread
            elif isinstance(entry, _Conversation):
                self._open, self._messages, self._characters = entry, [], 0
            else:
                yield _thing(entry)

    def _add(self, sent: _Message) -> None:
        self._characters += len(sent.text) + 1
        if self._open is None or self._characters > MAX_ITEM_BYTES:
            raise Misread
        self._messages.append(
            FoundMessage(
                imported_id=sent.imported_id,
                role=sent.role,
                text=sent.text,
                created_at=sent.created_at,
                metadata=sent.metadata,
                shorter=sent.shorter,
            )
        )

    def _closed(self) -> FoundConversation:
        if self._open is None:
            raise Misread
        opened, self._open = self._open, None
        return FoundConversation(
            imported_id=opened.imported_id,
            kind=opened.session_kind,
            status=opened.status,
            title=opened.title,
            started_at=opened.started_at,
            messages=self._messages,
            where=opened.where,
        )


def _thing(
    sent: _File | _Rating | _Profile | _Note | _Left | _MoreLeft | _Problem | _MoreProblems | _UnknownFields,
) -> Thing:
    match sent:
        case _File(path=path, content=content, updated_at=updated_at, where=where):
            return FoundFile(path=path, content=content, updated_at=updated_at, where=where)
        case _Rating(domain=domain, rating=rating, rated_at=rated_at, where=where):
            return FoundRating(domain=domain, rating=rating, rated_at=rated_at, where=where)
        case _Profile(name=name, timezone=timezone, where=where):
            return FoundProfile(name=name, timezone=timezone, where=where)
        case _Note(what=what, project=project, text=text):
            return FoundNote(kind=what, project=project, text=text)
        case _Left(what=what, name=name, where=where, count=count):
            return LeftBehind(kind=what, name=name, where=where, count=count)
        case _MoreLeft(what=what, count=count):
            return MoreLeftBehind(kind=what, count=count)
        case _Problem(where=where, text=text, is_lost=is_lost):
            return Problem(where=where, text=text, is_lost=is_lost)
        case _MoreProblems(count=count, lost=lost):
            return MoreProblems(count=count, lost=lost)
        case _UnknownFields(names=names):
            return UnknownFields(names=frozenset(names))
