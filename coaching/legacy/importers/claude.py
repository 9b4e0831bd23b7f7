"""Reads `conversations.json` of a Claude export.

Newer exports have every branch of a conversation: `parent_message_uuid` leads from the newest message back
through the branch that was shown. Older ones are a list. Thinking and calls of tools are left out.
"""

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
    account chat_messages created_at current_leaf_message_uuid is_starred model name project
    project_uuid settings summary updated_at uuid
    """
)
_KNOWN_OF_MESSAGES = words(
    """
    attachments content created_at files files_v2 index input_mode parent_message_uuid sender
    stop_reason sync_sources text truncated updated_at uuid
    """
)
_KNOWN_BLOCKS = frozenset(
    {"text", "thinking", "redacted_thinking", "tool_use", "tool_result", "token_budget", "flag"}
)


class ClaudeAdapter:
    """Claude's export."""

    format = ImportFormat.CLAUDE

    def recognises(self, item: Item) -> bool:
        return isinstance(item.value, Mapping) and "chat_messages" in item.value

    def read(self, item: Item) -> Iterator[Thing]:
        """Yield the conversation that an item holds."""
        found = item.value
        if isinstance(found, Unreadable):
            yield too_large(item, found)
            return
        if not isinstance(found, Mapping) or not isinstance(found.get("chat_messages"), list):
            yield Problem(where=where_of(item), text=NOT_A_CONVERSATION)
            return
        imported_id = id_of(found.get("uuid"))
        if not imported_id:
            yield Problem(where=where_of(item), text=NO_ID)
            return
        said = _shown_branch(found)
        unknown = unknown_in(found, _KNOWN, "[]")
        for message in said:
            unknown |= unknown_in(message, _KNOWN_OF_MESSAGES, "[].chat_messages[]") | _unknown_blocks(
                message
            )
        if unknown:
            yield UnknownFields(names=unknown)
        yield FoundConversation(
            imported_id=imported_id,
            messages=[read for message in said if (read := _message(message)) is not None],
            title=text_of(found.get("name")),
            started_at=moment_of(found.get("created_at")),
            where=where_of(item),
        )


def _shown_branch(conversation: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the messages of the branch that was shown, in order."""
    messages = [message for message in conversation["chat_messages"] if isinstance(message, Mapping)]
    by_id = {id_of(message.get("uuid")): message for message in messages}
    if not any(id_of(message.get("parent_message_uuid")) in by_id for message in messages):
        return messages
    key = id_of(conversation.get("current_leaf_message_uuid"))
    if key not in by_id:
        key = id_of(messages[-1].get("uuid"))
    branch: list[Mapping[str, Any]] = []
    while (message := by_id.pop(key, None)) is not None:  # popped: a circle ends
        branch.append(message)
        key = id_of(message.get("parent_message_uuid"))
    return branch[::-1]


def _message(message: Mapping[str, Any]) -> FoundMessage | None:
    """Return a message as it was shown, None where it has no words."""
    imported_id, text = id_of(message.get("uuid")), _text(message)
    sender = message.get("sender")
    if sender not in ("human", "assistant") or not imported_id or not text.strip():
        return None
    return FoundMessage(
        imported_id=imported_id,
        role="user" if sender == "human" else "assistant",
        text=text,
        created_at=moment_of(message.get("created_at")),
    )


def _text(message: Mapping[str, Any]) -> str:
    texts = [text_of(block.get("text")) for block in _blocks(message) if block.get("type") == "text"]
    text = "\n\n".join(text for text in texts if text.strip()) or text_of(message.get("text"))
    names = [
        text_of(each.get("file_name"))
        for key in ("attachments", "files")
        for each in _mappings(message.get(key))
    ]
    attached = ", ".join(dict.fromkeys(name for name in names if name))
    return f"{text}\n\n(Attached: {attached})".strip() if attached else text


def _blocks(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return _mappings(message.get("content"))


def _unknown_blocks(message: Mapping[str, Any]) -> frozenset[str]:
    kinds = {str(block.get("type"))[:40] for block in _blocks(message)} - _KNOWN_BLOCKS
    return frozenset(f"[].chat_messages[].content of type {kind}" for kind in kinds)


def _mappings(value: object) -> Sequence[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else ()
