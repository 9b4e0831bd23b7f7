"""OpenDocument presentations: a page for each slide, with tables and speaker notes."""

from collections.abc import Iterator

from lxml import etree

from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.opendocument import (
    PAGE,
    lines_of,
    open_package,
    package_hints,
    parse_part,
    qualified,
)

_SLIDE, _NOTES, _KIND = (
    qualified("draw:page"),
    qualified("presentation:notes"),
    qualified("presentation:class"),
)
_BODY = qualified("office:presentation")
_MARGINS = frozenset({"header", "footer", "date-time", "page-number"})


def extract(data: bytes) -> Extracted:
    """Return the text of each slide. Raises `Unread`."""
    with open_package(data) as package:
        content = parse_part(package, "content.xml")
        hints = package_hints(package)
    body = content.find(f".//{_BODY}")
    slides = body.iterchildren(_SLIDE) if body is not None else ()
    pages = tuple("\n".join(_lines(slide)) for slide in slides) or ("",)
    return Extracted(pages=pages, page_count=len(pages), hints=hints)


def _lines(slide: etree._Element) -> Iterator[str]:
    for shape in slide.iterchildren(etree.Element):
        kind = shape.get(_KIND, "")
        if shape.tag == _NOTES:
            notes = " ".join(_texts(shape))
            if notes:
                yield f"Notes: {notes}"
        elif kind not in _MARGINS:
            yield from (f"# {line}" if kind == "title" else line for line in lines_within(shape))


def lines_within(shape: etree._Element) -> Iterator[str]:
    """Yield the lines of a shape, on one page."""
    return (" ".join(line.split()) for line in lines_of(shape) if line != PAGE)


def _texts(notes: etree._Element) -> Iterator[str]:
    for shape in notes.iterchildren(etree.Element):
        if shape.get(_KIND, "") not in _MARGINS:
            yield from lines_within(shape)
