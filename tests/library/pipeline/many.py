"""Documents of all types from the labelled texts, with what each is. The seed is fixed.

Images are plain colours: the model of the tests knows by their names what they show, and where no model can
look at images, they end in review.
"""

import csv
import io
import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from html import escape

import docx
import openpyxl
from PIL import Image
from pptx import Presentation
from reportlab.pdfgen.canvas import Canvas

from tests.library.extractors import open_documents, outlook
from tests.library.labelled_texts import read_labelled_texts

SEED = 13
FORMS = ("txt", "md", "html", "eml", "docx", "pdf", "xlsx", "odt", "ods", "odp", "csv", "msg", "rtf")
IMAGES = ("jpeg", "png", "gif", "webp", "tiff", "bmp")
RARE_FORMS = (("pptx",), ("vtt",), ("srt",), IMAGES)
"""In turn."""
DUPLICATES = 8
BROKEN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A file. `file_type` is what it is; empty where it can't be read."""

    name: str
    data: bytes
    file_type: str
    is_duplicate: bool = False


def make_many(count: int, *, rare_each: int) -> list[Made]:
    """Return so many documents, one of `rare_each` in a rare form; duplicates come after their originals."""
    chance = random.Random(SEED)
    made = list(_readable(chance, count, rare_each))[: count - DUPLICATES - BROKEN]
    broken = [
        Made(name=f"{number} broken.pdf", data=one.data[: len(one.data) // 3] + b"%d" % number, file_type="")
        for number, one in enumerate(made)
        if one.name.endswith(".pdf")
    ][:BROKEN]
    copies = [
        Made(name=f"copy of {one.name}", data=one.data, file_type=one.file_type, is_duplicate=True)
        for one in chance.sample(made, DUPLICATES)
    ]
    return [*made, *broken, *copies]


def _readable(chance: random.Random, count: int, rare_each: int) -> Iterator[Made]:
    labelled = read_labelled_texts()
    for number in range(count):
        item = labelled[number % len(labelled)]
        text = item.text
        if number >= len(labelled):
            # The same sentences in another order, so that it is no near-same text of the first.
            words = text.split()
            parts = [" ".join(words[place : place + 3]) for place in range(0, len(words), 3)]
            chance.shuffle(parts)
            text = "\n".join(parts)
        form = _form_of(number, rare_each)
        stem = item.name.rsplit(".", 1)[0] or "document"
        name = f"{number} {stem}.{form}"
        data = _in_form(form, f"{text}\n\nFile number {number}")
        yield Made(name=name, data=data, file_type=item.file_type)


def _form_of(number: int, rare_each: int) -> str:
    turn, place = divmod(number, rare_each)
    if place != rare_each - 1:
        return FORMS[number % len(FORMS)]
    forms = RARE_FORMS[turn % len(RARE_FORMS)]
    return forms[turn // len(RARE_FORMS) % len(forms)]


def _in_form(form: str, text: str) -> bytes:
    match form:
        case "txt" | "md":
            return text.encode()
        case "html":
            lines = "".join(f"<p>{escape(line)}</p>" for line in text.splitlines())
            return f"<!doctype html><html><body>{lines}</body></html>".encode()
        case "eml":
            message = EmailMessage()
            message["From"], message["To"] = "ada@example.org", "grace@example.org"
            message["Subject"] = "A document"
            message.set_content(text)
            return bytes(message)
        case "vtt" | "srt":
            return _as_cues(form, text.splitlines())
        case "odt" | "ods" | "odp":
            return _as_open_document(form, text.splitlines())
        case "csv":
            return _as_table(text.splitlines())
        case "rtf":
            return _as_rtf(text.splitlines())
        case "msg":
            return outlook.container(outlook.message(outlook.text(0x1000, text)))
    written = io.BytesIO()
    _write(form, text, written)
    return written.getvalue()


def _write(form: str, text: str, written: io.BytesIO) -> None:
    match form:
        case "docx":
            document = docx.Document()
            for line in text.splitlines():
                document.add_paragraph(line)
            document.save(written)
        case "xlsx":
            workbook = openpyxl.Workbook()
            sheet = workbook.create_sheet("Lines", 0)
            for line in text.splitlines():
                sheet.append([f" {line}"])
            workbook.save(written)
        case "pptx":
            presentation = Presentation()
            slide = presentation.slides.add_slide(presentation.slide_layouts[5])
            slide.shapes.add_textbox(0, 0, 1_000, 1_000).text_frame.text = text
            presentation.save(written)
        case "pdf":
            canvas = Canvas(written, invariant=True)
            for place, line in enumerate(text.splitlines()[:50]):
                canvas.drawString(40, 810 - 15 * place, line[:110])
            canvas.save()
        case _:
            red, green, blue, _ = zlib.crc32(text.encode()).to_bytes(4)
            Image.new("RGB", (40, 40), (red, green, blue)).save(written, form.upper())


def _as_rtf(lines: Sequence[str]) -> bytes:
    said = "\\par\n".join("".join(map(_in_rtf, line)) for line in lines)
    return f"{{\\rtf1\\ansi\\uc0\n{said}}}".encode()


def _in_rtf(letter: str) -> str:
    if letter in "\\{}":
        return f"\\{letter}"
    return letter if letter.isascii() else f"\\u{ord(letter)} "


def _as_open_document(form: str, lines: Sequence[str]) -> bytes:
    match form:
        case "odt":
            return open_documents.document("text", "".join(map(open_documents.paragraph, lines)))
        case "ods":
            return open_documents.document(
                "spreadsheet", open_documents.sheet("Lines", "".join(map(open_documents.row, lines)))
            )
        case _:
            boxes = "".join(map(open_documents.boxed, lines))
            return open_documents.document("presentation", f"<draw:page>{boxes}</draw:page>")


def _as_table(lines: Sequence[str]) -> bytes:
    written = io.StringIO()
    csv.writer(written).writerows([number, line] for number, line in enumerate(lines))
    return written.getvalue().encode()


def _as_cues(form: str, lines: Sequence[str]) -> bytes:
    """Return subtitles with a line a second."""
    point = "." if form == "vtt" else ","
    cues = [
        f"{number}\n00:{number // 60:02}:{number % 60:02}{point}000 --> 00:59:59{point}000\n{line}\n"
        for number, line in enumerate(filter(None, lines), start=1)
    ]
    return "\n".join(["WEBVTT\n"] * (form == "vtt") + cues).encode()


def images() -> Sequence[Made]:
    """Return an image of each kind."""
    return [Made(name=f"scan.{form}", data=_in_form(form, form), file_type="") for form in IMAGES]
