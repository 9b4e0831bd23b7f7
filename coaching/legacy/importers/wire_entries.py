"""What a reader of an export sends for each thing that it has found, cut to the limits of `wire`."""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from coaching.legacy.importers.about import FoundNote
from coaching.legacy.importers.left import FileKind, LeftBehind, MoreLeftBehind
from coaching.legacy.importers.things import (
    MAX_ENDING_CHARACTERS,
    MAX_MESSAGE_CHARACTERS,
    MAX_METADATA_CHARACTERS,
    MAX_NAMES,
    MAX_REFERENCES,
    FoundConversation,
    FoundDocument,
    FoundFile,
    FoundMessage,
    FoundProfile,
    FoundRating,
    MoreProblems,
    Problem,
    Thing,
    UnknownFields,
)
from coaching.legacy.importers.wire import PIECE_BYTES


def entries_of(thing: Thing) -> Iterator[Mapping[str, Any]]:
    """Yield what is sent for something that was found; what is too long is cut."""
    match thing:
        case FoundConversation():
            yield _conversation(thing)
            yield from map(_message, thing.messages)
            yield from map(_message, thing.answers)
            yield {"kind": "end"}
        case FoundDocument():
            yield begun(thing)
            yield from pieces(thing.data)
            yield ended(thing.name, thing.kind)
        case FoundFile():
            yield _file(thing)
        case FoundRating():
            yield _rating(thing)
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


def _conversation(found: FoundConversation) -> Mapping[str, Any]:
    """Return what is sent before the messages of a conversation."""
    return {
        "kind": "conversation",
        "imported_id": found.imported_id,
        "title": _cut(found.title),
        "session_kind": _cut(found.kind),
        "status": _cut(found.status),
        "started_at": found.started_at and found.started_at.isoformat(),
        "where": _cut(found.where),
        "model": _cut(found.model),
        "project": _cut(found.project),
        "branch_of": found.branch_of,
    }


def _file(found: FoundFile) -> Mapping[str, Any]:
    return {
        "kind": "file",
        "path": _cut(found.path),
        "content": found.content,
        "updated_at": found.updated_at.isoformat(),
        "where": _cut(found.where),
    }


def _rating(found: FoundRating) -> Mapping[str, Any]:
    return {
        "kind": "rating",
        "domain": found.domain,
        "rating": found.rating,
        "rated_at": found.rated_at.isoformat(),
        "where": _cut(found.where),
    }


def begun(document: FoundDocument) -> Mapping[str, Any]:
    """Return what is sent before the bytes of a file."""
    return {
        "kind": "document",
        "name": _cut(document.name),
        "what": document.kind,
        "project": _cut(document.project),
        "where": _cut(document.where),
        "messages": list(document.messages)[:MAX_REFERENCES],
    }


def pieces(data: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield bytes in pieces as they are sent."""
    for start in range(0, len(data), PIECE_BYTES):
        yield {"kind": "bytes", "data": b64encode(data[start : start + PIECE_BYTES]).decode()}


def ended(name: str, kind: FileKind, *, refusal: str = "") -> Mapping[str, Any]:
    """Return what is sent after the bytes of a file."""
    return {"kind": "document_end", "name": _cut(name), "what": kind, "refusal": refusal}


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
                "why": _cut(thing.why),
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
        "answers_to": message.answers_to,
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
