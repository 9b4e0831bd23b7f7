"""OpenDocument spreadsheets: a page for each sheet, a line for each row, with values as they are shown.

The content is parsed row by row and forgotten: a tree of all of it would take a multiple of its size.
"""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.office import MAX_COLUMNS, MAX_ROWS, ROWS_READ, count_of, joined_cells
from coaching.library.extractors.opendocument import (
    CELL,
    COVERED,
    PARSING,
    ROW,
    SKIPPED,
    TABLE,
    P,
    open_package,
    package_hints,
    qualified,
)

MAX_CHARACTERS = 4_000_000
"""Of all sheets together. A row that says it stands there a million times ends here."""
_NAME, _REPEATED = qualified("table:name"), qualified("table:number-rows-repeated")
_DATE, _TIME = qualified("office:date-value"), qualified("office:time-value")
_SECONDS = re.compile(r"PT(\d{1,4}+)H(\d{1,2}+)M(\d{1,2}+)(?:[.,]\d*+)?+S")
_COLUMNS_REPEATED = qualified("table:number-columns-repeated")
_VALUES = tuple(
    qualified(f"office:{name}")
    for name in ("string-value", "date-value", "time-value", "boolean-value", "value")
)


@dataclass(slots=True)
class _Sheet:
    name: str
    lines: list[str] = field(default_factory=list)
    row_count: int = 0
    is_cut: bool = False


def extract(data: bytes) -> Extracted:
    """Return the rows of each sheet under its name. Raises `Unread`."""
    with open_package(data) as package:
        sheets = list(_sheets(package))
        hints = package_hints(package)
    pages = tuple(
        "\n".join([f"Sheet: {sheet.name}", *sheet.lines]) if sheet.lines else "" for sheet in sheets
    )
    is_cut = any(sheet.is_cut for sheet in sheets)
    note = ROWS_READ if is_cut else ""
    return Extracted(pages=pages or ("",), page_count=max(1, len(pages)), hints=hints, note=note)


def _sheets(package: zipfile.ZipFile) -> Iterator[_Sheet]:
    left = MAX_CHARACTERS
    sheet: _Sheet | None = None
    skipped = depth = 0
    with package.open("content.xml") as content:
        events = etree.iterparse(content, events=("start", "end"), tag=[TABLE, ROW, *SKIPPED], **PARSING)
        for event, element in events:
            if element.tag in SKIPPED:
                skipped += 1 if event == "start" else -1
            elif element.tag == TABLE and not skipped:
                depth += 1 if event == "start" else -1
                if event == "start" and depth == 1:
                    sheet = _Sheet(name=" ".join(element.get(_NAME, "").split()))
                elif sheet is not None and depth == 0:
                    yield sheet
                    sheet = None
            elif element.tag == ROW and event == "end" and depth == 1:
                if sheet is not None and not skipped:
                    left = _add(sheet, element, left)
                _forget(element)


def _add(sheet: _Sheet, row: etree._Element, left: int) -> int:
    """Add a row as often as it says, within the limits; return how many characters are left."""
    times = count_of(row.get(_REPEATED))
    before = sheet.row_count
    sheet.row_count += times
    if sheet.is_cut:
        return left
    cells = _cells(row)
    length = sum((len(text) + 3) * repeated for text, repeated in cells)
    if not length:
        return left
    fitting = min(times, max(0, MAX_ROWS - before), left // length)
    sheet.is_cut = fitting < times
    if fitting:
        sheet.lines += [joined_cells([text for text, repeated in cells for _ in range(repeated)])] * fitting
    return left - fitting * length


def _cells(row: etree._Element) -> list[tuple[str, int]]:
    """Return the cells up to the last with text, and how often each stands there, up to `MAX_COLUMNS`."""
    cells: list[tuple[str, int]] = []
    room = MAX_COLUMNS
    for cell in row.iterchildren(CELL, COVERED):
        times = min(count_of(cell.get(_COLUMNS_REPEATED)), room)
        if not times:
            break
        cells.append((_shown(cell), times))
        room -= times
    while cells and not cells[-1][0]:
        cells.pop()
    return cells


def _shown(cell: etree._Element) -> str:
    """Return a cell's text as its program shows it, or else its value. Comments aren't part of it.

    Of a date without its century, and of a time without its seconds, the value is returned.
    """
    shown = " ".join(" ".join("".join(line.itertext()) for line in cell.iterchildren(P)).split())
    day, moment = cell.get(_DATE, ""), _SECONDS.fullmatch(cell.get(_TIME, ""))
    if shown and day and day[:4] not in shown:
        return str(day.partition(".")[0].replace("T", " ").removesuffix(" 00:00:00"))
    if shown and moment and int(moment[3]) and shown.count(":") < 2:
        return ":".join(moment.groups())
    return shown or next((value for name in _VALUES if (value := cell.get(name))), "")


def _forget(row: etree._Element) -> None:
    parent = row.getparent()
    row.clear()
    while parent is not None and (before := row.getprevious()) is not None:
        parent.remove(before)
