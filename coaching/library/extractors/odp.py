"""OpenDocument presentations: a page for each slide, with tables and speaker notes."""

from collections.abc import Iterator

from lxml import etree

from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.opendocument import (
    PAGE,
    lines_of,
    open_package,
    package_hints,
    qualified,
)
from coaching.library.extractors.opendocument_content import parse_content

_SLIDE, _NOTES, _KIND = (
    qualified("draw:page"),
    qualified("presentation:notes"),
    qualified("presentation:class"),
)
_BODY = qualified("office:presentation")
_MASTER, _NAME, _MASTER_NAME = (
    qualified("style:master-page"),
    qualified("style:name"),
    qualified("draw:master-page-name"),
)
_NUMBER = qualified("text:page-number")
_STYLE, _STYLE_OF = qualified("style:style"), qualified("draw:style-name")
_SHOWN_BY_STYLE = (
    f"{qualified('style:drawing-page-properties')}[@{qualified('presentation:display-page-number')}='true']"
)
_MARGIN_NAME = qualified("presentation:name")
_MARGIN_TEXTS = qualified("presentation:header-decl"), qualified("presentation:footer-decl")
_MARGIN_USES = qualified("presentation:use-header-name"), qualified("presentation:use-footer-name")
_MARGINS = frozenset({"header", "footer", "date-time", "page-number"})


def extract(data: bytes) -> Extracted:
    """Return the text of each slide. Raises `Unread`."""
    with open_package(data) as package:
        content, styles = parse_content(package)
        hints = package_hints(package)
    body = content.find(f".//{_BODY}")
    slides = list(body.iterchildren(_SLIDE)) if body is not None else []
    around = _Around(content, styles)
    for number, slide in enumerate(slides, 1):
        for shown in slide.iter(_NUMBER):
            shown.text = str(number)  # stored is “<number>”
    pages = tuple(
        "\n".join([*_lines(slide), *around.lines(slide, number)]) for number, slide in enumerate(slides, 1)
    ) or ("",)
    return Extracted(pages=pages, page_count=len(pages), hints=hints)


class _Around:
    """What slides show of their master, and the headers and footers that they name: each once."""

    def __init__(self, content: etree._Element, styles: etree._Element | None) -> None:
        masters = styles.iter(_MASTER) if styles is not None else ()
        self._masters = {master.get(_NAME, ""): master for master in masters}
        self._numbered = {name: set(_kinds_with_number(master)) for name, master in self._masters.items()}
        self._styles = {
            style.get(_NAME, "") for style in content.iter(_STYLE) if style.find(_SHOWN_BY_STYLE) is not None
        }
        self._margins = {margin.get(_MARGIN_NAME, ""): margin for margin in content.iter(*_MARGIN_TEXTS)}

    def lines(self, slide: etree._Element, number: int) -> Iterator[str]:
        kinds = self._numbered.get(slide.get(_MASTER_NAME, ""), set())
        if "" in kinds or ("page-number" in kinds and slide.get(_STYLE_OF) in self._styles):
            yield str(number)
        master = self._masters.pop(slide.get(_MASTER_NAME, ""), None)
        for shape in master.iterchildren(etree.Element) if master is not None else ():
            is_text = shape.get(_KIND, "footer") in ("header", "footer") and shape.tag != _NOTES
            if is_text and next(shape.iter(_NUMBER), None) is None:
                yield from lines_within(shape)
        for name in _MARGIN_USES:
            margin = self._margins.pop(slide.get(name, ""), None)
            text = " ".join("".join(margin.itertext()).split()) if margin is not None else ""
            if text:
                yield text


def _kinds_with_number(master: etree._Element) -> Iterator[str]:
    """Yield what the shapes of a master are that have the slide's number; empty if all slides show it."""
    for shape in master.iterchildren(etree.Element):
        if shape.tag != _NOTES and next(shape.iter(_NUMBER), None) is not None:
            yield shape.get(_KIND, "")


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
