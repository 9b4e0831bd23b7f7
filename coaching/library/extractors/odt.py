"""OpenDocument texts: headings, lists, tables and notes in their order; headers and footers once."""

from collections.abc import Iterator

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

_STYLE, _NAME, _MASTER = (
    qualified("style:style"),
    qualified("style:name"),
    qualified("style:master-page-name"),
)
_PROPERTIES, _BREAK = qualified("style:paragraph-properties"), qualified("fo:break-before")
_BODY, _MASTER_PAGE = qualified("office:text"), qualified("style:master-page")
_MARGINS = frozenset(
    qualified(f"style:{name}")
    for name in ("header", "header-left", "header-first", "footer", "footer-left", "footer-first")
)


def extract(data: bytes) -> Extracted:
    """Return the text by the pages that the writing program stored. Raises `Unread`."""
    with open_package(data) as package:
        content, styles = parse_content(package)
        hints = package_hints(package)
    breaks = frozenset(_styles_with_break(content))
    body = content.find(f".//{_BODY}")
    lines = list(lines_of(body, breaks)) if body is not None else []
    margins = _margins(styles) if styles is not None else ()
    text = "\n".join([*margins, *lines])
    marked = tuple(page for part in text.split(PAGE) if (page := part.strip("\n"))) or ("",)
    pages = tuple(without_marks(page).strip("\n") for page in marked)
    return Extracted(pages=pages, page_count=len(pages), hints=hints, note=note_of(marked))


def _styles_with_break(content: etree._Element) -> Iterator[str]:
    """Yield the styles of paragraphs that begin a page."""
    for style in content.iter(_STYLE):
        properties = style.find(_PROPERTIES)
        if style.get(_MASTER) or (properties is not None and properties.get(_BREAK) == "page"):
            yield style.get(_NAME, "")


def _margins(styles: etree._Element) -> Iterator[str]:
    seen: set[str] = set()
    for master in styles.iter(_MASTER_PAGE):
        for margin in master.iterchildren(*_MARGINS):
            text = "\n".join(line for line in lines_of(margin) if line != PAGE)
            if text and text not in seen:
                seen.add(text)
                yield text
