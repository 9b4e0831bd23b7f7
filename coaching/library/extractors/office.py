"""What the formats of office programs share: the properties of a package, and a table's row as a line."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from coaching.library.extractors.extracted import gettext_noop

MAX_ROWS = 20_000
MAX_COLUMNS = 100
"""Of each sheet of a workbook."""
ROWS_READ = gettext_noop("Sage read only the first 20,000 rows of each sheet.")


class Properties(Protocol):
    title: str
    author: str
    created: datetime | None


def package_hints(properties: Properties) -> dict[str, str]:
    """Return title, author and creation day, as far as they are stated."""
    created = properties.created
    stated = {
        "title": properties.title or "",
        "author": properties.author or "",
        "created": created.date().isoformat() if created else "",
    }
    return {name: text for name, text in stated.items() if text}


def joined_cells(cells: Sequence[str]) -> str:
    """Return a row's line, without the empty cells at its end."""
    filled = next((place for place in range(len(cells), 0, -1) if cells[place - 1]), 0)
    return " | ".join(cells[:filled])
