"""Word documents: numbered paragraphs, tables, notes and comments in their order; each header once.

python-docx opens the package. The text is read from the XML, because the library leaves out content controls
and needs quadratic time for tables.
"""

import io
from collections.abc import Iterable, Iterator
from itertools import islice

from docx.document import Document as DocxDocument
from docx.opc.part import Part, PartFactory, XmlPart
from docx.oxml.ns import qn
from docx.package import Package
from docx.parts.document import DocumentPart
from docx.section import Section, _Footer, _Header
from lxml import etree

from coaching.library.extractors.docx_numbers import Numbers
from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.left_out import (
    DELETED_MARK,
    EMBEDDED_MARK,
    MARKS,
    note_of,
    without_marks,
)
from coaching.library.extractors.office import checked_package, package_hints
from coaching.library.extractors.office_drawings import Drawings

MAX_SECTIONS = 500
"""Whose headers and footers are read."""
_PARAGRAPH, _TABLE, _ROW, _CELL = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_TEXT, _TAB, _BREAK, _RETURN, _TYPE = qn("w:t"), qn("w:tab"), qn("w:br"), qn("w:cr"), qn("w:type")
_STORED_BREAK = qn("w:lastRenderedPageBreak")
_STYLE, _VALUE, _TABS = qn("w:pStyle"), qn("w:val"), qn("w:tabs")
# The same content again, for programs that don't know the newer form.
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_LEFT_OUT = frozenset({_FALLBACK, _TABS, qn("w:moveFrom")})
_WRAPPERS = frozenset({qn("w:sdt"), qn("w:sdtContent"), qn("w:ins"), qn("w:customXml"), qn("w:smartTag")})
_ID = qn("w:id")
_REMARKS = {"footnotes": "Note", "endnotes": "Note", "comments": "Comment"}
_REFERENCES = {
    qn("w:footnoteReference"): "footnotes",
    qn("w:endnoteReference"): "endnotes",
    qn("w:commentReference"): "comments",
}
_KINDS = (*_REMARKS, "numbering", "styles")
"""Parts, by the last word of their relationship's type."""
_DELETED_TEXT, _OBJECT = qn("w:delText"), "{urn:schemas-microsoft-com:office:office}OLEObject"
_PAGE = "\f"
_UNSEEN = f"{MARKS}{_PAGE}"
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
    document, reader = main.document, _Reader(main)
    margins = list(reader.margins(document))
    text = "\n".join([*margins, *reader.lines(document.element.body)])
    marked = text.split(_PAGE)
    return Extracted(
        pages=tuple(without_marks(page).strip("\n") for page in marked),
        page_count=len(marked),
        hints=package_hints(document.core_properties),
        note=note_of(marked),
    )


class _Reader:
    """Reads one document: notes and comments follow the paragraph that refers to them, once."""

    def __init__(self, main: DocumentPart) -> None:
        related = {rel.reltype.rpartition("/")[2]: rel for rel in main.rels.values() if not rel.is_external}
        parts = {kind: _parsed(related[kind].target_part) for kind in _KINDS if kind in related}
        self._remarks = {
            (kind, remark.get(_ID, "")): remark
            for kind in _REMARKS
            if kind in parts
            for remark in parts[kind].iterchildren()
        }
        self._drawings = Drawings()
        self._parts = main.related_parts
        self._numbers = Numbers(parts.get("numbering"), parts.get("styles"))

    def margins(self, document: DocxDocument) -> Iterator[str]:
        """Yield the text of headers and footers, each once."""
        parts: set[str] = set()
        seen: set[str] = set()
        for section in islice(document.sections, MAX_SECTIONS):
            for margin in _margins(section):
                # It is the previous section's, or there is none, and the library would make one from a file.
                if margin.is_linked_to_previous or margin.part.partname in parts:
                    continue
                parts.add(margin.part.partname)
                text = "\n".join(self.lines(margin.part.element)).replace(_PAGE, "\n").strip("\n")
                if text and text not in seen:
                    seen.add(text)
                    yield text

    def lines(self, elements: Iterable[etree._Element]) -> Iterator[str]:
        """Yield the lines of paragraphs and table rows; a form feed begins a page."""
        for element in elements:
            if element.tag == _PARAGRAPH:
                number = self._numbers.before(element)
                text = _text(element)
                if _is_seen(text):
                    yield _with_prefix(element, number, text)
                elif marks := "".join(character for character in text if character in _UNSEEN):
                    yield marks
                yield from self._beside(element)
            elif element.tag == _TABLE:
                yield from self._rows(element)
            elif element.tag in _WRAPPERS:
                yield from self.lines(element)

    def _rows(self, table: etree._Element) -> Iterator[str]:
        for row in table.iter(_ROW):
            cells = [" ".join(self._in_cell(cell).split()) for cell in row.iterchildren(_CELL)]
            if any(map(_is_seen, cells)):
                yield " | ".join(cells)
            else:
                yield from filter(None, cells)
            yield from self._beside(row)

    def _in_cell(self, cell: etree._Element) -> str:
        """Return a cell's text. A number may be all that a paragraph has."""
        parts: list[str] = []
        for child in cell.iterchildren():
            number = self._numbers.before(child) if child.tag == _PARAGRAPH else ""
            parts += [number if number != "-" else "", _text(child)]
        return " ".join(parts)

    def _beside(self, element: etree._Element) -> Iterator[str]:
        """Yield charts and diagrams, notes and comments."""
        yield from self._drawings.lines(element, self._part)
        if not self._remarks:
            return
        for reference in element.iter(*_REFERENCES):
            kind = _REFERENCES[str(reference.tag)]
            remark = self._remarks.pop((kind, reference.get(_ID, "")), None)
            text = " ".join(_text(remark).split()) if remark is not None else ""
            if text:
                yield f"{_REMARKS[kind]}: {text}" if _is_seen(text) else text

    def _part(self, relationship: str) -> tuple[str, bytes]:
        part = self._parts[relationship]
        return part.partname, part.blob


def _is_seen(text: str) -> bool:
    return bool(without_marks(text).strip())


def _parsed(part: Part) -> etree._Element:
    if isinstance(part, XmlPart):
        return part.element
    return etree.fromstring(part.blob, etree.XMLParser(resolve_entities=False, no_network=True))


def _margins(section: Section) -> Iterator[_Header | _Footer]:
    yield from (section.header, section.first_page_header, section.even_page_header)
    yield from (section.footer, section.first_page_footer, section.even_page_footer)


def _with_prefix(paragraph: etree._Element, number: str, text: str) -> str:
    if _PAGE in text and not text.startswith(_PAGE):
        return f"{number} {text}" if number not in ("", "-") else text
    page, text = (_PAGE, text[1:]) if text.startswith(_PAGE) else ("", text)
    style = _prefix(paragraph)
    numbered = f"{number} " if number and number != "-" else "- " if number or style == "- " else ""
    return f"{page}{style if style != '- ' else ''}{numbered}{text}"


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
        if child.tag in _LEFT_OUT:
            skipped += 1 if event == "start" else -1
        elif event == "end" and child.tag == _PARAGRAPH:
            parts.append("\n")
        elif event == "start" and not skipped:
            parts.append(_said_by(child))
    return "".join(parts).strip("\n \t").replace(_PAGE * 2, _PAGE)


def _said_by(element: etree._Element) -> str:
    if element.tag == _TEXT:
        return element.text or ""
    if element.tag == _DELETED_TEXT:
        return DELETED_MARK if (element.text or "").strip() else ""
    if element.tag == _OBJECT:
        return EMBEDDED_MARK if element.get("Type") == "Embed" else ""
    if element.tag == _STORED_BREAK or (element.tag == _BREAK and element.get(_TYPE) == "page"):
        return _PAGE
    if element.tag in (_BREAK, _RETURN):
        return "\n"
    return "\t" if element.tag == _TAB else ""
