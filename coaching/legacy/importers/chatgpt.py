"""Reads `conversations.json` of a ChatGPT export.

A conversation is a tree: editing a message or asking again makes a branch. `current_node` is the last message
of the branch that was shown. Calls of tools, their results and hidden messages weren't shown, so they are
left out, but for pictures that were made and documents of the canvas, which are calls with JSON.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from coaching.legacy.importers.about import chatgpt_notes
from coaching.legacy.importers.bounded import Unreadable
from coaching.legacy.importers.chatgpt_left import PICTURE, SOUNDS, key_of, left_in
from coaching.legacy.importers.json_stream import Item
from coaching.legacy.importers.things import (
    CHANGED_DOCUMENT,
    NO_ID,
    NOT_A_CONVERSATION,
    Format,
    FoundConversation,
    FoundMessage,
    Problem,
    Thing,
    UnknownFields,
    id_of,
    in_markdown,
    list_of,
    mapping_of,
    moment_of,
    text_of,
    too_large,
    unknown_in,
    where_of,
    words,
)

_KNOWN = words(
    """
    async_status atlas_mode_enabled blocked_urls context_scopes conversation_id conversation_origin
    conversation_template_id create_time current_node default_model_slug disabled_tool_ids gizmo_id
    gizmo_type id is_archived is_do_not_remember is_read_only is_starred is_study_mode mapping
    memory_scope model_slug moderation_results owner pinned_time plugin_ids safe_urls sugar_item_id
    sugar_item_visible title update_time voice
    """
)
_KNOWN_OF_MESSAGES = words(
    """
    author channel content create_time end_turn id metadata recipient status update_time weight
    """
)
_NOT_SHOWN = words(
    """
    app_pairing_content code execution_output model_editable_context reasoning_recap sonic_webpage
    system_error tether_browsing_code tether_browsing_display tether_quote thoughts
    user_editable_context
    """
)
_SHOWN = frozenset({"text", "multimodal_text"})
_KNOWN_PARTS = {PICTURE, "audio_transcription", *SOUNDS}
_UNTITLED = "New chat"
_WHOLE_TEXT = ".*"
# What is between private characters is shown as a name, a link or the mark of a source. Marks of sources mean
# nothing without the page that they were shown on.
_MARK = re.compile("\ue200([^\ue200\ue201]*+)\ue201")
_SOURCE = re.compile(
    "\ue202turn\\d+[a-z]+\\d+|【[^】]{0,100}†[^】]{0,100}】|:contentReference\\[oaicite:\\d+\\]\\{index=\\d+\\}"
    '|:chatgpt-content-reference\\{index="\\d+"\\}|[\ue200-\ue206]'
)
# A draft, such as a mail, stands between two such lines.
_WRITING = re.compile(r"^:::(?:writing\{[^\n]*)?[ \t]*(?:\n|\Z)", re.MULTILINE)


class ChatGptAdapter:
    format: Format = "chatgpt"

    def recognises(self, item: Item) -> bool:
        return isinstance(item.value, Mapping) and "mapping" in item.value

    def read(self, item: Item) -> Iterator[Thing]:
        found = item.value
        if isinstance(found, Unreadable):
            yield too_large(item, found)
            return
        if not isinstance(found, Mapping) or not isinstance(found.get("mapping"), Mapping):
            yield Problem(where=where_of(item), text=NOT_A_CONVERSATION)
            return
        imported_id = id_of(found.get("conversation_id")) or id_of(found.get("id"))
        if not imported_id:
            yield Problem(where=where_of(item), text=NO_ID)
            return
        nodes = _shown_branch(found)
        unknown = unknown_in(found, _KNOWN, "[]")
        for node in nodes:
            unknown |= unknown_in(node["message"], _KNOWN_OF_MESSAGES, "[].mapping[].message")
            unknown |= _unknown_content(node["message"])
        if unknown:
            yield UnknownFields(names=unknown)
        if any(_is_partly_changed(node["message"]) for node in nodes):
            yield Problem(where=where_of(item), text=CHANGED_DOCUMENT, is_lost=False)
        title = text_of(found.get("title"))
        written_at = moment_of(found.get("create_time"))
        for node in nodes:
            yield from chatgpt_notes(node["message"], written_at)
        messages = list(_messages(nodes))
        taken = {message.imported_id for message in messages}
        yield from left_in(found, nodes, title or where_of(item), taken=taken, is_said=_is_said)
        yield FoundConversation(
            imported_id=imported_id,
            messages=messages,
            title="" if title == _UNTITLED else title,
            started_at=written_at,
            where=where_of(item),
        )


def _shown_branch(conversation: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the nodes with messages from the root to the current one."""
    mapping = conversation["mapping"]
    key: object = text_of(conversation.get("current_node"))
    if key not in mapping:
        key = _newest_leaf(mapping)
    branch: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while isinstance(key, str) and key not in seen and isinstance(node := mapping.get(key), Mapping):
        seen.add(key)
        if isinstance(node.get("message"), Mapping):
            branch.append(node)
        key = node.get("parent")
    return branch[::-1]


def _newest_leaf(mapping: Mapping[str, Any]) -> str | None:
    """Return the key of the leaf that was written last, for an export that names no current node."""
    leaves = [key for key, node in mapping.items() if isinstance(node, Mapping) and not node.get("children")]
    return max(reversed(leaves), key=lambda key: _written_at(mapping[key]), default=None)


def _written_at(node: Mapping[str, Any]) -> datetime:
    moment = moment_of(mapping_of(node.get("message")).get("create_time"))
    return moment or datetime.min.replace(tzinfo=UTC)


def _messages(nodes: Sequence[Mapping[str, Any]]) -> Iterator[FoundMessage]:
    canvas: Mapping[str, Any] = {}
    for node in nodes:
        message = node["message"]
        if mapping_of(message.get("metadata")).get("is_visually_hidden_from_conversation"):
            continue
        canvas, has_changed = _canvas_after(message, canvas)
        role = mapping_of(message.get("author")).get("role")
        text = _document(canvas) if has_changed else _text(message, role)
        imported_id = key_of(node)
        if text.strip() and imported_id:
            yield FoundMessage(
                imported_id=imported_id,
                role="user" if role == "user" else "assistant",
                text=text,
                created_at=moment_of(message.get("create_time")),
            )


def _is_said(message: Mapping[str, Any]) -> bool:
    role = mapping_of(message.get("author")).get("role")
    return role in ("user", "assistant") and bool(_text(message, role).strip())


def _text(message: Mapping[str, Any], role: object) -> str:
    metadata = mapping_of(message.get("metadata"))
    if role == "tool":
        return _pictures(message, metadata)
    if role not in ("user", "assistant") or message.get("recipient") not in (None, "all"):
        return ""
    names = [text_of(mapping_of(each).get("name")) for each in list_of(metadata.get("attachments"))]
    attached = ", ".join(filter(None, names))
    text = _words(mapping_of(message.get("content")))
    return f"{text}\n\n(Attached: {attached})".strip() if attached else text


def _words(content: Mapping[str, Any]) -> str:
    if _kind(content) not in _SHOWN:
        return ""
    parts = list_of(content.get("parts"))
    texts = [text for part in parts if (text := _part(part)).strip()]
    if not texts and any(_kind(part) in SOUNDS for part in parts):
        texts = ["(A voice message)"]
    text = _SOURCE.sub("", _MARK.sub(_shown, "\n\n".join(texts)))
    return _WRITING.sub("", text) if ":::writing{" in text else text


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    return "(An image)" if _kind(part) == PICTURE else text_of(mapping_of(part).get("text"))


def _shown(mark: re.Match[str]) -> str:
    kind, *values = mark[1].split("\ue202")
    first = values[0] if values else ""
    if kind == "url" and len(values) > 1:
        return f"[{first}]({values[1]})"
    if not kind.endswith("entity"):
        return ""
    try:
        named = json.loads(first)
    except (ValueError, RecursionError):
        return first
    return text_of(named[1]) if isinstance(named, list) and len(named) > 1 else ""


def _pictures(message: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """Return words for the pictures that a tool has made; others are pages that it has read."""
    title = text_of(metadata.get("image_gen_title"))
    parts = list_of(mapping_of(message.get("content")).get("parts"))
    pictures = [part for part in parts if _kind(part) == PICTURE]
    is_made = bool(title) or any(
        mapping_of(part.get("metadata")).keys() & {"dalle", "generation"} for part in pictures
    )
    shown = f"(An image: {title})" if title else "(An image)"
    return "\n\n".join([shown] * len(pictures)) if is_made else ""


def _canvas_after(message: Mapping[str, Any], before: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """Return the document in the canvas after a message, and whether the message has written it."""
    match message.get("recipient"):
        case "canmore.create_textdoc":
            return _canvas_call(message), True
        case "canmore.update_textdoc" if _is_rewritten(given := _canvas_call(message)):
            return {**before, "content": given["updates"][0].get("replacement")}, True
    return before, False


def _canvas_call(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON of a call, which is a text or the only part of one."""
    content = mapping_of(message.get("content"))
    texts = [content.get("text"), *list_of(content.get("parts"))]
    try:
        return mapping_of(json.loads("".join(map(text_of, texts))))
    except (ValueError, RecursionError):
        return {}


def _is_rewritten(given: Mapping[str, Any]) -> bool:
    updates = list_of(given.get("updates"))
    return len(updates) == 1 and mapping_of(updates[0]).get("pattern") == _WHOLE_TEXT


def _is_partly_changed(message: Mapping[str, Any]) -> bool:
    return message.get("recipient") == "canmore.update_textdoc" and not _is_rewritten(_canvas_call(message))


def _document(canvas: Mapping[str, Any]) -> str:
    kind, _, language = text_of(canvas.get("type")).partition("/")
    content = text_of(canvas.get("content"))
    shown_as = language if kind == "code" else None
    return in_markdown(text_of(canvas.get("name")), content, language=shown_as) if content.strip() else ""


def _unknown_content(message: Mapping[str, Any]) -> frozenset[str]:
    content = mapping_of(message.get("content"))
    where = "[].mapping[].message.content"
    if content and _kind(content) not in _SHOWN | _NOT_SHOWN:
        return frozenset({f"{where} of type {_kind(content)[:40]}"})
    kinds = {_kind(part) for part in list_of(content.get("parts")) if isinstance(part, Mapping)}
    return frozenset(f"{where}.parts of type {kind[:40]}" for kind in kinds - _KNOWN_PARTS)


def _kind(value: object) -> str:
    return text_of(mapping_of(value).get("content_type"))
