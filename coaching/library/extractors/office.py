"""What the formats of office programs share: a package and its properties, and a table's row as a line."""

import io
import zipfile
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from coaching.library.extractors.archive import open_archive
from coaching.library.extractors.extracted import gettext_noop

MAX_ROWS = 20_000
MAX_COLUMNS = 100
"""Of each sheet of a workbook."""
ROWS_READ = gettext_noop("Sage read only the first 20,000 rows of each sheet.")

_STRICT, _USUAL = b"http://purl.oclc.org/ooxml/", b"http://schemas.openxmlformats.org/"
_NAMESPACES = ("officeDocument", "drawingml", "wordprocessingml", "spreadsheetml", "presentationml")
_XML = (".xml", ".rels")


class Properties(Protocol):
    title: str
    author: str
    created: datetime | None


def checked_package(data: bytes) -> bytes:
    """Return a package that is harmless, with the names that the libraries know. Raises `Unread`.

    “Strict Open XML”, which Excel and Word can write, has other names for the same things.
    """
    with open_archive(data) as package:
        is_strict = "_rels/.rels" in package.namelist() and _STRICT in package.read("_rels/.rels")
        return _with_usual_names(package) if is_strict else data


def _with_usual_names(package: zipfile.ZipFile) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as usual:
        for member in package.infolist():
            content = package.read(member)
            if member.filename.endswith(_XML):
                for name in map(str.encode, _NAMESPACES):
                    content = content.replace(_STRICT + name + b"/", _USUAL + name + b"/2006/")
            usual.writestr(member.filename, content)
    return written.getvalue()


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


def count_of(stated: str | None, *, least: int = 1) -> int:
    """Return a stated number; the least one if it is smaller or no number."""
    is_number = stated is not None and stated.isascii() and stated.isdigit()
    return max(least, int(stated[:9])) if stated and is_number else least
