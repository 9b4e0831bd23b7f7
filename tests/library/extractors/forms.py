"""PDFs that people filled in or wrote on, by reportlab and by hand."""

import io

from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from tests.library.extractors import images
from tests.library.extractors.pdf_objects import written_pdf

DATASETS = """<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><form1>
<Name>Mia Groß</Name>
<Address><Street>12 High Street</Street><Empty/></Address></form1></xfa:data></xfa:datasets>"""
TEXT = (
    "Income tax return",
    "Please enter all amounts in full euros and sign on the last page.",
    "Name both spouses if you are assessed jointly, even if only one of you has income.",
    "Send receipts only if the office asks you for them, but keep them for ten years.",
)


def form(*, name: str = "", income: str = "", is_married: bool = False) -> bytes:
    """Return a form of two pages; without values a blank one."""
    written = io.BytesIO()
    canvas = Canvas(written, invariant=True)
    for number, line in enumerate(TEXT):
        canvas.drawString(50, 800 - 20 * number, line)
    fields = canvas.acroForm
    fields.textfield(name="form.name", tooltip="Your name", value=name, x=50, y=700)
    fields.textfield(name="pin", tooltip="PIN", value="4711", fieldFlags="password", x=50, y=650)
    fields.checkbox(name="married", tooltip="Married", checked=is_married, x=50, y=600)
    fields.radio(name="class", tooltip="Tax class", value="IV", selected=is_married, x=50, y=550)
    fields.radio(name="class", tooltip="Tax class", value="I", selected=False, x=80, y=550)
    canvas.showPage()
    canvas.drawString(50, 800, "Page two of the income tax return")
    fields.textfield(name="top[0].Page2[0].income[0]", value=income, x=50, y=700)
    if name:
        states = [("Bavaria", "BY"), ("Hesse", "HE")]
        fields.choice(name="state", tooltip="State", value="BY", options=states, x=50, y=650)
    canvas.showPage()
    canvas.save()
    return written.getvalue()


def mixed() -> bytes:
    """Return a page of text with a small image, and two scans, one of them with a stamp."""
    written = io.BytesIO()
    canvas = Canvas(written, invariant=True)
    scan = ImageReader(io.BytesIO(images.image("PNG", size=(60, 80))))
    canvas.drawString(50, 800, "A letter of one page, with what belongs to it on the pages after it")
    canvas.drawImage(scan, 400, 700, 60, 80)
    canvas.showPage()
    canvas.drawImage(scan, 0, 0, 590, 830)
    canvas.drawString(50, 800, "Scanned on 3 May 2026")
    canvas.showPage()
    canvas.drawImage(scan, 0, 0, 590, 830)
    canvas.showPage()
    canvas.save()
    return written.getvalue()


def pdf_with_annotations(*annotations: bytes) -> bytes:
    """Return a page that says "A lease", with these annotations."""
    stream = b"BT /F 12 Tf 50 700 Td (A lease of ten years) Tj ET"
    kids = b" ".join(b"%d 0 R" % number for number in range(6, 6 + len(annotations)))
    return written_pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F 5 0 R >> >>"
        b" /Contents 4 0 R /Annots [%s] >>" % kids,
        b"<< /Length %d >> stream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *annotations,
    )


def pdf_with_shown(*annotations: str, drawn: bytes = b"BT /F 12 Tf 5 5 Td (PAID 3 May 2026) Tj ET") -> bytes:
    """Return a page that says "A lease", with annotations that all show the same words."""
    stream = b"BT /F 12 Tf 50 700 Td (A lease of ten years) Tj ET"
    kids = b" ".join(b"%d 0 R" % number for number in range(7, 7 + len(annotations)))
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F 5 0 R >>"
    form += b" /XObject << /A 6 0 R >> >>"
    return written_pdf(
        b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [%s] >> >>" % kids,
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F 5 0 R >> >>"
        b" /Contents 4 0 R /Annots [%s] >>" % kids,
        b"<< /Length %d >> stream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< %s /Length %d >> stream\n%s\nendstream" % (form, len(drawn), drawn),
        *(
            f"<< /Type /Annot /Rect [50 600 250 620] /AP << /N 6 0 R >> {each} >>".encode()
            for each in annotations
        ),
    )


def pdf_with_stamped_pages(count: int, letters: int) -> bytes:
    """Return pages with so many letters, each with a stamp that says "PAID"."""
    line = b"0 -12 Td (%s) Tj " % (b"a lease " * 12)
    stream = b"BT /F 9 Tf 50 790 Td %s ET" % (line * (letters // 84))
    drawn = b"BT /F 12 Tf 5 5 Td (PAID) Tj ET"
    font = b"/Resources << /Font << /F 4 0 R >> >>"
    form = b"<< /Type /XObject /Subtype /Form /BBox [0 0 200 20] %s /Length %d >> stream\n%s\nendstream"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 900 800] %s /Contents 3 0 R /Annots [6 0 R] >>"
    pages = b" ".join(b"%d 0 R" % number for number in range(7, 7 + count))
    return written_pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (pages, count),
        b"<< /Length %d >> stream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        form % (font, len(drawn), drawn),
        b"<< /Type /Annot /Subtype /Stamp /Rect [50 600 250 620] /AP << /N 5 0 R >> >>",
        *[page % font] * count,
    )


def pdf_with_long_stamps(count: int, drawn: bytes) -> bytes:
    """Return a page that says "A lease", with stamps that refer to a form of their own for what they show."""
    form = b"<< /Length %d >> stream\n%s\nendstream"
    shared = b"/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F 5 0 R >>"
    shared += b" /XObject << /A 7 0 R >> >>"
    stamps = range(8, 8 + count)
    return written_pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F 5 0 R >> >>"
        b" /Contents 4 0 R /Annots [%s] >>" % b" ".join(b"%d 0 R" % number for number in stamps),
        form % (50, b"BT /F 12 Tf 50 700 Td (A lease of ten years) Tj ET"),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        (form % (5, b"/A Do")).replace(b"<<", b"<< " + shared, 1),
        (form % (len(drawn), drawn)).replace(b"<<", b"<< " + shared, 1),
        *(
            b"<< /Type /Annot /Subtype /Stamp /Rect [%d 600 250 620] /AP << /N 6 0 R >> >>" % (number % 50)
            for number in stamps
        ),
    )


def annotation(kind: str, contents: str, *, more: str = "") -> bytes:
    return f"<< /Type /Annot /Subtype /{kind} /Rect [9 9 99 99] /Contents ({contents}) {more} >>".encode(
        "latin-1"
    )


def pdf_with_xfa(data: bytes, *, filters: bytes = b"") -> bytes:
    stream = b"BT /F 12 Tf 50 700 Td (Please wait until your viewer has loaded it) Tj ET"
    return written_pdf(
        b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [] /XFA [(datasets) 6 0 R] >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F 5 0 R >> >>"
        b" /Contents 4 0 R >>",
        b"<< /Length %d >> stream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< %s /Length %d >> stream\n%s\nendstream" % (filters, len(data), data),
    )
