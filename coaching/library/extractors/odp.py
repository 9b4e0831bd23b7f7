"""OpenDocument presentations: a page for each slide, with tables and speaker notes.

What slides show of their master stands on each of them, as people see it; if it is long, only on the first.
"""

from collections.abc import Iterator, Sequence

from lxml import etree

from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.left_out import note_of, without_marks
from coaching.library.extractors.opendocument import (
    PAGE,
    lines_of,
    open_package,
    package_hints,
    qualified,
)
from coaching.library.extractors.opendocument_content import parse_content

MAX_REPEATED = 300
"""Characters of a master that are repeated on each slide."""
MAX_REPEATED_TOGETHER = 100_000
"""On all slides of a presentation. After that, each text is repeated once at most."""
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
    marked = tuple(
        "\n".join([*_lines(slide), *around.lines(slide, number)]) for number, slide in enumerate(slides, 1)
    ) or ("",)
    pages = tuple(map(without_marks, marked))
    return Extracted(pages=pages, page_count=len(pages), hints=hints, note=note_of(marked))


class _Around:
    """What slides show of their master, and the headers and footers that they name."""

    def __init__(self, content: etree._Element, styles: etree._Element | None) -> None:
        masters = styles.iter(_MASTER) if styles is not None else ()
        self._masters = {master.get(_NAME, ""): master for master in masters}
        self._numbered = {name: set(_kinds_with_number(master)) for name, master in self._masters.items()}
        self._styles = {
            style.get(_NAME, "") for style in content.iter(_STYLE) if style.find(_SHOWN_BY_STYLE) is not None
        }
        self._shown = {name: list(_lines_of_master(master)) for name, master in self._masters.items()}
        self._left_repeated = MAX_REPEATED_TOGETHER
        margins = {margin.get(_MARGIN_NAME, ""): margin for margin in content.iter(*_MARGIN_TEXTS)}
        self._margins = {
            name: [text]
            for name, margin in margins.items()
            if (text := " ".join("".join(margin.itertext()).split()))
        }

    def lines(self, slide: etree._Element, number: int) -> Iterator[str]:
        kinds = self._numbered.get(slide.get(_MASTER_NAME, ""), set())
        if "" in kinds or ("page-number" in kinds and slide.get(_STYLE_OF) in self._styles):
            yield str(number)
        yield from self._repeated(self._shown, slide.get(_MASTER_NAME, ""))
        for name in _MARGIN_USES:
            yield from self._repeated(self._margins, slide.get(name, ""))

    def _repeated(self, texts: dict[str, list[str]], name: str) -> Sequence[str]:
        """Return the lines with a name, for the last time if they are long or too much was repeated."""
        lines = texts.get(name, [])
        size = sum(map(len, lines))
        if size > min(MAX_REPEATED, self._left_repeated):
            texts[name] = []
        else:
            self._left_repeated -= size
        return lines


def _lines_of_master(master: etree._Element) -> Iterator[str]:
    for shape in master.iterchildren(etree.Element):
        is_text = shape.get(_KIND, "footer") in ("header", "footer") and shape.tag != _NOTES
        if is_text and next(shape.iter(_NUMBER), None) is None:
            yield from lines_within(shape)


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
