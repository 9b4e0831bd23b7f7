"""Reads `conversations.json` of a Claude export.

Newer exports have every branch of a conversation: `parent_message_uuid` leads from the newest message back
through the branch that was shown; of the others, `branches` makes other answers and other conversations.
Older ones are a list. Documents that Claude wrote for its user are kept, which are calls of tools; other
calls and thinking are left out. A message's `text` has its thinking, too, so its blocks count.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from coaching.legacy.importers.bounded import Unreadable
from coaching.legacy.importers.branches import Divided, Tree, branch_id, divide
from coaching.legacy.importers.claude_attachments import Composed, attached_to, composed
from coaching.legacy.importers.claude_left import left_file, left_in
from coaching.legacy.importers.json_stream import Item
from coaching.legacy.importers.left import LeftBehind
from coaching.legacy.importers.things import (
    CHANGED_DOCUMENT,
    CUT_ATTACHMENT,
    LONG_ATTACHMENT,
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
    mapping_of,
    mappings_of,
    moment_of,
    text_of,
    too_large,
    unknown_in,
    where_of,
    words,
)

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
_SENDERS = ("human", "assistant")
_ARTIFACTS = "artifacts"
_FOR_USER = "/outputs/"
"""In the path of a file: other files are steps on the way to one of these."""
_LANGUAGES: Mapping[str, str] = {
    "application/vnd.ant.react": "jsx",
    "application/vnd.ant.mermaid": "mermaid",
    "image/svg+xml": "svg",
    "text/html": "html",
}
_CODE = "application/vnd.ant.code"
# Exports have it in place of calls.
_PLACEHOLDER = re.compile(
    r"(?:```[ \t]*\n)?This block is not supported on your current device yet\.(?:[ \t]*\n```)?"
)

Documents = Mapping[str, Mapping[str, Any]]
"""The inputs of the calls that created documents, by the ids of these."""


class ClaudeAdapter:
    format: Format = "claude"

    def recognises(self, item: Item) -> bool:
        return isinstance(item.value, Mapping) and "chat_messages" in item.value

    def read(self, item: Item) -> Iterator[Thing]:
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
        messages = mappings_of(found.get("chat_messages"))
        documents = {
            id_of(made.get("id")): made for message in messages for made in _artifacts(message, "create")
        }
        reading = _Reading(messages, documents)
        divided = divide(_tree_of(found, reading), reading.message)
        said = [reading.messages[key] for key in divided.nodes]
        yield from _reports(item, found, said)
        shown_as = text_of(found.get("name")) or where_of(item)
        yield from left_in(found, said, shown_as, is_document=lambda block: bool(_words(block, documents)))
        if divided.left:
            yield LeftBehind(kind="branch", name=shown_as, count=divided.left)
        taken = {*divided.taken_ids, *divided.left_ids}
        for key in divided.nodes:
            read = reading.composed(key)
            if read.text.strip() and id_of(reading.messages[key].get("uuid")) not in taken:
                yield LeftBehind(kind="message", name=shown_as)
            yield from _problems(where_of(item), read)
            yield from (left_file(name, shown_as) for name in read.names)
        yield from _conversations(item, found, imported_id, divided)


class _Reading:
    """The messages of a conversation by keys: their ids, or their places where they have none."""

    def __init__(self, messages: Sequence[Mapping[str, Any]], documents: Documents) -> None:
        self.messages: dict[str, Mapping[str, Any]] = {}
        for place, message in enumerate(messages):
            key = id_of(message.get("uuid"))
            self.messages[f"\0{place}" if not key or key in self.messages else key] = message
        self._documents = documents
        self._read: dict[str, Composed] = {}

    def composed(self, key: str) -> Composed:
        if key not in self._read:
            self._read[key] = _composed(self.messages[key], self._documents)
        return self._read[key]

    def message(self, key: str) -> FoundMessage | None:
        """Return a message as it was shown, None where it has no words."""
        return _message(self.messages[key], self.composed(key))


def _tree_of(conversation: Mapping[str, Any], reading: _Reading) -> Tree:
    """Return the tree; an older export is a list of one branch."""
    messages = reading.messages
    parents = {key: id_of(message.get("parent_message_uuid")) or None for key, message in messages.items()}
    ages = {key: (_written_at(message), place) for place, (key, message) in enumerate(messages.items())}
    if not any(parent in messages for parent in parents.values()):
        return Tree(
            parents=dict.fromkeys(messages), shown=list(messages), written_at=lambda key: ages[key][0]
        )
    leaf: str | None = id_of(conversation.get("current_leaf_message_uuid"))
    if leaf not in messages:
        named = (key for key in messages if not key.startswith("\0"))
        leaf = max(named, key=lambda key: ages[key])
    branch: dict[str, None] = {}
    while leaf is not None and leaf in messages and leaf not in branch:
        branch[leaf] = None
        leaf = parents[leaf]
    return Tree(parents=parents, shown=[*branch][::-1], written_at=lambda key: ages[key][0])


def _written_at(message: Mapping[str, Any]) -> datetime:
    return moment_of(message.get("created_at")) or datetime.min.replace(tzinfo=UTC)


def _conversations(
    item: Item, found: Mapping[str, Any], imported_id: str, divided: Divided
) -> Iterator[FoundConversation]:
    """Yield a conversation and its other branches."""
    project = text_of(mapping_of(found.get("project")).get("name"))
    branches = {"": divided.main, **divided.others}
    for first, branch in branches.items():
        yield FoundConversation(
            imported_id=branch_id(imported_id, first) if first else imported_id,
            messages=branch.messages,
            answers=branch.answers,
            title=text_of(found.get("name")),
            started_at=None if first else moment_of(found.get("created_at")),
            where=where_of(item),
            model=text_of(found.get("model")),
            project=project,
            branch_of=imported_id if first else "",
        )


def _reports(
    item: Item, found: Mapping[str, Any], said: Sequence[Mapping[str, Any]]
) -> Iterator[UnknownFields | Problem]:
    unknown = unknown_in(found, _KNOWN, "[]")
    for message in said:
        unknown |= unknown_in(message, _KNOWN_OF_MESSAGES, "[].chat_messages[]") | _unknown_kinds(message)
    if unknown:
        yield UnknownFields(names=unknown)
    if any(_artifacts(message, "update") for message in said):
        yield Problem(where=where_of(item), text=CHANGED_DOCUMENT, is_lost=False)


def _message(message: Mapping[str, Any], read: Composed) -> FoundMessage | None:
    """Return a message as it was shown, None where it has no words, no ID or no known sender."""
    imported_id, sender = id_of(message.get("uuid")), message.get("sender")
    if sender not in _SENDERS or not imported_id or not read.text.strip():
        return None
    return FoundMessage(
        imported_id=imported_id,
        role="user" if sender == "human" else "assistant",
        text=read.text,
        created_at=moment_of(message.get("created_at")),
        shorter=read.shorter,
    )


def _problems(where: str, read: Composed) -> Iterator[Problem]:
    for name in read.cut:
        yield Problem(where=f"{where}, {name}", text=CUT_ATTACHMENT, is_lost=False)
    for name in read.left_out:
        yield Problem(where=f"{where}, {name}", text=LONG_ATTACHMENT)


def _composed(message: Mapping[str, Any], documents: Documents) -> Composed:
    blocks = _blocks(message)
    texts = [_words(block, documents) for block in blocks]
    if not any(map(str.strip, texts)) and all(block.get("type") == "text" for block in blocks):
        texts = [text_of(message.get("text"))]
    texts = [_PLACEHOLDER.sub("", text).strip() for text in texts]
    attachments, files = mappings_of(message.get("attachments")), mappings_of(message.get("files"))
    return composed(texts, attached_to(attachments, files))


def _words(block: Mapping[str, Any], documents: Documents) -> str:
    """Return what the reader of a block saw: its text, or the document that it wrote."""
    if block.get("type") == "text":
        return text_of(block.get("text"))
    if block.get("type") != "tool_use":
        return ""
    given = mapping_of(block.get("input"))
    if block.get("name") == _ARTIFACTS and given.get("command") in ("create", "rewrite"):
        made = documents.get(id_of(given.get("id")), {})
        title, kind, language = (given.get(key) or made.get(key) for key in ("title", "type", "language"))
        shown_as = text_of(language) if kind == _CODE else _LANGUAGES.get(text_of(kind))
        return in_markdown(text_of(title), text_of(given.get("content")), language=shown_as)
    path = text_of(given.get("path"))
    if block.get("name") == "create_file" and _FOR_USER in path:
        name = path.rpartition("/")[2]
        ending = name.rpartition(".")[2]
        language = None if ending in ("md", "txt") else ending
        return in_markdown(name, text_of(given.get("file_text")), language=language)
    return ""


def _artifacts(message: Mapping[str, Any], command: str) -> Sequence[Mapping[str, Any]]:
    """Return the inputs of a message's calls that create, rewrite or update documents."""
    calls = [block for block in _blocks(message) if block.get("name") == _ARTIFACTS]
    inputs = [mapping_of(call.get("input")) for call in calls if call.get("type") == "tool_use"]
    return [given for given in inputs if given.get("command") == command]


def _blocks(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return mappings_of(message.get("content"))


def _unknown_kinds(message: Mapping[str, Any]) -> frozenset[str]:
    kinds = {str(block.get("type"))[:40] for block in _blocks(message)} - _KNOWN_BLOCKS
    unknown = {f"[].chat_messages[].content of type {kind}" for kind in kinds}
    if message.get("sender") not in _SENDERS:
        unknown.add(f"[].chat_messages[].sender {str(message.get('sender'))[:40]}")
    return frozenset(unknown)
