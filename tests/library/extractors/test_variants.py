"""Variants of the formats that other programs write are read like the usual ones."""

import io
import zipfile
from collections.abc import Callable

import pytest

from coaching.library.extractors import content_types
from coaching.library.pipeline.extracted import Extraction
from coaching.library.pipeline.extraction import extract_now
from tests.library.extractors import files, open_documents

MAIN = b"vnd.openxmlformats-officedocument."
MACROS = "<!DOCTYPE script:module PUBLIC '-//OpenOffice.org//DTD OfficeDocument 1.0//EN' 'module.dtd'><x/>"


def read(data: bytes, name: str = "upload") -> Extraction:
    return extract_now(io.BytesIO(data), size=len(data), name=name)


def rewritten(package: bytes, *changes: tuple[bytes, bytes]) -> bytes:
    """Return a package whose parts have other words."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(written, "w") as new:
        for member in old.infolist():
            content = old.read(member)
            for before, after in changes:
                content = content.replace(before, after)
            new.writestr(member.filename, content)
    return written.getvalue()


def strict(package: bytes) -> bytes:
    names = ("officeDocument", "drawingml", "wordprocessingml", "spreadsheetml", "presentationml")
    return rewritten(
        package,
        *(
            (
                f"http://schemas.openxmlformats.org/{name}/2006/".encode(),
                f"http://purl.oclc.org/ooxml/{name}/".encode(),
            )
            for name in names
        ),
    )


def with_main_part(package: bytes, before: bytes, after: bytes) -> bytes:
    return rewritten(package, (before + b".main+xml", after + b".main+xml"))


WORD, SHOW = MAIN + b"wordprocessingml.document", MAIN + b"presentationml.presentation"
VARIANTS: dict[str, tuple[Callable[[], bytes], Callable[[], bytes]]] = {
    "word with macros": (
        files.docx,
        lambda: with_main_part(files.docx(), WORD, b"vnd.ms-word.document.macroEnabled"),
    ),
    "word template": (
        files.docx,
        lambda: with_main_part(files.docx(), WORD, MAIN + b"wordprocessingml.template"),
    ),
    "word template with macros": (
        files.docx,
        lambda: with_main_part(files.docx(), WORD, b"vnd.ms-word.template.macroEnabledTemplate"),
    ),
    "slide show": (
        files.pptx,
        lambda: with_main_part(files.pptx(), SHOW, MAIN + b"presentationml.slideshow"),
    ),
    "strict word": (files.docx, lambda: strict(files.docx())),
    "strict workbook": (files.xlsx, lambda: strict(files.xlsx())),
    "strict slides": (files.pptx, lambda: strict(files.pptx())),
    "mailbox": (files.eml, lambda: b"From jg@example.org Mon Jun  1 10:00:00 2026\n" + files.eml()),
    "utf-16 mail": (files.eml, lambda: files.eml().decode().encode("utf-16")),
}


@pytest.mark.parametrize("kind", VARIANTS)
def test_a_variant_is_read_like_the_usual_form(kind: str) -> None:
    usual, variant = (read(make()) for make in VARIANTS[kind])
    assert variant.outcome == "text"
    assert (variant.text, variant.content_type) == (usual.text, usual.content_type)


def test_an_open_document_with_macros_is_read() -> None:
    parts = {
        "content.xml": open_documents.part(
            "document-content",
            f"<office:body><office:text>{open_documents.paragraph('A lease')}</office:text></office:body>",
        ),
        "Basic/Standard/Module1.xml": MACROS,
    }
    found = read(open_documents.package("text", parts))
    assert (found.text, found.content_type) == ("A lease", content_types.ODT)


def test_a_word_document_that_names_an_open_document_may_not_name_types() -> None:
    """Python-docx may parse any member, whatever else the package says of itself."""
    written = io.BytesIO(files.docx())
    with zipfile.ZipFile(written, "a") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        package.writestr("word/extra.xml", MACROS)
    assert read(written.getvalue()).sentence == "This file contains instructions to load other files."


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<html><body><p>Rent</body></html>\nSent to the list<p>Bob", "Rent\nSent to the list\nBob"),
        ("<html><p>Rent</html ><html><body>again</BODY></html>", "Rent\nagain"),
        (
            "<html><body><p>Offer<img src=a alt='Half price\n until May'><img alt=''>",
            "Offer[Half price until May]",
        ),
    ],
)
def test_html_is_read_to_its_end_with_what_pictures_say(html: str, text: str) -> None:
    assert read(html.encode()).text == text


def test_a_pdf_of_a_word_is_read() -> None:
    assert read(files.pdf([["Paid"]])).text == "Paid"
    assert read(files.pdf([[], [""]])).outcome == "no_text"
