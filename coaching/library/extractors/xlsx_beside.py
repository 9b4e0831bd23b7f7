"""What an Excel sheet has besides its cells: text boxes and other shapes, diagrams, charts, comments."""

import posixpath
import zipfile
from collections.abc import Iterator, Mapping

from lxml import etree

from coaching.library.extractors.archive import DAMAGES
from coaching.library.extractors.left_out import EMBEDDED_MARK
from coaching.library.extractors.office_drawings import MAX_BYTES, Drawings, paragraphs

_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_SHEETS = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_COMMENT, _TEXT = f"{_SHEETS}comment", f"{_SHEETS}t"
_PHONETIC = f"{_SHEETS}rPh"
_THREADS = "{http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments}"
_EMBEDDED = ("oleObject", "package")
_STAND_IN = "tc={"
"""How the author's name begins of a comment that older programs show in place of a thread."""


class Beside:
    """Reads one workbook: each drawing and each part with comments once."""

    def __init__(self, package: zipfile.ZipFile) -> None:
        self._package = package
        self._left = {member.filename for member in package.infolist() if 0 < member.file_size <= MAX_BYTES}
        self._drawings = Drawings()
        self._sheets = dict(self._named_sheets())

    def lines(self, title: str) -> Iterator[str]:
        """Yield the lines of what belongs to a sheet, and a mark for each embedded file."""
        for kind, name in self._related(self._sheets.get(title, "")).values():
            if kind in _EMBEDDED:
                yield EMBEDDED_MARK
            root = self._root(name) if kind in ("drawing", "comments", "threadedComment") else None
            if root is None:
                continue
            if kind == "drawing":
                yield from self._drawn(name, root)
            else:
                yield from _comments(root)

    def _named_sheets(self) -> Iterator[tuple[str, str]]:
        """Yield the title of each sheet with the name of its part."""
        for kind, book in self._related("").values():
            root = self._root(book) if kind == "officeDocument" else None
            related = self._related(book) if root is not None else {}
            for sheet in root.iter(f"{_SHEETS}sheet") if root is not None else ():
                _, part = related.get(sheet.get(_ID, ""), ("", ""))
                yield sheet.get("name", ""), part

    def _drawn(self, name: str, root: etree._Element) -> Iterator[str]:
        related = self._related(name)

        def part(relationship: str) -> tuple[str, bytes]:
            _, target = related[relationship]
            self._left.remove(target)  # KeyError: it was read, or is missing or large
            try:
                return target, self._package.read(target)
            except DAMAGES as error:
                raise KeyError(target) from error

        etree.strip_elements(root, _FALLBACK, with_tail=False)
        yield from paragraphs(root)
        yield from self._drawings.lines(root, part)

    def _related(self, part: str) -> Mapping[str, tuple[str, str]]:
        """Return the kind and the name of each part that another one refers to, by the reference's id."""
        folder, name = posixpath.split(part)
        root = self._root(posixpath.join(folder, "_rels", f"{name}.rels"))
        if root is None:
            return {}
        return {
            each.get("Id", ""): (
                each.get("Type", "").rpartition("/")[2],
                posixpath.normpath(posixpath.join("/", folder, each.get("Target", ""))).lstrip("/"),
            )
            for each in root.iterchildren(etree.Element)
            if each.get("TargetMode") != "External"
        }

    def _root(self, name: str) -> etree._Element | None:
        """Return a part's root; None if it was read, is missing, large or no XML."""
        if name not in self._left:
            return None
        self._left.remove(name)
        try:
            parser = etree.XMLParser(resolve_entities=False, no_network=True)
            return etree.fromstring(self._package.read(name), parser)
        except etree.XMLSyntaxError:
            return None


def _comments(root: etree._Element) -> Iterator[str]:
    authors = [each.text or "" for each in root.iter(f"{_SHEETS}author")]
    stand_ins = {str(number) for number, name in enumerate(authors) if name.startswith(_STAND_IN)}
    for comment in root.iter(_COMMENT, f"{_THREADS}threadedComment"):
        if comment.tag == _COMMENT:
            shown = (each for each in comment.iter(_TEXT) if each.getparent().tag != _PHONETIC)
            text = "".join(each.text or "" for each in shown)
        else:
            text = comment.findtext(f"{_THREADS}text") or ""
        text = " ".join(text.split())
        if text and comment.get("authorId") not in stand_ins:
            yield f"Comment: {text}"
