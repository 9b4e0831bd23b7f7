"""What a conversation of a Claude export has besides the words that are imported."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from coaching.legacy.importers.cited import cited_in
from coaching.legacy.importers.left import NOT_IN_EXPORT, FileKind, LeftBehind
from coaching.legacy.importers.things import id_of, mapping_of, mappings_of, text_of

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic")
_THINKING = ("thinking", "redacted_thinking")


def left_in(
    conversation: Mapping[str, Any],
    shown: Sequence[Mapping[str, Any]],
    where: str,
    *,
    is_document: Callable[[Mapping[str, Any]], bool],
) -> Iterator[LeftBehind]:
    """Yield what isn't imported of a conversation, given the messages that were read.

    `is_document` says whether a call has written a document that is imported.
    """
    if text_of(conversation.get("summary")).strip():
        yield LeftBehind(kind="summary", name=where)
    blocks = [block for message in shown for block in mappings_of(message.get("content"))]
    calls = [block for block in blocks if block.get("type") == "tool_use" and not is_document(block)]
    called = {text_of(block.get("name")) for block in calls}
    left = set(map(id, calls))
    for message in shown:
        said = mappings_of(message.get("content"))
        yield from _sources(message, where)
        yield from cited_in([each.get("citations") for each in said if each.get("type") == "text"], where)
        for block in said:
            name = text_of(block.get("name"))
            is_result = block.get("type") == "tool_result" and bool(block.get("content"))
            if id(block) in left or (is_result and name not in called and (name or not called)):
                yield LeftBehind(kind="tool", name=name or "?")
            elif block.get("type") in _THINKING:
                yield LeftBehind(kind="thinking", name=text_of(block.get("type")))


def _sources(message: Mapping[str, Any], where: str) -> Iterator[LeftBehind]:
    """Yield files that aren't in `files`: newer ones, and those of connected services."""
    if not message.get("files"):
        for each in mappings_of(message.get("files_v2")):
            yield left_file(text_of(each.get("file_name")) or id_of(each.get("file_uuid")) or "?", where)
    for each in mappings_of(message.get("sync_sources")):
        config = mapping_of(each.get("config"))
        names = [text_of(config.get("name")), text_of(each.get("name")), text_of(each.get("type")), "?"]
        yield LeftBehind(kind="file", name=next(filter(None, names)), where=where)


def left_file(name: str, where: str) -> LeftBehind:
    """Return a file of a message that stands there only by its name."""
    return LeftBehind(kind=kind_of_file(name), name=name, where=where, why=NOT_IN_EXPORT)


def kind_of_file(name: str) -> FileKind:
    """Return what a file is by its name."""
    return "picture" if name.lower().endswith(_PICTURES) else "file"
