"""What a conversation of a ChatGPT export has besides the words that are imported."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
_SHOWN = frozenset({"text", "multimodal_text"})


def key_of(node: Mapping[str, Any]) -> str:
    """Return the id of a node's message, empty where it has none."""
    return id_of(node["message"].get("id")) or id_of(node.get("id"))


def left_in(
    conversation: Mapping[str, Any],
    shown: Sequence[Mapping[str, Any]],
    where: str,
    *,
    taken: Collection[str],
    is_said: Callable[[Message], bool],
) -> Iterator[LeftBehind]:
    """Yield what isn't imported of a conversation, given the nodes of the branch that was shown.

    `taken` are the keys of those that are imported. `is_said` says whether a message has words that were
    shown.
    """
    kept = {id(node) for node in shown}
    others = [mapping_of(node) for node in conversation["mapping"].values() if id(node) not in kept]
    said = sum(is_said(mapping_of(node.get("message"))) for node in others)
    if said:
        yield LeftBehind(kind="branch", name=where, count=said)
    called = {_root(_recipient(node["message"])) for node in shown}
    for node in shown:
        if key_of(node) not in taken:
            yield from _not_taken(node["message"], where, called=called, is_said=is_said)
        yield from _media(node["message"], where)


def _not_taken(
    message: Message, where: str, *, called: Collection[str], is_said: Callable[[Message], bool]
) -> Iterator[LeftBehind]:
    """Yield a message that isn't imported; results of calls stand for nothing but their calls."""
    author, content = mapping_of(message.get("author")), mapping_of(message.get("content"))
    role, kind, name = author.get("role"), text_of(content.get("content_type")), text_of(author.get("name"))
    if kind in _NOTES:
        return
    if kind in _THINKING:
        yield LeftBehind(kind="thinking", name=kind)
    elif role == "tool":
        if name and _root(name) not in called:
            yield LeftBehind(kind="tool", name=name)
    elif role in _SPEAKERS and (tool := _recipient(message)):
        yield LeftBehind(kind="tool", name=tool)
    elif is_said(message) or (role not in _SPEAKERS and any(map(text_of, list_of(content.get("parts"))))):
        yield LeftBehind(kind="message", name=where)
    elif role in _SPEAKERS and kind and kind not in _SHOWN:
        yield LeftBehind(kind="tool", name=kind)


def _recipient(message: Message) -> str:
    """Return the tool that a message calls, empty for one to everybody."""
    recipient = message.get("recipient")
    return "" if recipient in (None, "all") else text_of(recipient) or "?"


def _root(tool: str) -> str:
    return tool.partition(".")[0]


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
