"""What another app knew about a person: its memories of them, and their instructions for it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

NoteKind = Literal["memories", "instructions"]

MAX_NOTES = 200
MAX_NOTES_CHARACTERS = 20_000
"""Of all notes together: they are proposed for one page, which goes into requests."""
NAMES: Mapping[NoteKind, str] = {"memories": "Memories", "instructions": "Custom instructions"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNote:
    """A text about a person; `project` is what it belongs to, empty where it holds everywhere."""

    kind: NoteKind
    text: str
    project: str = ""
    written_at: datetime | None = None


@dataclass(slots=True)
class Notes:
    """Keeps the newest note of each kind and project: exports have them again with each conversation."""

    _newest: dict[tuple[NoteKind, str], FoundNote] = field(default_factory=dict)
    _more: list[FoundNote] = field(default_factory=list)
    _texts: dict[tuple[NoteKind, str], set[int]] = field(default_factory=dict)

    def add(self, note: FoundNote) -> None:
        key = (note.kind, note.project)
        held = self._newest.get(key)
        if held is None and len(self._newest) >= MAX_NOTES:
            self._more.append(note)
            return
        self._texts.setdefault(key, set()).add(hash(note.text))
        if held is None or _age(note) >= _age(held):
            self._newest[key] = note

    def older(self) -> Iterator[tuple[NoteKind, str, int]]:
        """Yield kind and project where there were other versions, with how many."""
        for (kind, project), texts in self._texts.items():
            if len(texts) > 1:
                yield kind, project, len(texts) - 1

    def divided(self) -> tuple[Sequence[FoundNote], Sequence[FoundNote]]:
        """Return the notes that fit together, and the others."""
        room = MAX_NOTES_CHARACTERS
        fitting, others = [], []
        for note in self._newest.values():
            if len(note.text) <= room:
                room -= len(note.text)
                fitting.append(note)
            else:
                others.append(note)
        return fitting, [*others, *self._more]


def _age(note: FoundNote) -> datetime:
    return note.written_at or datetime.min.replace(tzinfo=UTC)


def chatgpt_notes(message: Mapping[str, Any], written_at: datetime | None) -> Iterator[FoundNote]:
    """Yield what ChatGPT was told about its user at the beginning of a conversation."""
    content = _mapping(message.get("content"))
    if content.get("content_type") == "model_editable_context":
        texts = [content.get("model_set_context")]
        kind: NoteKind = "memories"
    elif content.get("content_type") == "user_editable_context":
        given = _mapping(_mapping(message.get("metadata")).get("user_context_message_data"))
        texts = [given.get("about_user_message"), given.get("about_model_message")]
        if not any(map(_text, texts)):
            texts = [content.get("user_profile"), content.get("user_instructions")]
        kind = "instructions"
    else:
        return
    text = "\n\n".join(filter(None, map(_text, texts)))
    if text:
        yield FoundNote(kind=kind, text=text, written_at=written_at)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
