"""Reads an export's ZIP without any of the product's readers, and says what of it is nowhere to be found.

Each leaf of each JSON file is compared: every text, number and boolean but those under `IGNORED` keys. A
message has to be stored once under its id, in its role and after the one that it follows, with its own words
in it. What isn't stored is excused only by a name of its own (its tool's, its kind's, its file's) that stands
among what was left behind. Each file of the ZIP has to be a document, byte by byte, at the messages that name
it, or to be named itself.

Over 300 lines, because whatever the product reads in twenty modules is compared here without them.
"""

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from django.contrib.auth.models import User

from coaching.files.objects import open_object
from coaching.models import Document, Import
from sessions_app.models import Message, Session

REASONS: Mapping[str, str] = {
    "ids; messages are compared by theirs, files by the key in theirs": """
        account_uuid children conversation_id current_leaf_message_uuid current_node gen_id id parent
        parent_id parent_message_uuid request_id tool_use_id uuid
    """,
    "times; a message's place is compared": """
        create_time created_at start_timestamp stop_timestamp timestamp_ update_time updated_at
    """,
    "who speaks to whom; compared as a message's role, and as the name of its tool": """
        recipient sender
    """,
    "kinds": """
        citation_format_type content_type direction file_type format gizmo_type message_type mime_type type
    """,
    "flags and settings: how an answer ended, who sees it, what a call does, the next answer's model": """
        can_save channel command default_model_slug end_turn is_archived is_complete is_private is_starred
        is_starter_project is_visually_hidden_from_conversation memory_scope pattern status stop_tokens weight
    """,
    "copies: the URLs of `content_references` once more": "safe_urls",
    "sizes, and places within a text": """
        end_idx end_index end_ix file_size height seed size size_bytes start_idx start_index start_ix width
    """,
}
"""Keys that aren't compared, by the reason."""
IGNORED = frozenset(key for keys in REASONS.values() for key in keys.split())
MARKS = re.compile("\ue200[^\ue201]*\ue201|【[^】]*】")
"""Marks of sources in a text of ChatGPT, which mean nothing without the page that they were shown on."""
OF_AUTHORS = (("author", "role"), ("author", "name"), ("creator", "full_name"))
"""Fields that say who somebody is, compared as a message's role and as the name of its tool."""
MAY_BE_LEFT = re.compile(r"(.*/)?(users?|message_feedback|shared_conversations|export_manifest)\.json")
"""Files of JSON that may be left behind whole, if they are named."""
FILE_KEY = re.compile(r"file[-_][A-Za-z0-9]+")
FILES = ("file", "picture", "voice")
"""Kinds of files among what was left behind."""
CALLS = ("tool_use", "tool_result")
"""Blocks of Claude whose `name` is a tool's, as an author is in ChatGPT."""
CITED = ("citations", "content_references", "search_result_groups")
OF_NOBODY = ("New chat",)
"""Titles that the other app gives to what has none."""

Place = tuple[str | int, ...]
Name = tuple[str, str]
"""A kind of what was left behind, and a name."""


@dataclass(slots=True)
class Stored:
    """What a person has: messages by conversation and id, and by session the ids of those that are shown."""

    left: set[Name] = field(default_factory=set)
    rows: dict[tuple[str, str], list[Message]] = field(default_factory=dict)
    shown: dict[Any, list[str]] = field(default_factory=dict)
    told: dict[str, list[str]] = field(default_factory=dict)
    """Titles and origins by conversation."""
    about: list[str] = field(default_factory=list)
    """What isn't in a conversation: notes, and names, projects and texts of documents."""
    digests: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Said:
    """A message of an export; `follows` is the key of the one before it."""

    key: str
    follows: str | None
    role: str
    value: Mapping[str, Any]


def missing_of(data: bytes, user: User) -> list[str]:
    """Return the leaves and files of a ZIP that were neither imported nor named, or not as they were."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    return list(_Comparison(members, _stored(user)).missing())


def added_to(exports: Iterable[bytes], user: User) -> list[str]:
    """Return messages that are stored and in none of these ZIPs."""
    keys = set[tuple[str, str]]()
    for data in exports:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if name.startswith("conversations")]
            told = [each for name in names for each in json.loads(archive.read(name))]
        for found in told:
            root = found.get("conversation_id") or found["uuid"]
            said = _chatgpt(found) if "mapping" in found else _claude(found)
            keys |= {(root, _id_of(each)) for each in said}
    return ["/".join(key) for key in sorted(_stored(user).rows.keys() - keys)]


def _stored(user: User) -> Stored:
    made = Stored()
    for made_by in Import.of(user.pk):
        for kind, group in made_by.left_behind.items():
            made.left |= {(kind, each["name"]) for each in group["named"]}
        made.about += [
            text for note in made_by.about.get("notes", ()) for text in (note["text"], note["project"])
        ]
    for session in Session.of(user.pk):
        origin = session.metadata.get("origin", {})
        root = origin.get("branch_of") or session.metadata["imported_id"]
        made.told.setdefault(root, []).extend([session.title, *origin.values()])
        for row in Message.within(session).select_related("turn").order_by("number"):
            made.rows.setdefault((root, row.metadata["imported_id"]), []).append(row)
            if not row.turn.is_withdrawn:
                made.shown.setdefault(session.pk, []).append(row.metadata["imported_id"])
    for document in Document.of(user.pk).exclude(storage_key=None):
        with open_object(document.storage_key or "") as file:
            content = file.read()
        made.digests[hashlib.sha256(content).hexdigest()] = document.pk
        made.about += [document.name, document.import_project, content.decode(errors="replace")]
    return made


def _leaves(value: object, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """Yield all texts, numbers and booleans with their places, but for what is ignored or empty."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            is_ignored = key in IGNORED or (*place[-1:], key) in OF_AUTHORS
            if not is_ignored and not (key == "name" and value.get("type") in CALLS):
                yield from _leaves(each, (*place, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _leaves(each, (*place, number))
    elif value is not None and str(value).strip():
        yield place, str(value).strip()


def _objects(value: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for each in inside:
        yield from _objects(each)


def _is_in(text: str, words: Sequence[str]) -> bool:
    """Return whether a text stands somewhere as a whole, without marks; JSON, each of its leaves."""
    if isinstance(inside := _json_in(text), dict | list) and (leaves := list(_leaves(inside))):
        return all(_is_in(leaf, words) for _, leaf in leaves)
    whole = re.compile(rf"(?<!\w){re.escape(MARKS.sub('', text).strip())}(?!\w)")
    return any(whole.search(each) for each in words)


def _json_in(text: str) -> object:
    try:
        return json.loads(text) if text[:1] in "[{" else None
    except ValueError:
        return None


class _Comparison:
    def __init__(self, members: Mapping[str, bytes], stored: Stored) -> None:
        self._members, self._stored = members, stored
        self._called: dict[str, set[str]] = {}
        """What files are called, by their keys."""

    def missing(self) -> Iterator[str]:
        parsed = {
            name: json.loads(data)
            for name, data in self._members.items()
            if name.endswith(".json") and not self._is_left_whole(name)
        }
        told = [each for name, value in parsed.items() if name.startswith("conversations") for each in value]
        for each in (each for value in parsed.values() for each in _objects(value)):
            self._name_files(each)
        for conversation in told:
            yield from self._of_conversation(conversation)
        for name, value in parsed.items():
            if not name.startswith("conversations"):
                yield from (f"{name}: {text}" for _, text in _leaves(value) if not self._is_about(text))
        for name, data in self._members.items():
            if name not in parsed and ("member", name) not in self._stored.left:
                yield from self._of_file(name, data)

    def _is_left_whole(self, name: str) -> bool:
        return bool(MAY_BE_LEFT.fullmatch(name)) and ("member", name) in self._stored.left

    def _name_files(self, found: Mapping[str, Any]) -> None:
        """Take in what a file is called: by its id, or under its name in the ZIP."""
        named = {str(found.get("id")): found.get("name"), **found}
        for key, name in named.items():
            if isinstance(name, str) and (keys := FILE_KEY.findall(key)):
                self._called.setdefault(keys[-1], set()).add(name)

    def _is_about(self, text: str) -> bool:
        return self._is_named([text], FILES) or _is_in(text, self._stored.about)

    def _of_file(self, name: str, data: bytes) -> Iterator[str]:
        names = {name, name.rpartition("/")[2]}
        if key := FILE_KEY.match(name.rpartition("/")[2]):
            names |= self._called.get(key[0], set()) | {key.string[key.end() :].lstrip("-")}
        if hashlib.sha256(data).hexdigest() not in self._stored.digests and not self._is_named(names, FILES):
            yield name

    def _is_named(self, names: Iterable[str], kinds: Iterable[str]) -> bool:
        return not self._stored.left.isdisjoint(product(kinds, names))

    def _of_conversation(self, found: Mapping[str, Any]) -> Iterator[str]:
        root, title = found.get("conversation_id") or found["uuid"], found.get("title") or found.get("name")
        own = {key: value for key, value in found.items() if key not in ("mapping", "chat_messages")}
        for place, text in _leaves(own):
            excuse = ("summary", title) if place[0] == "summary" else ("field", f"[].{place[0]}")
            is_told = text in OF_NOBODY or _is_in(text, self._stored.told.get(root, []))
            if not is_told and excuse not in self._stored.left:
                yield f"{root}.{place[0]}: {text}"
        said = {each.key: each for each in (_chatgpt(found) if "mapping" in found else _claude(found))}
        for each in said.values():
            yield from self._of_message(root, title or "", each, said)

    def _of_message(self, root: str, title: str, said: Said, all_said: Mapping[str, Said]) -> Iterator[str]:
        rows = self._stored.rows.get((root, _id_of(said)), [])
        before = self._before(root, said, all_said)
        if len(rows) > 1:
            yield f"{root}/{said.key} is stored {len(rows)} times"
        if rows and rows[0].role != {"human": "user", "tool": "assistant"}.get(said.role, said.role):
            yield f"{root}/{said.key} is stored as the {rows[0].role}’s"
        if rows and not self._follows(rows[0], before):
            yield f"{root}/{said.key} doesn’t follow {before and before.metadata['imported_id']}"
        is_joined = not rows and before is not None and before.turn.is_withdrawn and said.role != "user"
        row = rows[0] if rows else before if is_joined else None
        for place, text in _leaves(said.value):
            is_excused = not self._stored.left.isdisjoint(_excuses(said, place, row, title))
            is_found = self._is_found(root, place, text, row) or self._is_at(place, text, row, title)
            if not is_excused and not is_found:
                yield f"{root}/{said.key}.{'.'.join(map(str, place))}: {text}"

    def _before(self, root: str, said: Said, all_said: Mapping[str, Said]) -> Message | None:
        """Return the nearest stored message before one."""
        follows = all_said.get(said.follows or "")
        while follows is not None:
            if rows := self._stored.rows.get((root, _id_of(follows))):
                return rows[0]
            follows = all_said.get(follows.follows or "")
        return None

    def _follows(self, row: Message, before: Message | None) -> bool:
        """Return whether a message stands right behind another one, answers it, or begins a branch there."""
        if row.turn.is_withdrawn:
            is_same = before is not None and before.session_id == row.session_id
            return is_same and before is not None and row.turn.message_number == before.number
        shown = self._stored.shown[row.session_id]
        place = shown.index(row.metadata["imported_id"])
        if place:
            return before is not None and shown[place - 1] == before.metadata["imported_id"]
        return before is None or before.session_id != row.session_id

    def _is_found(self, root: str, place: Place, text: str, row: Message | None) -> bool:
        if place[-1] == "model_slug":
            return _is_in(text, self._stored.told.get(root, []))
        return _is_in(text, [row.content] if row else self._stored.about)

    def _is_at(self, place: Place, text: str, row: Message | None, title: str) -> bool:
        """Return whether a file that a message names is a document of it, or is named."""
        keys = FILE_KEY.findall(text)
        if place[-1] not in ("asset_pointer", "image_url") or not keys:
            return False
        names = {keys[-1], *self._called.get(keys[-1], ())}
        for name, data in self._members.items():
            digest, last = hashlib.sha256(data).hexdigest(), name.rpartition("/")[2]
            if last.startswith(keys[-1]) and digest in self._stored.digests:
                linked = row.metadata.get("documents", ()) if row else [self._stored.digests[digest]]
                return self._stored.digests[digest] in linked
            names |= {last} if last.startswith(keys[-1]) else set()
        return self._is_named(names, FILES) or self._is_named([title], ["voice"])


def _excuses(said: Said, place: Place, row: Message | None, title: str) -> set[Name]:
    """Return the names that a leaf, or what holds it, has of its own."""
    where = "[].mapping[].message" if "author" in said.value else "[].chat_messages[]"
    names = {("field", ".".join([where, *map(str, place[:depth])])) for depth in (1, 2)}
    if place[0] == "metadata" and len(place) > 1:
        names.add(("metadata", str(place[1])))
    value: Any = said.value
    is_cited = False
    for key in place:
        is_cited = is_cited or key in CITED
        value = value[key]
        if not isinstance(value, Mapping):
            continue
        if is_cited:
            title_and_url = [str(value[each]) for each in ("title", "url") if value.get(each)]
            found = {*title_and_url, " – ".join(title_and_url)}
            names |= set(product(("source", "result"), found))
        if value.get("type") in CALLS:
            names.add(("tool", str(value.get("name") or value["type"])))
        if value.get("type") == "thinking":
            names.add(("thinking", "thinking"))
    return names if row else names | _names_of(said.value, title)


def _names_of(message: Mapping[str, Any], title: str) -> set[Name]:
    """Return the names of a message of ChatGPT that isn't imported."""
    kind = message.get("content", {}).get("content_type") if "author" in message else ""
    tool = message.get("author", {}).get("name") or ""
    names = {("thinking", kind), ("tool", tool), ("tool", tool.partition(".")[0]), ("branch", title)}
    if message.get("recipient", "all") != "all":
        names.add(("tool", message["recipient"]))
    elif kind == "code":
        names.add(("tool", kind))
    if message.get("metadata", {}).get("is_visually_hidden_from_conversation"):
        names.add(("message", title))
    return names


def _id_of(said: Said) -> str:
    return str(said.value.get("id") or said.value.get("uuid") or said.key)


def _chatgpt(found: Mapping[str, Any]) -> Iterator[Said]:
    for key, node in found["mapping"].items():
        message = node["message"] or {"author": {"role": "nobody"}}
        yield Said(key, node["parent"], message["author"]["role"], message)


def _claude(found: Mapping[str, Any]) -> Iterator[Said]:
    last = None
    for message in found["chat_messages"]:
        yield Said(message["uuid"], message.get("parent_message_uuid", last), message["sender"], message)
        last = message["uuid"]
