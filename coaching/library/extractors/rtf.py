"""RTF: headers and footers once, then the text by the pages that it breaks itself, with tables and notes."""

from contextlib import suppress
from datetime import date

from coaching.library.extractors.extracted import Extracted, gettext_noop
from coaching.library.extractors.left_out import note_of, without_marks
from coaching.library.extractors.rtf_reader import PAGE, Reader, decoded_pairs

MAX_PAGES = 10_000
"""The last one has the text of those that follow."""
ONLY_BEGINNING = gettext_noop("This file is very long, so Sage read only its beginning.")


def extract(data: bytes) -> Extracted:
    """Return the text by page."""
    reader = Reader()
    reader.read(data)
    margins = dict.fromkeys(
        _lines(decoded_pairs(parts)).replace(PAGE, "\n").strip("\n") for parts in reader.margins
    )
    text = "\n".join([*filter(None, margins), _lines(decoded_pairs(reader.said))])
    marked = text.split(PAGE, MAX_PAGES - 1)
    pages = tuple(without_marks(page.replace(PAGE, "\n")).strip("\n") for page in marked)
    hints = {name: decoded_pairs(parts).strip() for name, parts in reader.info.items()}
    with suppress(KeyError, ValueError, OverflowError):
        hints["created"] = date(reader.day["yr"], reader.day["mo"], reader.day["dy"]).isoformat()
    return Extracted(
        pages=pages,
        page_count=len(pages),
        hints={name: text for name, text in hints.items() if text},
        note="\n".join(filter(None, [ONLY_BEGINNING if reader.is_cut else "", note_of(marked)])),
    )


def _lines(text: str) -> str:
    """Return the lines without what follows the last cell of a row."""
    return "\n".join(line.rstrip(" |\t") for line in text.split("\n"))
