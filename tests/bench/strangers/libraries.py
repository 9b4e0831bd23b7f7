"""Prints what libraries that Sage doesn't use read in a file: `PYTHON libraries.py KIND FILE`.

It runs in an environment of its own, with pypdf, pdfminer.six, python-calamine, extract-msg, chardet and
webvtt-py.
"""

import importlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

HIDDEN, NOT_VIEWED = 2, 32


def form_values(file: str) -> str:
    """Return what was typed or chosen in a PDF's fields that are shown."""
    reader = importlib.import_module("pypdf").PdfReader(file)
    if reader.is_encrypted:
        reader.decrypt("")
    shown = (each.get_object() for page in reader.pages for each in page.get("/Annots") or ())
    values = (_value(each) for each in shown if not int(each.get("/F", 0)) & (HIDDEN | NOT_VIEWED))
    return "\n".join(filter(None, values))


def _value(field: Any) -> str:
    """Return the value of a text, or the shown label of a choice, which its widgets have in common."""
    while "/FT" not in field or "/V" not in field:
        if "/Parent" not in field:
            return ""
        above = field["/Parent"].get_object()
        field = {**above, **{name: field[name] for name in ("/FT", "/V", "/Opt") if name in field}}
    if field["/FT"] == "/Ch":
        chosen = field["/V"] if isinstance(field["/V"], list) else [field["/V"]]
        labels = {str(each[0]): str(each[1]) for each in field.get("/Opt", ()) if isinstance(each, list)}
        return "\n".join(labels.get(str(each), str(each)) for each in chosen)
    return str(field["/V"]) if field["/FT"] == "/Tx" else ""


def by_pypdf(file: str) -> str:
    """Return the pages of a PDF, separated by form feeds."""
    reader = importlib.import_module("pypdf").PdfReader(file)
    if reader.is_encrypted:
        reader.decrypt("")
    return "\f".join(page.extract_text().replace("\f", " ") for page in reader.pages)


def by_pdfminer(file: str) -> str:
    """Return the pages of a PDF, separated by form feeds.

    It leaves out what is outside the page, and a line that is drawn on itself counts once.
    """
    pages = importlib.import_module("pdfminer.high_level").extract_pages(file)
    return "\f".join("".join(_within(page, page.bbox, set())).replace("\f", " ") for page in pages)


def _within(item: Any, page: Sequence[float], seen: set[tuple[str, tuple[int, ...]]]) -> Iterator[str]:
    layout = importlib.import_module("pdfminer.layout")
    if isinstance(item, layout.LTTextLine | layout.LTChar):
        left, bottom, right, top = item.bbox
        placed = (item.get_text(), tuple(map(round, item.bbox)))
        is_on_page = page[0] <= (left + right) / 2 <= page[2] and page[1] <= (bottom + top) / 2 <= page[3]
        if is_on_page and placed not in seen:
            yield item.get_text()
        if isinstance(item, layout.LTTextLine):
            seen.add(placed)
    elif isinstance(item, layout.LTContainer):
        for each in item:
            yield from _within(each, page, seen)
        if isinstance(item, layout.LTTextBox):
            yield "\n"


def workbook(file: str) -> str:
    """Return the values of a workbook's sheets."""
    book = importlib.import_module("python_calamine").CalamineWorkbook.from_path(file)
    return "\n".join(
        " ".join(_cell(cell) for cell in row)
        for name in book.sheet_names
        for row in book.get_sheet_by_name(name).to_python()
    )


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:.10g}"
    if isinstance(value, datetime) and not (value.hour or value.minute or value.second):
        return value.date().isoformat()
    return str(value)


def message(file: str) -> str:
    """Return an Outlook message's headers, text, and the names of its attachments, as a JSON object."""
    library = importlib.import_module("extract_msg")
    with library.openMsg(file, delayAttachments=False) as opened:
        people = [getattr(opened, name, None) for name in ("sender", "to", "cc", "subject")]
        html = getattr(opened, "htmlBody", None)
        return json.dumps(
            {
                "text": "\n".join([*filter(None, people), opened.body or ""]),
                "html": html.decode("utf-8", "replace") if html and not opened.body else "",
                "attached": [
                    _name(each) for each in opened.attachments if not getattr(each, "hidden", False)
                ],
            }
        )


def _name(attachment: Any) -> str:
    """Return a file's name; of a message inside another, its subject."""
    if isinstance(attachment.data, bytes | None):
        return str(attachment.longFilename or attachment.shortFilename or "")
    return str(attachment.data.subject or "")


def text(file: str) -> str:
    """Return a text file by the encoding that chardet finds in it."""
    data = Path(file).read_bytes()
    found = importlib.import_module("chardet").detect(data)
    return data.decode(found["encoding"] or "utf-8", "replace")


def transcript(file: str) -> str:
    """Return what is said in a transcript."""
    library = importlib.import_module("webvtt")
    read = library.from_srt if file.endswith(".srt") else library.read
    return "\n".join(_spoken(read(file)))


def _spoken(captions: Any) -> Iterator[str]:
    for caption in captions:
        yield caption.voice or ""
        yield caption.text


READERS: dict[str, Callable[[str], str]] = {
    "form": form_values,
    "pypdf": by_pypdf,
    "pdfminer": by_pdfminer,
    "workbook": workbook,
    "message": message,
    "text": text,
    "transcript": transcript,
}

if __name__ == "__main__":
    kind, name = sys.argv[1:]
    sys.stdout.buffer.write(READERS[kind](name).encode("utf-8", "replace"))
