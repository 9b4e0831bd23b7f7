"""Reads an export's ZIP without any of the product's readers, and says what of it is nowhere to be found.

Every text with words in every JSON file of the ZIP, and every file of it, must be stored or be named among
what was left behind.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib.auth.models import User

from coaching.files.objects import open_object
from coaching.models import Document, Import
from sessions_app.models import Message, Session

Place = tuple[Any, ...]


def missing_of(data: bytes, user: User) -> list[str]:
    """Return the texts and files of a ZIP that were neither imported nor named."""
    left = [each for row in Import.of(user.pk) for kind in row.left_behind.values() for each in kind["named"]]
    names = {text for each in left for text in (each["name"], each["where"])}
    stored, digests = _stored(user)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    missing = []
    for member, content in members.items():
        if member in names:
            continue
        if member.endswith(".json"):
            missing += [f"{member}: {text}" for text in _lost(json.loads(content), stored, names)]
        elif hashlib.sha256(content).hexdigest() not in digests and not _is_named(member, names):
            missing.append(member)
    return missing


def _stored(user: User) -> tuple[str, set[str]]:
    """Return all words that are stored, and the digests of all documents."""
    words = [
        *Message.of(user.pk).values_list("content", flat=True),
        *Session.of(user.pk).values_list("title", flat=True),
        *(note["text"] for row in Import.of(user.pk) for note in row.about.get("notes", ())),
        *(note["project"] for row in Import.of(user.pk) for note in row.about.get("notes", ())),
        *Document.of(user.pk).values_list("name", flat=True),
    ]
    digests = set()
    for document in Document.of(user.pk).exclude(storage_key=None):
        with open_object(document.storage_key or "") as file:
            data = file.read()
        digests.add(hashlib.sha256(data).hexdigest())
        words.append(data.decode(errors="replace"))
    return "\n".join(words), digests


def _lost(value: object, stored: str, names: set[str]) -> Iterator[str]:
    for path, text in _texts(value, ()):
        is_found = (
            text.strip().strip(".") in stored or text in names or bool(names & set(_named_by(value, path)))
        )
        if not is_found and (inside := _json_in(text)) is not None:
            yield from _lost(inside, stored, names)
        elif not is_found:
            yield text


def _texts(value: object, path: Place) -> Iterator[tuple[Place, str]]:
    """Yield all texts of more than one word with their places."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _texts(each, (*path, key))
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from _texts(each, (*path, place))
    elif isinstance(value, str) and len(value.split()) > 1:
        yield path, value


def _json_in(text: str) -> object:
    try:
        return json.loads(text) if text[:1] in "[{" else None
    except ValueError:
        return None


def _named_by(value: Any, path: Place) -> Iterator[str]:
    """Yield the names under which something at a place may be listed: of its tool, or its kind."""
    for key in path:
        if key == "summary":
            yield value.get("name")
        value = value[key]
        if not isinstance(value, Mapping):
            continue
        author, content = value.get("author"), value.get("content")
        kind = value.get("content_type") or (
            content.get("content_type") if isinstance(content, Mapping) else ""
        )
        if kind in ("thoughts", "code"):
            yield kind
        if isinstance(author, Mapping) and author.get("role") == "tool":
            yield author.get("name") or ""
            yield (author.get("name") or "").partition(".")[0]
        if value.get("recipient") not in (None, "all"):
            yield value["recipient"]
        if value.get("type") in ("thinking", "tool_use", "tool_result"):
            yield value.get("name") or value["type"]


def _is_named(member: str, names: set[str]) -> bool:
    last = member.rpartition("/")[2]
    return last in names or any(name and last.endswith(name) for name in names)
