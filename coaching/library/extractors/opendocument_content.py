"""The content of an OpenDocument text or presentation as it is shown: numbered, with what is embedded."""

import zipfile
from collections.abc import Iterator

from lxml import etree

from coaching.library.extractors.opendocument import parse_part, qualified
from coaching.library.extractors.opendocument_numbers import add_numbers

MAX_OBJECTS = 50
MAX_OBJECT_BYTES = 1024 * 1024
MAX_LEVELS = 60
"""Of a document around an object and of an object: deeper ones aren't shown, since readers are recursive."""
_OBJECT, _BODY = qualified("draw:object"), qualified("office:body")
_ADDRESS = "{http://www.w3.org/1999/xlink}href"


def parse_content(package: zipfile.ZipFile) -> tuple[etree._Element, etree._Element | None]:
    """Return the content, and the styles if there are any. Damaged ones raise an error of zipfile or lxml."""
    content = parse_part(package, "content.xml")
    styles = parse_part(package, "styles.xml") if "styles.xml" in package.namelist() else None
    _embed(package, content)
    add_numbers(content, styles)
    return content, styles


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
        except (etree.XMLSyntaxError, zipfile.BadZipFile, NotImplementedError, EOFError, OSError):
            continue
        if body is not None and max(_levels(body)) <= MAX_LEVELS:
            shown.append(body)


def _levels(root: etree._Element) -> Iterator[int]:
    level = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        level += 1 if event == "start" else -1
        yield level
