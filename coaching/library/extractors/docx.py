"""Word documents: paragraphs and tables in their order, headers and footers once.

python-docx opens the package. The text is read from the XML, because the library leaves out content controls
and needs quadratic time for tables.
"""

import io
from collections.abc import Iterable, Iterator

from docx.document import Document as DocxDocument
from docx.opc.part import PartFactory
from docx.oxml.ns import qn
from docx.package import Package
from docx.parts.document import DocumentPart
from lxml import etree

from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.office import checked_package, package_hints

_PARAGRAPH, _TABLE, _ROW, _CELL = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_TEXT, _TAB, _BREAK, _RETURN, _TYPE = qn("w:t"), qn("w:tab"), qn("w:br"), qn("w:cr"), qn("w:type")
_STORED_BREAK = qn("w:lastRenderedPageBreak")
_STYLE, _VALUE, _TABS = qn("w:pStyle"), qn("w:val"), qn("w:tabs")
# The same content again, for programs that don't know the newer form.
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_WRAPPERS = frozenset({qn("w:sdt"), qn("w:sdtContent"), qn("w:ins"), qn("w:customXml"), qn("w:smartTag")})
_PAGE = "\f"
# The library reads only documents without macros.
for _kind in ("document.macroEnabled", "template.macroEnabledTemplate"):
    PartFactory.part_type_for[f"application/vnd.ms-word.{_kind}.main+xml"] = DocumentPart
PartFactory.part_type_for[
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml"
] = DocumentPart


def extract(data: bytes) -> Extracted:
    """Return the text by the pages that Word stored. Raises `Unread`."""
    main = Package.open(io.BytesIO(checked_package(data))).main_document_part
    assert isinstance(main, DocumentPart)
    document = main.document
    text = "\n".join([*_margins(document), *_lines(document.element.body)])
    pages = tuple(page.strip("\n") for page in text.split(_PAGE))
    return Extracted(pages=pages, page_count=len(pages), hints=package_hints(document.core_properties))


def _margins(document: DocxDocument) -> Iterator[str]:
    seen: set[str] = set()
    for section in document.sections:
        for part in (section.header, section.footer):
            # It is the previous section's, or there is none, and the library would make one from a file.
            if part.is_linked_to_previous:
                continue
            text = "\n".join(text for paragraph in part.paragraphs if (text := paragraph.text.strip()))
            if text and text not in seen:
                seen.add(text)
                yield text


def _lines(elements: Iterable[etree._Element]) -> Iterator[str]:
    """Yield the lines of paragraphs and table rows; a form feed begins a page."""
    for element in elements:
        if element.tag == _PARAGRAPH:
            text = _text(element)
            if text.strip():
                yield f"{_prefix(element)}{text}" if _PAGE not in text else text
            elif _PAGE in text:
                yield _PAGE
        elif element.tag == _TABLE:
            yield from _rows(element)
        elif element.tag in _WRAPPERS:
            yield from _lines(element)


def _rows(table: etree._Element) -> Iterator[str]:
    for row in table.iter(_ROW):
        cells = [" ".join(_text(cell).split()) for cell in row.iterchildren(_CELL)]
        if any(cells):
            yield " | ".join(cells)


def _prefix(paragraph: etree._Element) -> str:
    style = next(paragraph.iter(_STYLE), None)
    name = style.get(_VALUE, "") if style is not None else ""
    if name.startswith(("Heading", "Title")):
        return "# "
    return "- " if name.startswith("List") else ""


def _text(element: etree._Element) -> str:
    """Return the text below an element. Word stores a break after a manual one, too, which counts once."""
    parts: list[str] = []
    skipped = 0
    for event, child in etree.iterwalk(element, events=("start", "end")):
        if child.tag in (_FALLBACK, _TABS):
            skipped += 1 if event == "start" else -1
        elif event == "end" and child.tag == _PARAGRAPH:
            parts.append("\n")
        elif event == "start" and not skipped:
            parts.append(_said_by(child))
    return "".join(parts).strip("\n \t").replace(_PAGE * 2, _PAGE)


def _said_by(element: etree._Element) -> str:
    if element.tag == _TEXT:
        return element.text or ""
    if element.tag == _STORED_BREAK or (element.tag == _BREAK and element.get(_TYPE) == "page"):
        return _PAGE
    if element.tag in (_BREAK, _RETURN):
        return "\n"
    return "\t" if element.tag == _TAB else ""
