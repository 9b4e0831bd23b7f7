"""What a conversation of a ChatGPT export has besides the words that are imported."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coaching.legacy.importers.branches import Divided
from coaching.legacy.importers.cited import cited_in
from coaching.legacy.importers.left import FileKind, LeftBehind
from coaching.legacy.importers.things import FoundReference, id_of, list_of, mapping_of, text_of

Message = Mapping[str, Any]

PICTURE = "image_asset_pointer"
SOUNDS = frozenset(
    {
        "audio_asset_pointer",
        "real_time_user_audio_video_asset_pointer",
        "video_container_asset_pointer",
    }
)
SHOWN = frozenset({"text", "multimodal_text"})
_NOTES = frozenset({"user_editable_context", "model_editable_context"})
_THINKING = frozenset({"thoughts", "reasoning_recap"})
_CITED = ("citations", "content_references")
_SPEAKERS = ("user", "assistant")
MAX_TITLE_CHARACTERS = 80
FILE_KEY = re.compile(r"file[-_][A-Za-z0-9]+")
"""What a file is called in the pointers of messages, and at the beginning of its name in the ZIP."""


def key_of(node: Mapping[str, Any]) -> str:
    """Return the id of a node's message, empty where it has none."""
    return id_of(node["message"].get("id")) or id_of(node.get("id"))


def left_in(
    conversation: str, nodes: Sequence[Mapping[str, Any]], where: str, *, divided: Divided
) -> Iterator[LeftBehind | FoundReference]:
    """Yield what isn't imported of a conversation's nodes, and which files its messages name."""
    if divided.left:
        yield LeftBehind(kind="branch", name=where, count=divided.left)
    taken, placed = divided.taken_ids, {*divided.taken_ids, *divided.left_ids}
    others = [node for node in nodes if key_of(node) not in placed]
    called = frozenset(_recipient(node["message"]) for node in others) - {""}
    for node in others:
        yield from _not_taken(node["message"], where, called=called)
    for node in nodes:
        key = key_of(node)
        if key in taken:
            metadata = mapping_of(node["message"].get("metadata"))
            yield from cited_in(
                [metadata.get(field) for field in _CITED], where, found=metadata.get("search_result_groups")
            )
        message = divided.joined.get(key, key) if key in taken else ""
        for name, kind, pointer in _media(node["message"], where):
            yield FoundReference(
                key=pointer, name=name, kind=kind, conversation=conversation, message=message, where=where
            )


def _not_taken(message: Message, where: str, *, called: frozenset[str]) -> Iterator[LeftBehind]:
    """Yield a message that isn't imported; results of calls stand for nothing but their calls."""
    author, content = mapping_of(message.get("author")), mapping_of(message.get("content"))
    role, kind, name = author.get("role"), text_of(content.get("content_type")), text_of(author.get("name"))
    if kind in _NOTES:
        return
    if kind in _THINKING:
        yield LeftBehind(kind="thinking", name=kind)
    elif role == "tool":
        if called.isdisjoint((name, name.partition(".")[0])) and (name or not called):
            yield LeftBehind(kind="tool", name=name or kind or "?")
    elif role in _SPEAKERS and (tool := _recipient(message)):
        yield LeftBehind(kind="tool", name=tool)
    elif (role not in _SPEAKERS or kind in SHOWN) and any(map(_words_of, list_of(content.get("parts")))):
        yield LeftBehind(kind="message", name=where)
    elif role in _SPEAKERS and kind and kind not in SHOWN:
        yield LeftBehind(kind="tool", name=kind)


def _words_of(part: object) -> str:
    return (text_of(part) or text_of(mapping_of(part).get("text"))).strip()


def _recipient(message: Message) -> str:
    """Return the tool that a message calls, empty for one to everybody."""
    recipient = message.get("recipient")
    return "" if recipient in (None, "all") else text_of(recipient) or "?"


def _media(message: Message, where: str) -> Iterator[tuple[str, FileKind, str]]:
    """Yield name, kind and key of a message's pictures, recordings and files; a recording may have no key."""
    attachments = [
        mapping_of(each) for each in list_of(mapping_of(message.get("metadata")).get("attachments"))
    ]
    names = {_key_in(each.get("id")): text_of(each.get("name")) for each in attachments}
    pictured = set()
    for part in map(mapping_of, list_of(mapping_of(message.get("content")).get("parts"))):
        kind = text_of(part.get("content_type"))
        if kind == PICTURE:
            key = _key_in(part.get("asset_pointer"))
            pictured.add(key)
            yield names.get(key) or _title_of(message, part) or key or "?", "picture", key
        elif kind in SOUNDS:
            yield from ((where, "voice", key) for key in _sounds_in(part))
    result = mapping_of(mapping_of(message.get("metadata")).get("aggregate_result"))
    for each in map(mapping_of, list_of(result.get("messages"))):
        if key := _key_in(each.get("image_url")):
            yield names.get(key) or key, "picture", key
    for each in attachments:
        key = _key_in(each.get("id"))
        if key not in pictured:
            is_picture = text_of(each.get("mime_type")).startswith("image/")
            yield text_of(each.get("name")) or key or "?", "picture" if is_picture else "file", key


def _title_of(message: Message, part: Mapping[str, Any]) -> str:
    """Return the title of a picture that was made, or the first of the words that it was made by."""
    dalle = mapping_of(mapping_of(part.get("metadata")).get("dalle"))
    title = text_of(mapping_of(message.get("metadata")).get("image_gen_title")) or text_of(
        dalle.get("prompt")
    )
    return " ".join(title.split()).partition(". ")[0][:MAX_TITLE_CHARACTERS].strip(" .")


def _sounds_in(part: Mapping[str, Any]) -> Sequence[str]:
    """Return the keys of the recordings in a part; one that is empty where there are none."""
    inside = [part, *map(mapping_of, part.values())]
    pointers = [each.get("asset_pointer") for each in inside]
    pointers += [part.get("video_container_asset_pointer"), *list_of(part.get("frames_asset_pointers"))]
    return [*dict.fromkeys(filter(None, map(_key_in, pointers)))] or [""]


def _key_in(pointer: object) -> str:
    """Return a file's key, which is the last one in a pointer such as `sediment://file_1#p_0`."""
    text = id_of(pointer)
    return next(reversed(FILE_KEY.findall(text)), text.rpartition("/")[2])
