"""Tables written as text: a line for each row, with any delimiter, in any encoding. A formula is text."""

import csv
import io
from collections.abc import Iterable
from itertools import islice

from coaching.library.extractors.decoding import decode
from coaching.library.extractors.delimiters import DELIMITERS, likely_delimiter
from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.office import joined_cells

MAX_ROWS = 100_000
MAX_COLUMNS = 1_000
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
    lines: list[str] = []
    is_cut = False
    for number, cells in enumerate(_rows(text, delimiter)):
        if number >= MAX_ROWS:
            is_cut = True
            break
        is_cut = is_cut or len(cells) > MAX_COLUMNS
        if line := joined_cells([" ".join(cell.split()) for cell in cells[:MAX_COLUMNS]]):
            lines.append(line)
    note = (
        f"Of this table, the first {MAX_ROWS:,} rows and {MAX_COLUMNS:,} columns were read." if is_cut else ""
    )
    return Extracted(pages=("\n".join(lines),), note=note)


def _rows(text: str, delimiter: str) -> Iterable[list[str]]:
    """Return the rows, of a table that isn't well-formed by its lines alone."""
    lines = text.split("\n")
    if max(map(len, lines)) <= MAX_LINE_CHARACTERS:
        csv.field_size_limit(MAX_LINE_CHARACTERS)
        try:
            return list(islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), MAX_ROWS + 1))
        except csv.Error:
            pass
    return (line.split(delimiter, MAX_COLUMNS) for line in lines)
