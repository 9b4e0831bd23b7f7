"""Excel workbooks: a page for each sheet, a line of values for each row, then shapes, charts and comments."""

import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time

from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.left_out import note_of, without_marks
from coaching.library.extractors.office import MAX_COLUMNS, MAX_ROWS, ROWS_READ, checked_package
from coaching.library.extractors.xlsx_beside import Beside
from coaching.sandbox.preloading import without

with without("numpy"):  # it would take 80 MB of what a reader may have
    from openpyxl import load_workbook


def extract(data: bytes) -> Extracted:
    """Return the rows of each sheet under its name. Raises `Unread`."""
    package = checked_package(data)
    workbook = load_workbook(io.BytesIO(package), read_only=True, data_only=True, keep_links=False)
    beside = Beside(zipfile.ZipFile(io.BytesIO(package)))
    pages = []
    is_cut = False
    for sheet in workbook.worksheets:
        sheet.reset_dimensions()  # stated ones may be too small, and rows beyond them would be lost
        lines: list[str] = []
        for number, cells in enumerate(sheet.iter_rows(max_col=MAX_COLUMNS, values_only=True)):
            if number >= MAX_ROWS:
                is_cut = True
                break
            lines += _line(cells)
        lines += beside.lines(sheet.title)
        pages.append("\n".join(lines))
    return Extracted(
        pages=tuple(map(_named, (sheet.title for sheet in workbook.worksheets), pages)),
        page_count=len(pages),
        note="\n".join(filter(None, [ROWS_READ if is_cut else "", note_of(pages)])),
    )


def _named(title: str, marked: str) -> str:
    """Return the text of a sheet under its name; empty without any."""
    text = without_marks(marked)
    return f"Sheet: {title}\n{text}" if text else ""


def _line(cells: tuple[object, ...]) -> Iterator[str]:
    filled = next((place for place in range(len(cells), 0, -1) if cells[place - 1] is not None), 0)
    if filled:
        yield " | ".join(_shown(cell) for cell in cells[:filled])


def _shown(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time.min else cell.isoformat(" ", "minutes")
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else f"{cell:.10g}"
    return " ".join(str(cell).split())
