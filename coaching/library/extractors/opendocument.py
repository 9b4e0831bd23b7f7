"""What the three OpenDocument formats share: the parts of a package, and the text of what they hold.

No entity is replaced and nothing is fetched. lxml refuses XML of more than 256 levels, which
bounds the recursion here.
"""

import zipfile
from collections.abc import Iterator
from typing import Any

from lxml import etree

from coaching.library.extractors.archive import open_archive
from coaching.library.extractors.extracted import LOCKED, Unread
from coaching.library.extractors.left_out import DELETED_MARK, EMBEDDED_MARK, MARKS, without_marks
from coaching.library.extractors.office import joined_cells

NAMESPACES = {
    prefix: f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"
    for prefix, name in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style",
        "meta": "meta", "presentation": "presentation", "fo": "xsl-fo-compatible",
    }.items()
} | {"dc": "http://purl.org/dc/elements/1.1/"}  # fmt: skip
PARSING: dict[str, Any] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "remove_comments": True,
    "remove_pis": True,
}
PAGE = "\f"


def qualified(name: str) -> str:
    """Return a name such as `text:p` as lxml writes it."""
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def _all(*names: str) -> frozenset[str]:
    return frozenset(map(qualified, names))


P, H, LIST, ITEM, TABLE = (
    qualified("text:p"),
    qualified("text:h"),
    qualified("text:list"),
    qualified("text:list-item"),
    qualified("table:table"),
)
ROW, CELL, COVERED = (
    qualified(f"table:{name}") for name in ("table-row", "table-cell", "covered-table-cell")
)
NOTE, COMMENT, BODY = qualified("text:note"), qualified("office:annotation"), qualified("text:note-body")
STYLE_NAME = qualified("text:style-name")
SPACE, TAB, LINE_BREAK = qualified("text:s"), qualified("text:tab"), qualified("text:line-break")
PAGE_BREAK = qualified("text:soft-page-break")
DELETION, OTHER_FILE = qualified("text:change"), qualified("draw:object-ole")
NUMBER = "number"
"""An attribute that `opendocument_numbers` adds."""
HAS_WORDS = "has-words"
"""An attribute that `opendocument_content` adds to deletions, which may be of a paragraph's end only."""
# Deleted text, programs, phonetic readings, and what only describes.
SKIPPED = _all(
    "text:tracked-changes", "text:script", "text:ruby-text", "office:forms", "office:event-listeners",
    "text:sequence-decls", "text:variable-decls", "text:user-field-decls", "text:note-citation",
    "table:tracked-changes", "table:dde-links", "presentation:notes",
)  # fmt: skip
_WITHIN = frozenset({NOTE, COMMENT}) | _all("draw:frame", "draw:custom-shape", "draw:g", "draw:text-box")
"""Inside a paragraph these hold paragraphs of their own."""


def open_package(data: bytes) -> zipfile.ZipFile:
    """Open a package whose content isn't encrypted. Raises `Unread`."""
    package = open_archive(data, may_name_types=True)  # as macros, formulas and older manifests do
    if "META-INF/manifest.xml" in package.namelist():
        manifest = parse_part(package, "META-INF/manifest.xml")
        if any(
            isinstance(each.tag, str) and each.tag.endswith("}encryption-data") for each in manifest.iter()
        ):
            raise Unread("needs_password", LOCKED)
    return package


def parse_part(package: zipfile.ZipFile, name: str) -> etree._Element:
    """Return a part's root. Raises an error of `zipfile` or lxml if it is missing or damaged."""
    return etree.fromstring(package.read(name), etree.XMLParser(**PARSING))


def package_hints(package: zipfile.ZipFile) -> dict[str, str]:
    """Return title, author and creation day, as far as they are stated."""
    if "meta.xml" not in package.namelist():
        return {}
    meta = parse_part(package, "meta.xml")

    def stated(*names: str) -> str:
        return next((text for name in names if (text := meta.findtext(f".//{qualified(name)}"))), "")

    hints = {
        "title": stated("dc:title"),
        "author": stated("meta:initial-creator", "dc:creator"),
        "created": stated("meta:creation-date")[:10],
    }
    return {name: text for name, text in hints.items() if text}


def lines_of(element: etree._Element, breaks: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the lines of all paragraphs and table rows below an element.

    A form feed begins a page: where the writing program stored it, and before a style in `breaks`. Marks
    stand where something is left out.
    """
    for child in element.iterchildren(etree.Element):
        if child.tag in (P, H):
            if child.get(STYLE_NAME) in breaks:
                yield PAGE
            yield from _paragraph(child)
        elif child.tag == TABLE:
            yield from rows_of(child)
        elif child.tag == ITEM:
            yield from _item(child, breaks)
        elif child.tag == COMMENT:
            yield from _remark("Comment", child)
        elif child.tag == PAGE_BREAK:
            yield PAGE
        elif child.tag == OTHER_FILE:
            yield EMBEDDED_MARK
        elif child.tag not in SKIPPED:
            yield from lines_of(child, breaks)


def rows_of(element: etree._Element) -> Iterator[str]:
    """Yield a line for each row of a table that has text."""
    for child in element.iterchildren(etree.Element):
        if child.tag == ROW:
            # Repeated ones stand there once: tables in tables would multiply.
            cells = child.iterchildren(CELL, COVERED)
            texts = [" ".join(" ".join(lines_of(cell)).split()) for cell in cells]
            marks = "".join(mark for mark in MARKS if any(mark in text for text in texts))
            if line := joined_cells(list(map(without_marks, texts))) + marks:
                yield line
        elif child.tag == PAGE_BREAK:
            yield PAGE
        elif child.tag not in SKIPPED:
            yield from rows_of(child)


def _item(item: etree._Element, breaks: frozenset[str]) -> Iterator[str]:
    number = item.get(NUMBER, "-")
    is_first = any(child.tag in (P, H) for child in item)  # else it only holds another list
    for line in lines_of(item, breaks):
        is_own = is_first and line.strip(MARKS) not in ("", PAGE)
        yield f"{number} {line}".lstrip() if is_own else line
        is_first = is_first and not is_own


def _paragraph(paragraph: etree._Element) -> Iterator[str]:
    """Yield a paragraph's lines, and then those of its notes and text boxes."""
    parts: list[str] = []
    within: list[etree._Element] = []
    walk = etree.iterwalk(paragraph, events=("start", "end"))
    for event, child in walk:
        if event == "end":
            parts.append((child.tail or "") if child is not paragraph else "")
        elif child.tag in _WITHIN or child.tag in SKIPPED:
            walk.skip_subtree()
            if child.tag in _WITHIN:
                within.append(child)
        else:
            parts += [_said_by(child), child.text or ""]
    pages = (
        "\n".join(" ".join(line.split()) for line in part.split("\n")).strip()
        for part in "".join(parts).split(PAGE)
    )
    for number, page in enumerate(pages):
        if number:
            yield PAGE
        if page:
            yield f"{_heading(paragraph)}{page}" if not number and page.strip(MARKS) else page
    for inner in within:
        yield from _inside(inner)


def _heading(paragraph: etree._Element) -> str:
    return f"# {number} " if (number := paragraph.get(NUMBER)) else "# " * (paragraph.tag == H)


def _inside(element: etree._Element) -> Iterator[str]:
    if element.tag == NOTE:
        body = element.find(BODY)
        yield from _remark("Note", body if body is not None else element)
    elif element.tag == COMMENT:
        yield from _remark("Comment", element)
    else:
        yield from lines_of(element)


def _remark(name: str, element: etree._Element) -> Iterator[str]:
    text = " ".join(" ".join(lines_of(element)).split())
    if text:
        yield f"{name}: {text}" if without_marks(text).strip() else text


def _said_by(element: etree._Element) -> str:
    if element.tag == SPACE:
        return " "
    if element.tag == TAB:
        return "\t"
    if element.tag == LINE_BREAK:
        return "\n"
    if element.tag == DELETION:
        return DELETED_MARK if element.get(HAS_WORDS) else ""
    return PAGE if element.tag == PAGE_BREAK else ""
