"""Small files of every type, written by the libraries that people's programs resemble."""

import io
from collections.abc import Sequence
from email.message import EmailMessage

import openpyxl
from pptx import Presentation
from reportlab.pdfgen.canvas import Canvas

from tests.library.extractors.word import docx

__all__ = ["docx", "eml", "pdf", "pptx", "xlsx"]


def pdf(pages: Sequence[Sequence[str]], *, title: str = "") -> bytes:
    written = io.BytesIO()
    canvas = Canvas(written, invariant=True)
    canvas.setTitle(title)
    for lines in pages:
        for number, line in enumerate(lines):
            canvas.drawString(50, 800 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return written.getvalue()


def xlsx() -> bytes:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.title = "Rents"
    sheet.append(["Unit", "Rent", "From"])
    sheet.append(["1a", 1200.5, None])
    workbook.create_sheet("Notes").append(["Unit 2 is empty."])
    written = io.BytesIO()
    workbook.save(written)
    return written.getvalue()


def pptx() -> bytes:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    assert slide.shapes.title is not None
    slide.shapes.title.text = "Offer"
    slide.placeholders[1].text = "Two floors"
    notes = slide.notes_slide.notes_text_frame
    assert notes is not None
    notes.text = "Mention the parking."
    written = io.BytesIO()
    presentation.save(written)
    return written.getvalue()


def eml() -> bytes:
    message = EmailMessage()
    message["From"] = "Jürgen Groß <jg@example.org>"
    message["To"] = "mia@example.org"
    message["Date"] = "Mon, 01 Jun 2026 10:00:00 +0200"
    message["Subject"] = "Schlüssel"
    message.set_content("The keys are ready.")
    message.add_alternative("<p>The keys are <b>ready</b>.</p>", subtype="html")
    message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="lease.pdf")
    return message.as_bytes()


HTML = b"""<!doctype html><html><head><title>Our flat</title><style>p {color: red}</style></head>
<body><script>steal()</script><h1>Rooms</h1><p>Three <b>bright</b>
rooms.</p><table><tr><td>Rent</td><td>900</td></tr></table><img src="https://example.org/x.png"></body></html>"""

VTT = b"""WEBVTT

NOTE recorded on Monday

1
00:00:01.000 --> 00:00:04.000
<v Ann Lee>We sign on <i>Friday</i>.

01:00:05.000 --> 01:00:09.000
Bob: Agreed.
"""

SRT = b"""1
00:00:01,000 --> 00:00:04,000
Ann: We sign
on Friday.

2
00:01:05,000 --> 00:01:09,000
<i>Bob</i>: Agreed.
"""
