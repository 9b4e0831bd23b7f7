"""A draft: a whole write, checked and rendered before anything is stored. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from django.utils.translation import gettext_noop

from coaching.files.attributes import NO_ATTRIBUTES, FileAttributes, check_attributes, check_storable
from coaching.files.errors import FileRefused
from coaching.files.frontmatter import build_frontmatter, render_file, strip_frontmatter
from coaching.files.paths import FilePath, build_path
from coaching.files.types import AttributeName
from coaching.models import FileType

MAX_CONTENT_CHARACTERS = 100_000


Occasion = Literal["written", "edited", "restored", "imported"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDraft:
    """One write. `text` is the whole file, `body` its part below the frontmatter.

    `attributes` are those that the write sets, `cleared` those that it removes; the frontmatter has all.
    `unwritten` were given but have no place in a file whose frontmatter can't be read. `expected_version` is
    the version that the write is based on, None for any. `capture_ids` are the captures that a log names.
    `is_said_again`: it gives the status that the page has and that no longer held, so equal bytes are new.
    """

    file_type: FileType
    path: FilePath
    text: str
    body: str
    frontmatter: dict[str, Any]
    attributes: FileAttributes
    now: datetime
    timezone: ZoneInfo
    occasion: Occasion = "written"
    cleared: frozenset[AttributeName] = frozenset()
    unwritten: tuple[AttributeName, ...] = ()
    expected_version: int | None = None
    capture_ids: tuple[int, ...] = ()
    is_said_again: bool = False

    @property
    def data(self) -> bytes:
        return self.text.encode()


def build_draft(
    *,
    file_type: FileType,
    content: str,
    now: datetime,
    timezone: ZoneInfo,
    file_name: str | None = None,
    attributes: FileAttributes = NO_ATTRIBUTES,
    remove: Iterable[AttributeName] = (),
) -> FileDraft:
    """Build a file's draft. Raises `FileRefused`, with what would be accepted, for anything invalid."""
    body = strip_frontmatter(check_content(content)).strip()
    if not body:
        raise FileRefused("The content is empty; write the whole body of the file.")
    cleared = frozenset(remove)
    check_attributes(file_type, attributes, cleared)
    path = build_path(file_type, file_name, body=body, now=now, timezone=timezone)
    frontmatter = build_frontmatter(file_type, attributes, day=path.day)
    return FileDraft(
        file_type=file_type,
        path=path,
        text=render_file(frontmatter, body),
        body=body,
        frontmatter=frontmatter,
        attributes=attributes,
        cleared=cleared,
        now=now,
        timezone=timezone,
    )


def check_content(content: str) -> str:
    """Return the content; raise `FileRefused` with the reason if it is too long or can't be stored."""
    if len(content) > MAX_CONTENT_CHARACTERS:
        raise FileRefused(
            gettext_noop(
                "The content has %(count)s characters; %(most)s is the most that fits. Shorten it, or spread "
                "it over several files."
            ),
            count=len(content),
            most=MAX_CONTENT_CHARACTERS,
        )
    try:
        check_storable(content)
    except ValueError as error:
        raise FileRefused(f"The content can't be stored: {error}.") from error
    return content
