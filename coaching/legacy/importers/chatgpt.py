"""Reads `conversations.json` of a ChatGPT export.

A conversation is a tree: editing a message or asking again makes a branch. `current_node` is the last message
of the branch that was shown; of the others, `branches` makes other answers and conversations of their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from coaching.legacy.importers.about import chatgpt_notes
from coaching.legacy.importers.bounded import Unreadable
from coaching.legacy.importers.branches import Branch, Divided, Tree, branch_id, divide
from coaching.legacy.importers.chatgpt_left import PICTURE, SHOWN, SOUNDS, left_in
from coaching.legacy.importers.chatgpt_words import Reader, is_partly_changed, kind_of
from coaching.legacy.importers.json_stream import Item
from coaching.legacy.importers.things import (
    CHANGED_DOCUMENT,
    NO_ID,
    NOT_A_CONVERSATION,
    Format,
    FoundConversation,
    Problem,
    Thing,
    UnknownFields,
    id_of,
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
_KNOWN_PARTS = {PICTURE, "audio_transcription", *SOUNDS}
_UNTITLED = "New chat"


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
        mapping = found["mapping"]
        divided = divide(_tree_of(found), Reader(mapping).message)
        nodes = [mapping[key] for key in divided.nodes if mapping_of(mapping[key].get("message"))]
        yield from _reports(item, found, nodes)
        title = text_of(found.get("title"))
        written_at = moment_of(found.get("create_time"))
        for node in nodes:
            yield from chatgpt_notes(node["message"], written_at)
        yield from left_in(imported_id, nodes, title or where_of(item), divided=divided)
        yield from _Conversation(
            imported_id=imported_id,
            where=where_of(item),
            title="" if title == _UNTITLED else title,
            started_at=written_at,
            model=_model_of(found, nodes),
            project=_project_of(found),
        ).all(divided)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Conversation:
    """What all branches of a conversation share."""

    imported_id: str
    where: str
    title: str
    started_at: datetime | None
    model: str
    project: str

    def all(self, divided: Divided) -> Iterator[FoundConversation]:
        yield self._made(divided.main, self.imported_id)
        for first, branch in divided.others.items():
            yield self._made(branch, branch_id(self.imported_id, first), branch_of=self.imported_id)

    def _made(self, branch: Branch, imported_id: str, *, branch_of: str = "") -> FoundConversation:
        return FoundConversation(
            imported_id=imported_id,
            messages=branch.messages,
            answers=branch.answers,
            title=self.title,
            started_at=None if branch_of else self.started_at,
            where=self.where,
            model=self.model,
            project=self.project,
            branch_of=branch_of,
        )


def _tree_of(conversation: Mapping[str, Any]) -> Tree:
    mapping = conversation["mapping"]
    parents = {
        key: parent if isinstance(parent := node.get("parent"), str) else None
        for key, node in mapping.items()
        if isinstance(node, Mapping)
    }
    return Tree(
        parents=parents, shown=_shown_branch(conversation), written_at=lambda key: _written_at(mapping[key])
    )


def _shown_branch(conversation: Mapping[str, Any]) -> Sequence[str]:
    """Return the keys of the nodes from the root to the current one."""
    mapping = conversation["mapping"]
    key: object = text_of(conversation.get("current_node"))
    if key not in mapping:
        key = _newest_leaf(mapping)
    branch: dict[str, None] = {}
    while isinstance(key, str) and key not in branch and isinstance(node := mapping.get(key), Mapping):
        branch[key] = None
        key = node.get("parent")
    return [*branch][::-1]


def _newest_leaf(mapping: Mapping[str, Any]) -> str | None:
    """Return the key of the leaf that was written last, for an export that names no current node."""
    leaves = [key for key, node in mapping.items() if isinstance(node, Mapping) and not node.get("children")]
    return max(reversed(leaves), key=lambda key: _written_at(mapping[key]), default=None)


def _written_at(node: Mapping[str, Any]) -> datetime:
    moment = moment_of(mapping_of(node.get("message")).get("create_time"))
    return moment or datetime.min.replace(tzinfo=UTC)


def _model_of(conversation: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of the model that answered last, as far as the export says."""
    slugs = [text_of(mapping_of(node["message"].get("metadata")).get("model_slug")) for node in nodes]
    return next(filter(None, reversed(slugs)), text_of(conversation.get("default_model_slug")))


def _project_of(conversation: Mapping[str, Any]) -> str:
    """Return the id of a project or a custom GPT, whose name no export has."""
    return id_of(conversation.get("gizmo_id")) or id_of(conversation.get("conversation_template_id"))


def _reports(
    item: Item, conversation: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]
) -> Iterator[UnknownFields | Problem]:
    unknown = unknown_in(conversation, _KNOWN, "[]")
    for node in nodes:
        unknown |= unknown_in(node["message"], _KNOWN_OF_MESSAGES, "[].mapping[].message")
        unknown |= _unknown_content(node["message"])
    if unknown:
        yield UnknownFields(names=unknown)
    if any(is_partly_changed(node["message"]) for node in nodes):
        yield Problem(where=where_of(item), text=CHANGED_DOCUMENT, is_lost=False)


def _unknown_content(message: Mapping[str, Any]) -> frozenset[str]:
    content = mapping_of(message.get("content"))
    where = "[].mapping[].message.content"
    if content and kind_of(content) not in SHOWN | _NOT_SHOWN:
        return frozenset({f"{where} of type {kind_of(content)[:40]}"})
    kinds = {kind_of(part) for part in list_of(content.get("parts")) if isinstance(part, Mapping)}
    return frozenset(f"{where}.parts of type {kind[:40]}" for kind in kinds - _KNOWN_PARTS)
