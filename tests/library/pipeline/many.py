"""Three hundred documents of all types from the labelled texts, with what each is. The seed is fixed."""

import io
import random
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from html import escape

import docx
import openpyxl
from reportlab.pdfgen.canvas import Canvas

from tests.library.labelled_texts import read_labelled_texts

SEED = 13
COUNT = 300
FORMS = ("txt", "md", "html", "eml", "docx", "pdf", "xlsx", "txt", "md")
DUPLICATES = 8
BROKEN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A file. `file_type` is what it is; empty where it can't be read."""

    name: str
    data: bytes
    file_type: str
    is_duplicate: bool = False


def three_hundred() -> list[Made]:
    """Return the documents; duplicates come after their originals."""
    chance = random.Random(SEED)
    made = list(_readable(chance))[: COUNT - DUPLICATES - BROKEN]
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


def _readable(chance: random.Random) -> Iterator[Made]:
    labelled = read_labelled_texts()
    for number in range(COUNT):
        item = labelled[number % len(labelled)]
        text = item.text
        if number >= len(labelled):
            # The same sentences in another order, so that it is no near-same text of the first.
            words = text.split()
            parts = [" ".join(words[place : place + 3]) for place in range(0, len(words), 3)]
            chance.shuffle(parts)
            text = "\n".join(parts)
        form = FORMS[number % len(FORMS)]
        stem = item.name.rsplit(".", 1)[0] or "document"
        name = f"{number} {stem}.{form}"
        data = _in_form(form, f"{text}\n\nFile number {number}")
        yield Made(name=name, data=data, file_type=item.file_type)


def _in_form(form: str, text: str) -> bytes:
    written = io.BytesIO()
    match form:
        case "html":
            lines = "".join(f"<p>{escape(line)}</p>" for line in text.splitlines())
            return f"<!doctype html><html><body>{lines}</body></html>".encode()
        case "eml":
            message = EmailMessage()
            message["From"], message["To"] = "ada@example.org", "grace@example.org"
            message["Subject"] = "A document"
            message.set_content(text)
            return bytes(message)
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
        case "pdf":
            canvas = Canvas(written, invariant=True)
            for place, line in enumerate(text.splitlines()[:50]):
                canvas.drawString(40, 810 - 15 * place, line[:110])
            canvas.save()
        case _:
            return text.encode()
    return written.getvalue()
