"""A file of a user's life, as far as it was read for a request."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from coaching.files.frontmatter import strip_frontmatter


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeFile:
    """A file as far as it was read. `characters` is how long the whole text is, frontmatter included.

    `program` names the program that wrote this version, if one did; `written_at` is when (aware).
    """

    path: str
    file_type: str
    frontmatter: Mapping[str, Any]
    version: int
    characters: int
    head: str
    program: str = ""
    written_at: datetime | None = None
    is_imported: bool = False

    @property
    def day(self) -> str:
        """The date in the file's name, empty where it has none."""
        return self.path.rpartition("/")[2][:10]

    @property
    def updated(self) -> str:
        """The day that the file's own frontmatter gives."""
        return str(self.frontmatter.get("updated") or self.frontmatter.get("date") or "")

    @property
    def body(self) -> str:
        """The text below the frontmatter, as far as it was read."""
        return strip_frontmatter(self.head).strip()

    @property
    def unread(self) -> int:
        """How many characters were left in the database."""
        return max(0, self.characters - len(self.head))
