"""Tables written as text: a line for each row, with any delimiter, in any encoding. A formula is text."""

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import islice

from coaching.library.extractors.decoding import decode
from coaching.library.extractors.delimiters import DELIMITERS, likely_delimiter
from coaching.library.extractors.extracted import Extracted, gettext_noop
from coaching.library.extractors.office import joined_cells

MAX_LINES = 100_000
MAX_COLUMNS = 1_000
LINES_READ = gettext_noop("Sage read only the first 100,000 lines and 1,000 columns of this table.")
SAMPLE_CHARACTERS = 64 * 1024
MAX_LINE_CHARACTERS = 1_000_000
"""A longer line or field is no table's: a quote that is never closed makes one field of all that follows."""
_STATED = "sep="
"""In its first line, Excel understands a delimiter behind this."""


def extract(data: bytes) -> Extracted:
    """Return the rows that have text."""
    text = decode(data).lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    first, _, rest = text.partition("\n")
    if first[:-1].lower() == _STATED and first[-1] in DELIMITERS:
        delimiter, text = first[-1], rest
    else:
        delimiter = likely_delimiter(text[:SAMPLE_CHARACTERS])
    source = io.StringIO(text)
    lines = list(islice(source, MAX_LINES))
    rows, has_all_columns = _read(lines, delimiter)
    is_cut = not has_all_columns or bool(source.read(1))
    return Extracted(pages=("\n".join(rows),), note=LINES_READ if is_cut else "")


def _read(lines: Sequence[str], delimiter: str) -> tuple[list[str], bool]:
    """Return the rows' text, and whether it has all columns. Without well-formed quotes, a line is a row."""
    if max(map(len, lines), default=0) <= MAX_LINE_CHARACTERS:
        csv.field_size_limit(MAX_LINE_CHARACTERS)
        try:
            return _joined(csv.reader(lines, delimiter=delimiter))
        except csv.Error:
            pass
    return _joined(line.split(delimiter, MAX_COLUMNS) for line in lines)


def _joined(rows: Iterable[list[str]]) -> tuple[list[str], bool]:
    joined: list[str] = []
    has_all_columns = True
    for cells in rows:
        has_all_columns = has_all_columns and len(cells) <= MAX_COLUMNS
        if line := joined_cells([" ".join(cell.split()) for cell in cells[:MAX_COLUMNS]]):
            joined.append(line)
    return joined, has_all_columns
