"""Reads `conversations.json` of a ChatGPT export.

A conversation is a tree: editing a message or asking again makes a branch. `current_node` is the last message
of the branch that was shown. Calls of tools, their results and hidden messages weren't shown, so they are
left out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coaching.legacy.importers.json_stream import Item, Unreadable
from coaching.legacy.importers.things import (
    NO_ID,
    NOT_A_CONVERSATION,
    FoundConversation,
    FoundMessage,
    Problem,
    Thing,
    UnknownFields,
    id_of,
    moment_of,
    text_of,
    too_large,
    unknown_in,
    where_of,
    words,
)
from coaching.models import ImportFormat

_KNOWN = words(
    """
    async_status atlas_mode_enabled blocked_urls context_scopes conversation_id conversation_origin
    conversation_template_id create_time current_node default_model_slug disabled_tool_ids gizmo_id
    gizmo_type id is_archived is_do_not_remember is_read_only is_starred is_study_mode mapping
    memory_scope moderation_results owner pinned_time plugin_ids safe_urls sugar_item_id
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
# Marks of sources, which mean nothing without the page that they were shown on.
_CITATION = re.compile("\ue200[^\ue201]{0,500}\ue201|【[^】]{0,100}†[^】]{0,100}】")


class ChatGptAdapter:
    """ChatGPT's export."""

    format = ImportFormat.CHATGPT

    def recognises(self, item: Item) -> bool:
        return isinstance(item.value, Mapping) and "mapping" in item.value

    def read(self, item: Item) -> Iterator[Thing]:
        """Yield the conversation that an item holds."""
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
        messages = [message for node in nodes if (message := _message(node)) is not None]
        yield FoundConversation(
            imported_id=imported_id,
            messages=messages,
            title=text_of(found.get("title")),
            started_at=moment_of(found.get("create_time")),
            where=where_of(item),
        )


def _shown_branch(conversation: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the nodes with messages from the root to the current one."""
    mapping = conversation["mapping"]
    key = conversation.get("current_node")
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
    newest, newest_time = None, -1.0
    for key, node in mapping.items():
        if not isinstance(node, Mapping) or node.get("children"):
            continue
        message = node.get("message")
        written = message.get("create_time") if isinstance(message, Mapping) else None
        time = float(written) if isinstance(written, int | float) else 0.0
        if time >= newest_time:
            newest, newest_time = key, time
    return newest


def _message(node: Mapping[str, Any]) -> FoundMessage | None:
    """Return a node's message as it was shown, None where it wasn't."""
    message = node["message"]
    author, metadata = _mapping(message.get("author")), _mapping(message.get("metadata"))
    role = author.get("role")
    if role not in ("user", "assistant") or metadata.get("is_visually_hidden_from_conversation"):
        return None
    if message.get("recipient") not in (None, "all"):
        return None
    text = _text(_mapping(message.get("content")))
    names = [text_of(_mapping(each).get("name")) for each in _list(metadata.get("attachments"))]
    attached = ", ".join(name for name in names if name)
    if attached:
        text = f"{text}\n\n(Attached: {attached})".strip()
    imported_id = id_of(message.get("id")) or id_of(node.get("id"))
    if not text.strip() or not imported_id:
        return None
    return FoundMessage(
        imported_id=imported_id,
        role="user" if role == "user" else "assistant",
        text=text,
        created_at=moment_of(message.get("create_time")),
    )


def _text(content: Mapping[str, Any]) -> str:
    if content.get("content_type") not in ("text", "multimodal_text"):
        return ""
    parts = [_part(part) for part in _list(content.get("parts"))]
    return _CITATION.sub("", "\n\n".join(part for part in parts if part.strip()))


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    kind = _mapping(part).get("content_type")
    if kind == "audio_transcription":
        return text_of(_mapping(part).get("text"))
    return "(An image)" if kind == "image_asset_pointer" else ""


def _unknown_content(message: Mapping[str, Any]) -> frozenset[str]:
    kind = _mapping(message.get("content")).get("content_type")
    is_known = kind in _NOT_SHOWN or kind in ("text", "multimodal_text", None)
    return frozenset() if is_known else frozenset({f"[].mapping[].message.content of type {str(kind)[:40]}"})


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
