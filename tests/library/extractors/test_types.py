"""Every type of document is found by its content, and its text can be read."""

import io
from collections.abc import Callable

import pytest
from PIL import Image

from coaching.library.extractors import content_types
from coaching.library.extractors.rtf_compressed import decompressed
from coaching.library.pipeline.extracted import Extraction
from coaching.library.pipeline.extraction import extract_now
from tests.library.extractors import files, images, open_documents, outlook


def read(data: bytes, name: str = "upload") -> Extraction:
    return extract_now(io.BytesIO(data), size=len(data), name=name)


DOCX_TEXT = """Smith & Co
# Lease of 12 High Street
The rent is £1,200 a month.
Deposit | £2,400\fSigned by both parties."""
ODT_TEXT = """Smith & Co
# Lease of 12 High Street
The rent is £1,200 a month.
Note: Without heating.
- Two rooms
- One bath
Item | Sum
Deposit | £2,400
In a box\fSigned by both
parties.\fPage three
Comment: By whom?"""
ODS_TEXT = """Sheet: Rents
Unit | Rent | From
1a | 1.200,50 € | 2026-06-01
free | free |  | 2b\fSheet: Notes
Unit 2 is empty."""
ODP_TEXT = "# Offer\nTwo floors\nRent | 900\nNotes: Mention the parking.\fThanks"
EML_TEXT = """From: Jürgen Groß <jg@example.org>
To: mia@example.org
Date: Mon, 01 Jun 2026 10:00:00 +0200
Subject: Schlüssel
Attachments: lease.pdf

The keys are ready."""
MSG_TEXT = """From: Jürgen Groß <jg@example.org>
To: Mia <mia@example.org>
Cc: ann@example.org
Date: Mon, 01 Jun 2026 10:00:00 +0000
Subject: Schlüssel
Attachments: lease.pdf

The keys are ready."""
RTF = (
    rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}}\f0 F\'fcr dich\par\u8364?5{\*\x y}{\pict 01} "
    rb"\u-10179?\u-8704?}"
)
HTML_AS_RTF = (
    rb"{\rtf1\ansi\ansicpg1252\fromhtml1{\fonttbl{\f0 Arial;}}{\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 F\'fcr "
    rb"{\*\htmltag84 <b>}\htmlrtf \b\htmlrtf0 dich{\*\htmltag92 </b>}\htmlrtf }\htmlrtf0 {\*\htmltag64 <p>}"
    rb"x & y}"
)
TEXTS: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "pdf": (
        lambda: files.pdf([["Lease", "12 High Street"], ["Page two"]]),
        content_types.PDF,
        "Lease\n12 High Street\fPage two",
    ),
    "docx": (
        files.docx,
        content_types.DOCX,
        DOCX_TEXT,
    ),
    "xlsx": (
        files.xlsx,
        content_types.XLSX,
        "Sheet: Rents\nUnit | Rent | From\n1a | 1200.5\fSheet: Notes\nUnit 2 is empty.",
    ),
    "pptx": (files.pptx, content_types.PPTX, "# Offer\nTwo floors\nNotes: Mention the parking."),
    "odt": (open_documents.odt, content_types.ODT, ODT_TEXT),
    "ods": (open_documents.ods, content_types.ODS, ODS_TEXT),
    "odp": (open_documents.odp, content_types.ODP, ODP_TEXT),
    "csv": (
        lambda: b'Datum;Betrag;Text\r\n01.06.2026;"1.200,50";"Miete; Juni"\r\n02.06.2026;-3;=1+1\r\n',
        content_types.CSV,
        "Datum | Betrag | Text\n01.06.2026 | 1.200,50 | Miete; Juni\n02.06.2026 | -3 | =1+1",
    ),
    "html": (lambda: files.HTML, content_types.HTML, "Rooms\nThree bright rooms.\nRent | 900"),
    "eml": (
        files.eml,
        content_types.EML,
        EML_TEXT,
    ),
    "msg": (outlook.msg, content_types.MSG, MSG_TEXT),
    "rtf": (lambda: RTF, content_types.RTF, "Für dich\n€5 😀"),
    "vtt": (
        lambda: files.VTT,
        content_types.VTT,
        "[00:00:01] Ann Lee: We sign on Friday.\n[01:00:05] Bob: Agreed.",
    ),
    "srt": (
        lambda: files.SRT,
        content_types.SRT,
        "[00:00:01] Ann: We sign on Friday.\n[00:01:05] Bob: Agreed.",
    ),
    "md": (lambda: b"# Plan\n\n## Monday\n- run\n", content_types.MD, "# Plan\n\n## Monday\n- run"),
    "txt": (lambda: b"Dear Mia,\r\n\r\n\r\n\r\nthank you.\0", content_types.TXT, "Dear Mia,\n\nthank you."),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_each_type_is_read_without_its_name(kind: str) -> None:
    make, content_type, text = TEXTS[kind]
    found = read(make())
    assert (found.outcome, found.sentence) == ("text", "")
    assert found.content_type == content_type
    assert found.text == text
    assert found.page_count == len(found.pages)
    assert found.pages_read == ()


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Grüße aus München, 20 € bis „Freitag“", "cp1252"),
        ("Grüße aus München", "utf-8-sig"),
        ("Grüße aus München", "utf-16"),
        ("A plain lease of two rooms", "utf-16-le"),
        ("Привет! Это письмо о квартире на Невском проспекте.", "cp1251"),
        ("Umowa najmu lokalu: właściciel zgadza się na przedłużenie umowy.", "cp1250"),
        ("これは日本語のテキストです。契約書の内容を確認してください。", "shift_jis"),
    ],
)
def test_text_is_read_in_its_encoding(text: str, encoding: str) -> None:
    assert read(text.encode(encoding)).text == text


@pytest.mark.parametrize(
    ("data", "name", "text"),
    [
        ("Größe,Preis\n1,2\n", "a.csv", "Größe | Preis\n1 | 2"),
        ("Größe\tPreis\r\n1\t2\r\n", "a.tsv", "Größe | Preis\n1 | 2"),
        ("sep=|\na|b,c\n", "a.csv", "a | b,c"),
        ("a;b\n1,5;2\n1,5;2,5\n", "a.csv", "a | b\n1,5 | 2\n1,5 | 2,5"),
        ("one column\nno delimiter\n", "a.csv", "one column\nno delimiter"),
        ('a,"never closed\n1,2\n', "a.csv", "a | never closed 1,2"),
        ("a,,\n,,\n,b,\n", "a.csv", "a\n | b"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_a_table_as_text_is_read_in_any_encoding(data: str, name: str, text: str, encoding: str) -> None:
    found = read(data.encode(encoding), name)
    assert (found.outcome, found.content_type, found.text) == ("text", content_types.CSV, text)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (outlook.binary(0x1013, "<p>Für <b>dich</b><p>x".encode()), "Für dich\nx"),
        (outlook.text(0x1013, "<p>Für <b>dich</b>"), "Für dich"),
        (outlook.binary(0x1009, outlook.stored_rtf(RTF)), "Für dich\n€5 😀"),
        (outlook.binary(0x1009, outlook.stored_rtf(HTML_AS_RTF)), "Für dich\nx & y"),
        ({"__substg1.0_1000001E": "Grüße".encode()}, "Grüße"),
        (outlook.text(0x1000, "Long " * 2_000), ("Long " * 2_000).strip()),
    ],
)
def test_an_outlook_message_is_read_in_each_form(body: outlook.Tree, text: str) -> None:
    found = read(outlook.container(outlook.message(body)))
    assert found.text.partition("\n\n")[2] == text


def test_compressed_rtf_is_read() -> None:
    """The examples of MS-OXRTFCP, 3.1."""
    hello = (
        "2d0000002b0000004c5a4675f1c5c7a703000a00726370673132354232 0af32068656c090020627705b06c647d0a800fa0"
    )
    runs = "1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0"
    assert decompressed(bytes.fromhex(hello)) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    assert decompressed(bytes.fromhex(runs)) == b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}"
    assert decompressed(b"short") == b""


def test_text_with_commas_is_no_table() -> None:
    for text in (
        "Bread, milk, eggs\nSoap, towels, salt\nPaper, ink, glue\n",
        "Dear Ann,\nsee you,\nBob,\n",
        "1,2\n3,4\n5,6\n",
        "a;b;c\nOne line without\na;b;c\n",
    ):
        assert read(text.encode()).content_type == content_types.TXT, text
    table = b"a;b\n1;2\n3;4\n"
    assert read(table).content_type == content_types.CSV
    assert read(table, "table.txt").sentence == ""


def test_templates_are_read_and_other_open_documents_are_refused() -> None:
    template = open_documents.document("text-template", open_documents.paragraph("A lease"))
    assert read(template).content_type == content_types.ODT
    drawing = open_documents.package("graphics", {"content.xml": "<x/>"})
    assert read(drawing).sentence.startswith("Sage can’t read this kind of OpenDocument file.")


def test_an_open_document_states_its_title_author_and_day() -> None:
    assert read(open_documents.odt()).hints == {"title": "Lease", "author": "Ann", "created": "2026-05-04"}


def test_a_wrong_extension_is_named() -> None:
    found = read(files.pdf([["A lease of ten years"]]), "lease.docx")
    assert found.content_type == content_types.PDF
    assert found.sentence == "Its name suggests another type of file. By its content it is:\na PDF."
    assert read(b"# Plan\n\n## Monday", "plan.txt").sentence == ""
    assert read(b"BMW, 2019, one owner", "car.txt").content_type == content_types.TXT


@pytest.mark.parametrize(
    ("kind", "mode", "size"),
    [
        ("PNG", "RGBA", (2_000, 1_000)),
        ("JPEG", "RGB", (4_000, 3_000)),
        ("GIF", "P", (20, 20)),
        ("TIFF", "L", (2_000, 1_000)),
        ("WEBP", "RGB", (300, 2_000)),
        ("BMP", "RGB", (300, 200)),
    ],
)
def test_an_image_has_no_text_and_is_prepared_for_a_model_that_sees(
    kind: str, mode: str, size: tuple[int, int]
) -> None:
    found = read(images.image(kind, mode=mode, size=size))
    assert (found.outcome, found.media_type) == ("no_text", "image/jpeg")
    assert found.content_type == f"image/{kind.lower()}"
    assert found.image.startswith(b"\xff\xd8")
    assert len(found.image) < 100_000
    assert found.sentence == "This is an image, so it has no text of its own."


def test_what_a_picture_says_of_itself_is_not_shown_to_the_model() -> None:
    written = io.BytesIO()
    Image.new("RGB", (900, 600)).save(written, "JPEG", comment=b"at Quay Street 12")
    assert b"Quay" not in read(written.getvalue()).image


def test_of_a_long_pdf_the_first_and_last_pages_are_read() -> None:
    found = read(files.pdf([[f"This is page {number}"] for number in range(1, 261)]))
    assert found.page_count == 260
    assert found.pages_read == (*range(1, 151), *range(211, 261))
    assert (found.pages[149], found.pages[150]) == ("This is page 150", "This is page 211")
    assert found.sentence == "Sage read only the first 150 pages and the last 50."


def test_of_a_very_long_text_the_beginning_and_the_end_are_read() -> None:
    found = read(b"begin " + b"word " * 600_000 + b"end")
    assert found.text.startswith("begin")
    assert found.text.endswith("end")
    assert "\n[…]\n" in found.text
    assert len(found.text) < 2_000_100
    assert found.sentence == "It’s very long, so Sage read only the beginning and the end."


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "This file is empty."),
        (b" \n ", "This file is empty."),
        (b"fLaC\x00\x00\x00\x22" + bytes(200), "Sage can’t read audio files of this kind."),
        (bytes(range(256)) * 20, "Sage doesn’t know this kind of file."),
    ],
)
def test_what_is_not_read_is_refused_with_a_reason(data: bytes, sentence: str) -> None:
    found = read(data)
    assert found.outcome == "refused"
    assert found.sentence.startswith(sentence)
