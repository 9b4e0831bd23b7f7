"""Reads what a Claude export has about a person: `memories.json` and `projects.json`."""

from collections.abc import Iterator, Mapping
from typing import Any

from coaching.legacy.importers.about import FoundNote
from coaching.legacy.importers.bounded import Unreadable
from coaching.legacy.importers.claude_left import kind_of_file
from coaching.legacy.importers.json_stream import Item
from coaching.legacy.importers.left import MAX_NAME_CHARACTERS, NOT_IN_EXPORT, LeftBehind
from coaching.legacy.importers.things import (
    FoundDocument,
    Problem,
    Thing,
    UnknownFields,
    document_of,
    mapping_of,
    mappings_of,
    text_of,
    unknown_in,
    where_of,
    words,
)

_KNOWN = words(
    """
    account_uuid archived_at conversations_memory created_at creator description docs docs_count files
    files_count is_harmony_project is_private is_starred is_starter_project name project_memories
    prompt_template updated_at uuid
    """
)


class ClaudeNotes:
    """Reads the values of both files; projects come first, since memories name them by their ids."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def read(self, member: str, item: Item) -> Iterator[Thing]:
        """Yield what an item of a ZIP's member says, and a project's documents."""
        if isinstance(item.value, Unreadable):
            yield Problem(where=f"{member}, {where_of(item)}", text=item.value.reason)
        found = mapping_of(item.value)
        if unknown := unknown_in(found, _KNOWN, "about you[]"):
            yield UnknownFields(names=unknown)
        if text := text_of(found.get("conversations_memory")).strip():
            yield FoundNote(kind="memories", text=text)
        for key, memory in mapping_of(found.get("project_memories")).items():
            if text := text_of(memory).strip():
                project = self._names.get(str(key), str(key))
                yield FoundNote(kind="memories", text=text, project=project[:MAX_NAME_CHARACTERS])
        name = " ".join(text_of(found.get("name")).split())[:MAX_NAME_CHARACTERS]
        if name:
            self._names[text_of(found.get("uuid"))] = name
        told = [text_of(found.get(key)).strip() for key in ("description", "prompt_template")]
        if any(told):
            yield FoundNote(kind="instructions", text="\n\n".join(filter(None, told)), project=name or "?")
        for document in (*mappings_of(found.get("docs")), *mappings_of(found.get("files"))):
            yield _document(document, name)


def _document(document: Mapping[str, Any], project: str) -> FoundDocument | LeftBehind:
    """Return a project's document, of which an export has the text, or only the name."""
    title = text_of(document.get("filename")) or text_of(document.get("file_name")) or "?"
    text = text_of(document.get("content"))
    if not text.strip():
        return LeftBehind(kind=kind_of_file(title), name=title, where=project, why=NOT_IN_EXPORT)
    return document_of(title, text, project=project)
