"""The content of an OpenDocument text or presentation as it is shown: numbered, with what is embedded."""

import zipfile
from collections.abc import Iterator

from lxml import etree

from coaching.library.extractors.archive import DAMAGES
from coaching.library.extractors.opendocument import DELETION, HAS_WORDS, H, P, parse_part, qualified
from coaching.library.extractors.opendocument_numbers import add_numbers

MAX_OBJECTS = 50
MAX_OBJECT_BYTES = 1024 * 1024
MAX_LEVELS = 60
"""Of a document around an object and of an object: deeper ones aren't shown, since readers are recursive."""
_OBJECT, _BODY = qualified("draw:object"), qualified("office:body")
_REGION, _CHANGE = qualified("text:changed-region"), qualified("text:change-id")
_REGION_NAMES = qualified("text:id"), "{http://www.w3.org/XML/1998/namespace}id"
_ADDRESS = "{http://www.w3.org/1999/xlink}href"


def parse_content(package: zipfile.ZipFile) -> tuple[etree._Element, etree._Element | None]:
    """Return the content, and the styles if there are any. Damaged ones raise an error of zipfile or lxml."""
    content = parse_part(package, "content.xml")
    styles = parse_part(package, "styles.xml") if "styles.xml" in package.namelist() else None
    _embed(package, content)
    add_numbers(content, styles)
    for root in (content, styles):
        if root is not None:
            _mark_deleted_words(root)
    return content, styles


def _mark_deleted_words(root: etree._Element) -> None:
    """Mark where deleted words stood. What was deleted stands elsewhere, under the same number."""
    with_words = {
        region.get(name)
        for region in root.iter(_REGION)
        for name in _REGION_NAMES
        if any("".join(each.itertext()).strip() for each in region.iter(P, H))
    } - {None}
    for change in root.iter(DELETION):
        if change.get(_CHANGE) in with_words:
            change.set(HAS_WORDS, "true")


def _embed(package: zipfile.ZipFile, content: etree._Element) -> None:
    """Put sheets and charts where they stand, each once. Damaged and large ones are left out."""
    left = {member.filename for member in package.infolist() if member.file_size <= MAX_OBJECT_BYTES}
    for number, shown in enumerate(list(content.iter(_OBJECT))):
        name = f"{shown.get(_ADDRESS, '').removeprefix('./')}/content.xml"
        if number >= MAX_OBJECTS or name not in left or sum(1 for _ in shown.iterancestors()) > MAX_LEVELS:
            continue
        left.remove(name)
        try:
            body = parse_part(package, name).find(_BODY)
        except (etree.XMLSyntaxError, *DAMAGES):
            continue
        if body is not None and max(_levels(body)) <= MAX_LEVELS:
            shown.append(body)


def _levels(root: etree._Element) -> Iterator[int]:
    level = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        level += 1 if event == "start" else -1
        yield level
