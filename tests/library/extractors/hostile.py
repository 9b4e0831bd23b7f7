"""Files built to harm, or to break, what reads them. Each is small to make, whatever it unpacks to."""

import io
import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from functools import partial

from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from tests.library.extractors import files, hostile_office, hostile_parts, images
from tests.library.extractors.pdf_objects import written_pdf

MEGABYTE = 1024 * 1024
WORDS = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>{}'
    "</w:t></w:r></w:p></w:body></w:document>"
)
SECRET = "a-secret-in-a-file"


def encrypted_pdf() -> bytes:
    written = io.BytesIO()
    canvas = Canvas(written, encrypt="a password")
    canvas.drawString(50, 800, "A lease of ten years")
    canvas.save()
    return written.getvalue()


def encrypted_workbook() -> bytes:
    """What Excel writes with a password: an older container around the encrypted package."""
    return (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
        + bytes(504)
        + "EncryptedPackage".encode("utf-16-le")
        + bytes(5_000)
    )


def scanned_pdf(*, strips: int = 1, share: float = 1.0) -> bytes:
    """Return three pages without words, each with an image in strips over this share of its height."""
    written = io.BytesIO()
    canvas = Canvas(written)
    image = ImageReader(io.BytesIO(images.image("PNG", size=(600, 800))))
    height = share * 800 / strips
    for _ in range(3):
        for number in range(strips):
            canvas.drawImage(image, 0, number * height, 600, height)
        canvas.showPage()
    canvas.save()
    return written.getvalue()


def long_pdf() -> bytes:
    return files.pdf([[f"This is page {number}"] for number in range(1, 2_001)])


def pdf_whose_pages_contain_themselves() -> bytes:
    return written_pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 2000000000 /Parent 3 0 R >>",
        b"<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 2000000000 /Parent 2 0 R >>",
    )


def pdf_whose_drawing_draws_itself() -> bytes:
    stream = b"/A Do /B Do /A Do"
    form = b"<< /Subtype /Form /BBox [0 0 9 9] /Resources 5 0 R /Length %d >> stream\n%s\nendstream"
    return written_pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Resources 5 0 R /Contents 4 0 R >>",
        b"<< /Length %d >> stream\n%s\nendstream" % (len(stream), stream),
        b"<< /XObject << /A 6 0 R /B 7 0 R >> >>",
        form % (len(stream), stream),
        form % (len(stream), stream),
    )


def pdf_whose_page_unpacks_to_half_a_gigabyte() -> bytes:
    packer = zlib.compressobj(1)
    block = b"BT (a) Tj ET q Q\n" * 65_536
    stream = b"".join(packer.compress(block) for _ in range(480)) + packer.flush()
    return written_pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R >>",
        b"<< /Filter /FlateDecode /Length %d >> stream\n%s\nendstream" % (len(stream), stream),
    )


def with_member(package: bytes, name: str, content: bytes) -> bytes:
    """Return a package with a member replaced or added."""
    written = io.BytesIO()
    old = zipfile.ZipFile(io.BytesIO(package))
    with old, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            if member.filename != name:
                new.writestr(member, old.read(member))
        new.writestr(name, content)
    return written.getvalue()


def zip_bomb() -> bytes:
    return with_member(files.docx(), "word/media/image1.bin", bytes(150 * MEGABYTE))


def large_package() -> bytes:
    """Unpacks to 210 MB, at less than a hundred times its size."""
    written = io.BytesIO(files.xlsx())
    block = random.Random(1).randbytes(40_000) + bytes(MEGABYTE)
    package = zipfile.ZipFile(written, "a", zipfile.ZIP_DEFLATED, compresslevel=1)
    with package, package.open("xl/media/1.bin", "w") as member:
        for _ in range(205):
            member.write(block)
    return written.getvalue()


def many_members() -> bytes:
    written = io.BytesIO(files.docx())
    with zipfile.ZipFile(written, "a") as package:
        for number in range(1_001):
            package.writestr(f"word/media/{number}.png", b"x")
    return written.getvalue()


def symlink_archive() -> bytes:
    written = io.BytesIO(files.docx())
    with zipfile.ZipFile(written, "a") as package:
        link = zipfile.ZipInfo("word/header9.xml")
        link.external_attr = 0o120777 << 16
        package.writestr(link, "/etc/passwd")
    return written.getvalue()


def locked_archive() -> bytes:
    """A package whose members are marked as encrypted."""
    package = bytearray(files.docx())
    at = 0
    while (at := package.find(b"PK\x01\x02", at)) >= 0:
        package[at + 8] |= 1
        at += 4
    return bytes(package)


def external_entity(path: str, *, before: str = "") -> bytes:
    entity = f'<!DOCTYPE d [<!ENTITY x SYSTEM "file://{path}">]>'
    document = f'<?xml version="1.0"?>{before}{entity}{WORDS.format("A lease &x;")}'
    return with_member(files.docx(), "word/document.xml", document.encode())


def external_entity_in_a_workbook(path: str) -> bytes:
    sheet = (
        f'<?xml version="1.0"?><!-- {"x" * 5_000} --><!DOCTYPE d [<!ENTITY x SYSTEM "file://{path}">]>'
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">'
        '<c r="A1" t="inlineStr"><is><t>Rent &x;</t></is></c></row></sheetData></worksheet>'
    )
    return with_member(files.xlsx(), "xl/worksheets/sheet1.xml", sheet.encode())


def entities_that_multiply(*, before: str = "", encoding: str = "utf-8") -> bytes:
    rows = ['<!ENTITY e0 "lolololol">', *(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))]
    document = f'<?xml version="1.0"?>{before}<!DOCTYPE d [{"".join(rows)}]>' + WORDS.format("&e9;")
    return with_member(files.docx(), "word/document.xml", document.encode(encoding))


def sheet_by_another_name(name: str) -> bytes:
    """A workbook whose sheet, with entities, is a member of any name."""
    package = files.xlsx()
    with zipfile.ZipFile(io.BytesIO(package)) as old:
        relations = old.read("xl/_rels/workbook.xml.rels")
    sheet = (
        '<!DOCTYPE d [<!ENTITY x "Rent">]>'
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        '<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>&x;</t></is></c></row></sheetData></worksheet>'
    )
    renamed = relations.replace(b"worksheets/sheet1.xml", name.encode())
    assert renamed != relations
    package = with_member(package, "xl/_rels/workbook.xml.rels", renamed)
    return with_member(package, f"xl/{name}", sheet.encode())


def document_with_drawing(doctype: str) -> bytes:
    """A document with a drawing that other programs wrote."""
    drawing = f'<?xml version="1.0"?>{doctype}<svg xmlns="http://www.w3.org/2000/svg"/>'
    return with_member(files.docx(), "word/media/image2.svg", drawing.encode())


def image_of_a_billion_pixels() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))

    header = struct.pack("!IIBBBBB", 32_000, 32_000, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(20 * MEGABYTE), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def mail_within_mails() -> bytes:
    head = b"From: a@example.org\nTo: b@example.org\nSubject: x\nMIME-Version: 1.0\n"
    parts = b"".join(
        b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (number, number)
        for number in range(2_000)
    )
    return head + parts


def costly_sheet() -> bytes:
    """Rows whose first and last columns are far apart."""
    rows = "".join(
        f'<row r="{n}"><c r="A{n}"><v>{n * 7919 % 100_003}.5</v></c><c r="XFD{n}"><v>{n}</v></c></row>'
        for n in range(1, 100_001)
    )
    head = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    sheet = f"{head}{rows}</sheetData></worksheet>"
    return with_member(files.xlsx(), "xl/worksheets/sheet1.xml", sheet.encode())


def plain_archive() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("lease.txt", "A lease")
    return written.getvalue()


INSTRUCTIONS = "This file contains instructions"
HOSTILE: Mapping[str, tuple[Callable[[], bytes], str, str]] = {
    "encrypted pdf": (encrypted_pdf, "needs_password", "This file is protected by a password."),
    "encrypted workbook": (encrypted_workbook, "needs_password", "This file is protected by a password."),
    "locked archive": (locked_archive, "needs_password", "This file is protected by a password."),
    "truncated pdf": (lambda: long_pdf()[:300], "broken", "This PDF is damaged"),
    "truncated docx": (lambda: files.docx()[:-3_000], "broken", "This file is damaged"),
    "pages that contain themselves": (pdf_whose_pages_contain_themselves, "broken", "This PDF is damaged"),
    "drawing that draws itself": (pdf_whose_drawing_draws_itself, "", ""),
    "page of half a gigabyte": (pdf_whose_page_unpacks_to_half_a_gigabyte, "", ""),
    "2,000 pages": (long_pdf, "text", "Sage read only the first 150 pages and the last 50."),
    "scan": (scanned_pdf, "no_text", "Its pages are pictures, which Sage can’t read."),
    "zip bomb": (zip_bomb, "refused", "This file unpacks to far more than its size"),
    "large package": (large_package, "refused", "This file unpacks to more than Sage can read."),
    "many members": (many_members, "refused", "This file has too many parts."),
    "archive in an archive": (
        lambda: with_member(files.docx(), "word/media/a.png", files.docx()),
        "refused",
        "This file contains another archive.",
    ),
    "plain archive": (
        plain_archive, "refused", "Sage doesn’t open archives."
    ),
    "symlink": (symlink_archive, "refused", "This file contains a link to another file."),
    "entities that multiply": (entities_that_multiply, "refused", INSTRUCTIONS),
    "hidden entities that multiply": (
        lambda: entities_that_multiply(before=f"<!-- {'x' * 5_000} -->"),
        "refused", INSTRUCTIONS,
    ),
    "entities behind 900 KB": (
        lambda: entities_that_multiply(before="<!-- x -->" * 90_000), "refused", INSTRUCTIONS
    ),
    **{
        f"entities in {encoding}": (
            partial(entities_that_multiply, encoding=encoding), "refused", INSTRUCTIONS
        )
        for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
    },
    "entities in a sheet named as data": (
        lambda: sheet_by_another_name("sheet1.bin"), "refused", INSTRUCTIONS
    ),
    "entities in a sheet named as a drawing": (
        lambda: sheet_by_another_name("sheet1.svg"), "refused", INSTRUCTIONS
    ),
    "drawing with a type": (
        lambda: document_with_drawing('<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x">'), "text", ""
    ),
    "drawing with entities": (
        lambda: document_with_drawing('<!DOCTYPE svg [<!ENTITY x "y">]>'), "refused", INSTRUCTIONS
    ),
    "image of a billion pixels": (image_of_a_billion_pixels, "refused", "This image has too many pixels."),
    "mails within mails": (mail_within_mails, "", ""),
    "costly sheet": (costly_sheet, "", ""),
    **hostile_office.HOSTILE,
    **hostile_parts.HOSTILE,
    "html of a hundred thousand levels": (lambda: b"<!doctype html>" + b"<div>" * 100_000 + b"Lease", "", ""),
    "comments": (lambda: b"<!-- --> " * 1_500 + b"and text", "text", ""),
    "tags that never end": (lambda: b"WEBVTT\n\n00:00.000 --> 00:01.000\n" + b"<v " * 300_000, "", ""),
    "headers without end": (lambda: b"From: a\nTo: b\nDate: c\nSubject: " + b"=?utf-8?q?" * 200_000, "", ""),
    "zeros": (lambda: bytes(20 * MEGABYTE), "refused", "This file is empty."),
    "empty": (lambda: b"", "refused", "This file is empty."),
}  # fmt: skip
"""By what it is: its maker, its outcome and how its sentence begins; empty where either may be."""
