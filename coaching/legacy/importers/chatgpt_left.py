"""What a conversation of a ChatGPT export has besides the words that are imported."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from coaching.legacy.importers.left import LeftBehind
from coaching.legacy.importers.things import id_of, list_of, mapping_of, text_of

Message = Mapping[str, Any]

PICTURE = "image_asset_pointer"
SOUNDS = frozenset(
    {
        "audio_asset_pointer",
        "real_time_user_audio_video_asset_pointer",
        "video_container_asset_pointer",
    }
)
_NOTES = frozenset({"user_editable_context", "model_editable_context"})
_THINKING = frozenset({"thoughts", "reasoning_recap"})
_SPEAKERS = ("user", "assistant")
_SHOWN_CALL = "canmore."
"""Documents of the canvas are imported."""


def left_in(
    conversation: Mapping[str, Any],
    shown: Sequence[Mapping[str, Any]],
    where: str,
    *,
    is_said: Callable[[Message], bool],
) -> Iterator[LeftBehind]:
    """Yield what isn't imported of a conversation, given the nodes of the branch that was shown.

    `is_said` says whether a message has words that were shown.
    """
    kept = {id(node) for node in shown}
    others = [mapping_of(node) for node in conversation["mapping"].values() if id(node) not in kept]
    said = sum(is_said(mapping_of(node.get("message"))) for node in others)
    if said:
        yield LeftBehind(kind="branch", name=where, count=said)
    for node in shown:
        yield from _steps(node["message"])
        yield from _media(node["message"], where)


def _steps(message: Message) -> Iterator[LeftBehind]:
    """Yield a message that is no part of what was said: a call, a result, thinking."""
    author, recipient = mapping_of(message.get("author")), message.get("recipient")
    kind = text_of(mapping_of(message.get("content")).get("content_type"))
    if kind in _NOTES:
        return
    if kind in _THINKING:
        yield LeftBehind(kind="thinking", name=kind)
    elif author.get("role") not in _SPEAKERS:
        parts = list_of(mapping_of(message.get("content")).get("parts"))
        if author.get("role") == "tool" or any(map(text_of, parts)):
            yield LeftBehind(kind="tool", name=text_of(author.get("name")) or text_of(author.get("role")))
    elif recipient not in (None, "all") and not text_of(recipient).startswith(_SHOWN_CALL):
        yield LeftBehind(kind="tool", name=text_of(recipient) or "?")


def _media(message: Message, where: str) -> Iterator[LeftBehind]:
    """Yield the pictures, recordings and files of a message."""
    attachments = [
        mapping_of(each) for each in list_of(mapping_of(message.get("metadata")).get("attachments"))
    ]
    names = {id_of(each.get("id")): text_of(each.get("name")) for each in attachments}
    pictured = set()
    for part in map(mapping_of, list_of(mapping_of(message.get("content")).get("parts"))):
        kind = text_of(part.get("content_type"))
        if kind == PICTURE:
            key = text_of(part.get("asset_pointer")).rpartition("/")[2]
            pictured.add(key)
            yield LeftBehind(kind="picture", name=names.get(key) or key or "?", where=where)
        elif kind in SOUNDS:
            yield LeftBehind(kind="voice", name=where)
    for each in attachments:
        if id_of(each.get("id")) not in pictured:
            is_picture = text_of(each.get("mime_type")).startswith("image/")
            name = text_of(each.get("name")) or id_of(each.get("id")) or "?"
            yield LeftBehind(kind="picture" if is_picture else "file", name=name, where=where)
