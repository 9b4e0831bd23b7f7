"""The words of a passage that a search found, as pages show them: no frontmatter, nothing twice. No I/O."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from django.utils.formats import date_format

from coaching.files.frontmatter import without_blocks
from coaching.models import ActionState, FileType, RecallSource
from coaching.recall.excerpts import marked, without_marks
from coaching.recall.hits import Passage
from coaching.transcript.file_attributes import ShownAttribute, attributes_of
from coaching.transcript.remembered import as_found

_SEPARATED = str.maketrans("_-.", "   ")


def found_words(passage: Passage, words: frozenset[str], *, frontmatter: Mapping[str, Any]) -> str:
    """Return a passage's text to read. Of a file's `frontmatter`, the values that match are shown."""
    source = passage.hit.source
    if source == RecallSource.BRIEF:
        return as_found(passage.text)
    if source == RecallSource.FILE:
        return _file_words(passage, words, frontmatter)
    if source == RecallSource.MESSAGE:
        return said_words(passage.text, is_by_user=bool(passage.is_by_user))
    if source == RecallSource.SUMMARY:
        return passage.text
    if source == RecallSource.TOOL:
        return without_marks("\n".join(_lines_once(passage)))
    if passage.hit.part:  # a page of a document
        return without_blocks(passage.text)
    return "\n".join(_lines_once(passage))


def said_words(text: str, *, is_by_user: bool) -> str:
    """Return a message's text to read: a person's own words as they typed them."""
    bare = without_blocks(text)
    return bare if is_by_user else without_marks(bare)


def _file_words(passage: Passage, words: frozenset[str], frontmatter: Mapping[str, Any]) -> str:
    body = without_marks(without_blocks(passage.text[passage.body_from :]))
    if not passage.body_from or _has_match(body, words):
        return body
    shown = map(_attribute_words, attributes_of(frontmatter))
    attributes = [each for each in shown if _has_match(each, words)]
    return " · ".join(filter(None, [*attributes, body.strip()]))


def _attribute_words(attribute: ShownAttribute) -> str:
    return f"{attribute.name}: {', '.join(attribute.entries) if attribute.entries else attribute.text}"


def _has_match(text: str, words: frozenset[str]) -> bool:
    return any(part.is_match for part in marked(text, words))


def _lines_once(passage: Passage) -> Iterator[str]:
    """Yield the lines of a record or a tool call, each once: without its title, or what is for programs."""
    is_call = passage.hit.source == RecallSource.TOOL
    title = passage.title.strip()
    seen = {title, title.translate(_SEPARATED).strip()} if passage.hit.file_id else set()
    for line in map(str.strip, without_blocks(passage.text).splitlines()):
        if line and line not in seen and not (is_call and _is_for_programs(line)):
            seen.add(line)
            yield _value_in_words(line) if is_call else line


def _value_in_words(line: str) -> str:
    """Return a line of a tool call in words: a stored date as a date, a next step's state by its name."""
    if line in ActionState.values:
        return str(ActionState(line).label)
    try:
        day = date.fromisoformat(line)
    except ValueError:
        return line
    return date_format(day, "DATE_FORMAT") if line == day.isoformat() else line  # 20261203 is a number


def _is_for_programs(line: str) -> bool:
    """Say whether a line is a path, an id or a type."""
    if " " in line:
        return False
    return line in FileType.values or "/" in line or ("_" in line and line == line.lower())
