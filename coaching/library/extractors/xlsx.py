"""Excel workbooks: a page for each sheet, a line of values for each row, then shapes, charts and comments."""

import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time

from openpyxl import load_workbook

from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.office import MAX_COLUMNS, MAX_ROWS, ROWS_READ, checked_package
from coaching.library.extractors.xlsx_beside import Beside


def extract(data: bytes) -> Extracted:
    """Return the rows of each sheet under its name. Raises `Unread`."""
    package = checked_package(data)
    workbook = load_workbook(io.BytesIO(package), read_only=True, data_only=True, keep_links=False)
    beside = Beside(zipfile.ZipFile(io.BytesIO(package)))
    pages = []
    is_cut = False
    for sheet in workbook.worksheets:
        lines = [f"Sheet: {sheet.title}"]
        for number, cells in enumerate(sheet.iter_rows(max_col=MAX_COLUMNS, values_only=True)):
            if number >= MAX_ROWS:
                is_cut = True
                break
            lines += _line(cells)
        lines += beside.lines(sheet.title)
        pages.append("\n".join(lines) if len(lines) > 1 else "")
    return Extracted(pages=tuple(pages), page_count=len(pages), note=ROWS_READ if is_cut else "")


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
