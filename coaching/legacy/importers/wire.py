"""What a process that reads an export sends to the one that stores it: JSON, bounded and checked.

The reader may have been taken over by the file, so each value has its type and its limit here. A conversation
is sent in parts, so that nothing holds up the other threads of the process that stores it, and so is a file;
`wire_entries` makes these parts, and `assembly` puts them together again.
"""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from coaching.legacy.importers.about import MAX_NOTES_CHARACTERS, NoteKind
from coaching.legacy.importers.bounded import MAX_TOKEN_BYTES
from coaching.legacy.importers.left import FileKind, LeftKind
from coaching.legacy.importers.things import (
    MAX_ENDING_CHARACTERS,
    MAX_ID_CHARACTERS,
    MAX_MESSAGE_CHARACTERS,
    MAX_NAMES,
    MAX_REFERENCES,
    Format,
)

FRAME_BYTES = 1 << 18
"""A frame is sent once it is as large; the largest holds a file more."""
MAX_FRAME_BYTES = FRAME_BYTES + 2 * MAX_TOKEN_BYTES
PIECE_BYTES = 1 << 17

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

Id = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS)]
OptionalId = Annotated[str, Field(max_length=MAX_ID_CHARACTERS)]
Line = Annotated[str, Field(max_length=1_000)]
"""A title, a place, a sentence."""
# One more than is stored, so that what was cut can be told.
Words = Annotated[str, Field(max_length=MAX_MESSAGE_CHARACTERS + 1)]


class Misread(Exception):
    """What a reader has sent makes no sense."""


class _Sent(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SentConversation(_Sent):
    kind: Literal["conversation"] = "conversation"
    imported_id: Id
    title: Line
    session_kind: Line
    status: Line
    started_at: AwareDatetime | None
    where: Line
    model: Line = ""
    project: Line = ""
    branch_of: OptionalId = ""


class SentMessage(_Sent):
    kind: Literal["message"] = "message"
    imported_id: Id
    role: Literal["user", "assistant"]
    text: Words
    created_at: AwareDatetime | None
    metadata: dict[str, Any]
    shorter: tuple[NonNegativeInt, Annotated[str, Field(max_length=MAX_ENDING_CHARACTERS)]] | None = None
    answers_to: OptionalId = ""


class SentEnd(_Sent):
    """A conversation has no more messages."""

    kind: Literal["end"] = "end"


class SentDocument(_Sent):
    """A file for the library, whose bytes follow in pieces."""

    kind: Literal["document"] = "document"
    name: Line
    what: FileKind
    project: Line
    where: Line
    messages: Annotated[list[tuple[Id, OptionalId]], Field(max_length=MAX_REFERENCES)]


class SentBytes(_Sent):
    kind: Literal["bytes"] = "bytes"
    data: Annotated[str, Field(max_length=2 * PIECE_BYTES)]


class SentDocumentEnd(_Sent):
    """A file is complete, or isn't taken; `name` and `what` are better ones that its bytes have shown."""

    kind: Literal["document_end"] = "document_end"
    refusal: Line = ""
    name: Line
    what: FileKind


class SentFile(_Sent):
    kind: Literal["file"] = "file"
    path: Line
    content: Annotated[str, Field(max_length=MAX_TOKEN_BYTES)]
    updated_at: AwareDatetime
    where: Line


class SentRating(_Sent):
    kind: Literal["rating"] = "rating"
    domain: Line
    rating: Annotated[int, Field(ge=1, le=5)]
    rated_at: AwareDatetime
    where: Line


class SentProfile(_Sent):
    kind: Literal["profile"] = "profile"
    name: Line
    timezone: Line
    where: Line


class SentProblem(_Sent):
    kind: Literal["problem"] = "problem"
    where: Line
    text: Line
    is_lost: bool


class SentMoreProblems(_Sent):
    kind: Literal["more_problems"] = "more_problems"
    count: NonNegativeInt
    lost: NonNegativeInt


class SentNote(_Sent):
    kind: Literal["note"] = "note"
    what: NoteKind
    project: Line
    text: Annotated[str, Field(min_length=1, max_length=MAX_NOTES_CHARACTERS)]


class SentLeft(_Sent):
    kind: Literal["left"] = "left"
    what: LeftKind
    name: Line
    where: Line
    count: Annotated[int, Field(ge=1)]
    why: Line = ""


class SentMoreLeft(_Sent):
    kind: Literal["more_left"] = "more_left"
    what: LeftKind
    count: NonNegativeInt


class SentUnknownFields(_Sent):
    kind: Literal["unknown"] = "unknown"
    names: Annotated[list[Line], Field(max_length=MAX_NAMES)]


Entry = Annotated[
    SentConversation
    | SentMessage
    | SentEnd
    | SentDocument
    | SentBytes
    | SentDocumentEnd
    | SentFile
    | SentRating
    | SentProfile
    | SentNote
    | SentLeft
    | SentMoreLeft
    | SentProblem
    | SentMoreProblems
    | SentUnknownFields,
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
