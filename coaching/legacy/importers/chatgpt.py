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
from coaching.legacy.importers.chatgpt_fields import unknown_fields, unknown_metadata
from coaching.legacy.importers.chatgpt_left import left_in
from coaching.legacy.importers.chatgpt_words import Reader, is_partly_changed
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
    mapping_of,
    moment_of,
    text_of,
    too_large,
    where_of,
)

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
        if unknown := unknown_fields(found, nodes):
            yield UnknownFields(names=unknown)
        yield from unknown_metadata(nodes, divided.taken_ids)
        if any(is_partly_changed(node["message"]) for node in nodes):
            yield Problem(where=where_of(item), text=CHANGED_DOCUMENT, is_lost=False)
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
    """Return the names of the models that answered, or else of the one that would have."""
    slugs = [text_of(mapping_of(node["message"].get("metadata")).get("model_slug")) for node in nodes]
    return ", ".join(dict.fromkeys(filter(None, slugs))) or text_of(conversation.get("default_model_slug"))


def _project_of(conversation: Mapping[str, Any]) -> str:
    """Return the id of a project or a custom GPT, whose name no export has."""
    return id_of(conversation.get("gizmo_id")) or id_of(conversation.get("conversation_template_id"))
