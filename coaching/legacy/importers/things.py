"""What an export holds, whatever its format: conversations, files, ratings, a profile, and problems."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, TypeAlias

from coaching.legacy.importers.about import FoundNote
from coaching.legacy.importers.bounded import Unreadable
from coaching.legacy.importers.json_stream import Item
from coaching.legacy.importers.left import FileKind, LeftBehind, MoreLeftBehind
from coaching.legacy.importers.sentences import gettext_noop

Format = Literal["sage", "chatgpt", "claude"]

MAX_MESSAGE_CHARACTERS = 200_000
MAX_METADATA_CHARACTERS = 16_000
MAX_ENDING_CHARACTERS = 16_000
"""Of a shorter text; one that ends longer counts as edited."""
MAX_PROBLEMS = 200
"""More aren't listed, only counted."""
MAX_NAMES = 100
"""As many unknown fields are listed."""
MAX_REFERENCES = 50
"""Of messages to a file."""
MAX_ID_CHARACTERS = 500
"""A database index has the ids of conversations, and its rows are limited."""
NOT_A_CONVERSATION = gettext_noop("This isn’t a conversation.")
NO_ID = gettext_noop("This conversation has no ID.")
CHANGED_DOCUMENT = gettext_noop(
    "A document in this conversation was changed in parts. Only its complete versions were imported."
)
CUT_ATTACHMENT = gettext_noop(
    "The text of this attachment was too long for a message, so only its beginning was imported."
)
LONG_ATTACHMENT = gettext_noop(
    "The text of this attachment didn’t fit into its message, so only its name was imported."
)
_ENDINGS_OF_TEXTS = (".md", ".markdown", ".txt", ".csv", ".tsv", ".html", ".vtt", ".srt")
_NO_LANGUAGE = re.compile(r"[^\w+#.-]")
LATEST_SECONDS = 32_503_680_000
"""The year 3000: numbers above it are no seconds since 1970."""


class NotImportable(Exception):
    """The file can't be imported at all. `sentence` is for the person, `str()` adds a detail."""

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(" ".join(filter(None, [sentence, detail])))
        self.sentence = sentence
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMessage:
    """A message as its export has it. `metadata` is what it has besides words.

    `shorter` is how earlier versions read it, if they left something out: as many characters of its text, and
    how it then ended. `answers_to` is the message to which it is another answer.
    """

    imported_id: str
    role: Literal["user", "assistant"]
    text: str
    created_at: datetime | None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    shorter: tuple[int, str] | None = None
    answers_to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundConversation:
    """A conversation with the messages that were shown, in order. `status` is as its export has it.

    `answers` are others to its messages; `model` names those that answered. It is another branch of the
    conversation `branch_of`, if that isn't empty.
    """

    imported_id: str
    messages: Sequence[FoundMessage]
    started_at: datetime | None
    where: str
    title: str = ""
    kind: str = ""
    status: str = ""
    answers: Sequence[FoundMessage] = ()
    model: str = ""
    project: str = ""
    branch_of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file of the earlier app."""

    path: str
    content: str
    updated_at: datetime
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundReference:
    """A file that a message names by its key; without a `message` only its conversation does."""

    key: str
    name: str
    kind: FileKind
    conversation: str
    message: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDocument:
    """A file for the library; `project` is the other app's, `messages` are ids of conversations and messages.

    Where `refusal` says why it isn't taken, it has no `data`.
    """

    name: str
    kind: FileKind
    data: bytes
    project: str = ""
    where: str = ""
    messages: Sequence[tuple[str, str]] = ()
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRating:
    domain: str
    rating: int
    rated_at: datetime
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundProfile:
    """Who the export is from; empty where it doesn't say."""

    name: str
    timezone: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that wasn't taken over as it is; `is_lost` where nothing of it was."""

    where: str
    text: str
    is_lost: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownFields:
    """Names of fields that the reader doesn't know, such as `sessions[].mood`."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreProblems:
    """How many more problems there were than are listed."""

    count: int
    lost: int


Thing: TypeAlias = (
    FoundConversation
    | FoundDocument
    | FoundReference
    | FoundFile
    | FoundRating
    | FoundProfile
    | FoundNote
    | LeftBehind
    | MoreLeftBehind
    | Problem
    | MoreProblems
    | UnknownFields
)


class Adapter(Protocol):
    format: Format

    def recognises(self, item: Item) -> bool:
        """Say whether an item is this format's."""
        ...

    def read(self, item: Item) -> Iterator[Thing]:
        """Yield what an item holds; never raises."""
        ...


def where_of(item: Item, *path: str | int) -> str:
    """Say where in the file a value is, such as `line 12, sessions[3].messages[0].role`."""
    return f"line {item.line_of(path)}, {item.name_of(path)}"


def too_large(item: Item, unreadable: Unreadable) -> Problem:
    """Describe an item that is larger than what is read into memory at once."""
    return Problem(where=where_of(item), text=unreadable.reason)


def moment_of(value: object) -> datetime | None:
    """Return a moment from ISO text or seconds since 1970, None where it is neither."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, tz=UTC) if 0 < value < LATEST_SECONDS else None
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        return None


def text_of(value: object) -> str:
    """Return text, empty for anything else."""
    return value if isinstance(value, str) else ""


def mapping_of(value: object) -> Mapping[str, Any]:
    """Return a JSON object, an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def list_of(value: object) -> Sequence[Any]:
    """Return a list, an empty one for anything else."""
    return value if isinstance(value, list) else ()


def mappings_of(value: object) -> Sequence[Mapping[str, Any]]:
    """Return the objects in a list, none for anything else."""
    return [each for each in list_of(value) if isinstance(each, Mapping)]


def id_of(value: object) -> str:
    """Return an id as text, empty where there is none or one that no program makes."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text_of(value) if len(text_of(value)) <= MAX_ID_CHARACTERS else ""


def unknown_in(value: Mapping[str, Any], known: frozenset[str], prefix: str) -> frozenset[str]:
    """Return the names of a JSON object's fields that aren't known."""
    return frozenset(f"{prefix}.{name[:60]}" for name in value.keys() - known)


def words(text: str) -> frozenset[str]:
    """Return the words of a table of names."""
    return frozenset(text.split())


def document_of(name: str, text: str, *, project: str) -> FoundDocument:
    """Return a text as a file, whose name says that it is one."""
    is_named_so = name.lower().endswith(_ENDINGS_OF_TEXTS)
    data = text.encode("utf-8", errors="replace")
    return FoundDocument(
        name=name if is_named_so else f"{name}.txt", kind="file", data=data, project=project, where=project
    )


def in_markdown(title: str, content: str, *, language: str | None = None) -> str:
    """Return a document that was written in a conversation; with a language it is code."""
    if language is not None:
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", content)), default=0))
        content = f"{fence}{_NO_LANGUAGE.sub('', language)[:20]}\n{content}\n{fence}"
    title = " ".join(title.split())
    return f"**{title}**\n\n{content}" if title else content
