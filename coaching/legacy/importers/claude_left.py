"""What a conversation of a Claude export has besides the words that are imported."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from coaching.legacy.importers.left import LeftBehind
from coaching.legacy.importers.things import mappings_of, text_of

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic")
_THINKING = ("thinking", "redacted_thinking")


def left_in(
    conversation: Mapping[str, Any],
    shown: Sequence[Mapping[str, Any]],
    where: str,
    *,
    is_document: Callable[[Mapping[str, Any]], bool],
) -> Iterator[LeftBehind]:
    """Yield what isn't imported of a conversation, given the messages of the branch that was shown.

    `is_document` says whether a call has written a document that is imported.
    """
    kept = {id(message) for message in shown}
    others = [each for each in mappings_of(conversation["chat_messages"]) if id(each) not in kept]
    said = sum(bool(text_of(each.get("text")).strip() or each.get("content")) for each in others)
    if said:
        yield LeftBehind(kind="branch", name=where, count=said)
    for message in shown:
        for block in mappings_of(message.get("content")):
            if block.get("type") == "tool_use" and not is_document(block):
                yield LeftBehind(kind="tool", name=text_of(block.get("name")) or "?")
            elif block.get("type") in _THINKING:
                yield LeftBehind(kind="thinking", name=text_of(block.get("type")))


def left_file(name: str, where: str) -> LeftBehind:
    """Return a file of a message that stands there only by its name."""
    is_picture = name.lower().endswith(_PICTURES)
    return LeftBehind(kind="picture" if is_picture else "file", name=name, where=where)
