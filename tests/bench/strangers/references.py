"""What other programs read in the files: the texts that Sage's are compared with.

poppler, pypdf and pdfminer.six read PDFs, LibreOffice texts and presentations, w3m web pages, the standard
library emails, and libraries in an environment of their own (`libraries.py`) forms, workbooks, Outlook's
messages and plain text.

What LibreOffice reads depends on the time: a field may show the day on which a file is opened. It reads each
file twice, with two clocks.
"""

import json
import re
import subprocess
import zipfile
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.bench.strangers.clones import Member
from tests.bench.strangers.words import words

SECONDS = 120
CLOCKS = ("@2001-02-03 04:05:06", "@2023-11-12 13:14:15")
"""For `faketime`."""
AS_SHOWN = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"
"""Commas, quotes, UTF-8, all sheets."""
PROGRAMS = dict.fromkeys(("pdf", "form", "mixed", "pptx", "odp"), 3)
"""How many read a kind of file; one if it isn't named."""
FEWEST_CHARACTERS = 10
"""A page with fewer, and an image, is a picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A file by other programs: its text by page, without any if none can read it.

    `others` are the pages as other programs, or the same one at another time, read them. `values` were typed
    into its form, `picture_pages` have an image and hardly a letter, `attached` are files in an email.
    `outside` are words outside the visible part of each page, `struck` those marked as deleted on each page.
    """

    pages: tuple[str, ...] = ()
    others: tuple[tuple[str, ...], ...] = ()
    values: str = ""
    picture_pages: tuple[int, ...] = ()
    attached: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    struck: tuple[str, ...] = ()


class Programs:
    """The other programs. Their answers are kept in a folder, with the files."""

    def __init__(self, folder: Path, python: str) -> None:
        self.folder = folder
        self.python = python
        folder.mkdir(exist_ok=True)

    def reference(self, member: Member, data: bytes) -> Reference:
        """Return what they read in a file."""
        place = re.sub(r"\W+", "_", f"{member.repository} {member.path}")
        kept = self.folder / f"{place}.json"
        if kept.exists():
            return _kept(json.loads(kept.read_text()))
        file = self.folder / f"{place}.{member.path.rpartition('.')[2].lower()}"
        file.write_bytes(data)
        read: Reference = getattr(self, f"_{member.kind}")(file)
        kept.write_text(json.dumps(asdict(read)))
        return read

    def _pdf(self, file: Path) -> Reference:
        pages, pictures = pdf_pages(file)
        values = self._library("form", file)
        return Reference(
            pages=tuple(pages),
            others=self._others(file),
            values=values,
            picture_pages=tuple(pictures),
            outside=tuple(words_outside(file)),
        )

    def _others(self, file: Path) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(self._library(name, file).split("\f")) for name in ("pypdf", "pdfminer"))

    _form = _mixed = _pdf

    def _odt(self, file: Path) -> Reference:
        return _agreed(self._converted(file, "txt:Text (encoded):UTF8", "txt", clock) for clock in CLOCKS)

    _rtf = _odt

    def _docx(self, file: Path) -> Reference:
        return replace(self._odt(file), struck=tuple(struck_words(file)))

    def _pptx(self, file: Path) -> Reference:
        texts: list[str] = []
        for clock in CLOCKS:
            if self._converted(file, "pdf", "pdf", clock):
                made = file.with_suffix(".pdf")
                texts += [
                    written_by("pdftotext", "-enc", "UTF-8", str(made), "-"),
                    *map("\n".join, self._others(made)),
                ]
        return _agreed(texts)

    _odp = _pptx

    def _xlsx(self, file: Path) -> Reference:
        return _whole(self._library("workbook", file))

    def _ods(self, file: Path) -> Reference:
        """Return the cells of all sheets as they are shown, which is how Sage reads them."""
        texts: list[str] = []
        for clock in CLOCKS:
            self._converted(file, AS_SHOWN, "csv", clock)
            sheets = sorted(self.folder.glob(f"{file.stem}-*.csv"))
            texts.append("\n".join(sheet.read_text("utf-8-sig", "replace") for sheet in sheets))
        return _agreed(texts)

    def _html(self, file: Path) -> Reference:
        data = file.read_bytes()
        text = _in_utf8(data)
        return _whole(self._shown(file) if text is data else self._shown_text(text.decode()))

    def _eml(self, file: Path) -> Reference:
        message = message_from_bytes(_in_utf8(file.read_bytes()), policy=default)
        assert isinstance(message, EmailMessage)
        headers = [str(message.get(name, "")) for name in ("from", "to", "cc", "subject")]
        attached = [name for part in message.walk() if (name := part.get_filename())]
        return Reference(
            pages=("\n".join([*headers, *attached, self._body(message)]),), attached=tuple(attached)
        )

    def _body(self, message: EmailMessage) -> str:
        body = message.get_body(("plain", "html"))
        if body is None:
            return ""
        data = body.get_payload(decode=True) or b""
        assert isinstance(data, bytes)
        content = data.decode(str(body.get_content_charset("utf-8")), "replace")
        return content if body.get_content_subtype() == "plain" else self._shown_text(content)

    def _msg(self, file: Path) -> Reference:
        said = json.loads(self._library("message", file) or "{}")
        if not said:
            return Reference()
        lines = [said["text"], self._shown_text(said["html"]), *said["attached"]]
        return Reference(pages=("\n".join(lines),), attached=tuple(said["attached"]))

    def _txt(self, file: Path) -> Reference:
        return _whole(self._library("text", file))

    _csv = _txt

    def _vtt(self, file: Path) -> Reference:
        return _whole(self._library("transcript", file))

    def _image(self, _file: Path) -> Reference:
        return Reference()

    def _shown_text(self, html: str) -> str:
        if not html:
            return ""
        file = self.folder / "shown.html"
        file.write_text(f'<meta charset="utf-8">{html}', "utf-8", "replace")
        return self._shown(file)

    def _shown(self, file: Path) -> str:
        return written_by("w3m", "-dump", "-cols", "500", "-T", "text/html", "-O", "UTF-8", str(file))

    def _library(self, kind: str, file: Path) -> str:
        return written_by(self.python, str(Path(__file__).with_name("libraries.py")), kind, str(file))

    def _converted(self, file: Path, filter_name: str, suffix: str, clock: str) -> str:
        profile = f"-env:UserInstallation={(self.folder / 'profile').absolute().as_uri()}"
        to = ("--convert-to", filter_name, "--outdir", str(self.folder))
        written_by("faketime", "-f", clock, "soffice", profile, "--headless", *to, str(file))
        made = file.with_suffix(f".{suffix}")
        return made.read_text("utf-8-sig", "replace") if made.exists() else ""


def pdf_pages(file: Path) -> tuple[list[str], list[int]]:
    """Return the text of a PDF's pages, and the numbers of those that are pictures.

    In the order of lines poppler cuts words of rotated or spaced text into pieces, in the order of the file
    words whose letters are set one by one. The order with fewer words is taken.
    """
    orders = [
        written_by("pdftotext", "-enc", "UTF-8", *order, str(file), "-").split("\f")[:-1]
        for order in ([], ["-raw"])
    ]
    pages = min(orders, key=lambda pages: words("\n".join(pages)).total())
    empty = {
        number for number, page in enumerate(pages, 1) if sum(map(str.isalnum, page)) < FEWEST_CHARACTERS
    }
    listed = written_by("pdfimages", "-list", str(file)).splitlines()[2:] if empty else []
    return pages, sorted(empty & {int(line.split()[0]) for line in listed})


def words_outside(file: Path) -> Iterator[str]:
    """Yield the words of each page that poppler finds only outside its visible part; nothing if it can't."""
    boxes = re.findall(r"(MediaBox|CropBox):(.*)", written_by("pdfinfo", "-box", "-l", "-1", str(file)))
    if [box for name, box in boxes if name == "MediaBox"] == [
        box for name, box in boxes if name == "CropBox"
    ]:
        return
    of_paper, of_view = (
        re.findall("<page.*?</page>", written_by("pdftotext", "-bbox", *option, str(file), "-"), re.DOTALL)
        for option in ([], ["-cropbox"])
    )
    if len(of_paper) == len(of_view):
        for pair in zip(of_paper, of_view, strict=True):
            paper, view = (Counter(map(unescape, re.findall(">([^<>]+)</word>", page))) for page in pair)
            yield " ".join((paper - view).elements())


def struck_words(file: Path) -> Iterator[str]:
    """Yield the words of each page that are marked as deleted in a Word document."""
    try:
        with zipfile.ZipFile(file) as package:
            root = ElementTree.fromstring(package.read("word/document.xml"))
    except (KeyError, OSError, zipfile.BadZipFile, ElementTree.ParseError):
        return
    pages, is_at_break = [""], False
    for element in root.iter():
        name = element.tag.rpartition("}")[2]
        is_page = name == "br" and any(value == "page" for value in element.attrib.values())
        if (is_page or name == "lastRenderedPageBreak") and not is_at_break:
            pages.append("")  # Word stores one after a manual break, too
        is_at_break = name != "t" and (is_at_break or is_page or name == "lastRenderedPageBreak")
        if name == "delText":
            pages[-1] += element.text or ""
    if any(map(str.strip, pages)):
        yield from pages


def written_by(*command: str) -> str:
    """Return what a program writes, also if it then fails; nothing if it takes too long."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.decode("utf-8", "replace")


def _in_utf8(data: bytes) -> bytes:
    """Return UTF-16, which neither w3m nor the email package can read, as UTF-8."""
    if data.count(0) <= len(data) // 4:
        return data
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return data.decode("utf-16").encode()
    return data.decode("utf-16-be" if data.startswith(b"\0") else "utf-16-le", "replace").encode()


def _agreed(texts: Iterable[str]) -> Reference:
    """Return a reference by several readings; those without a text don't count."""
    first, *others = [*filter(str.strip, texts)] or [""]
    return replace(_whole(first), others=tuple((text,) for text in others))


def _whole(text: str) -> Reference:
    return Reference(pages=(text,) if text.strip() else ())


def _kept(said: dict[str, Any]) -> Reference:
    others = tuple(map(tuple, said.pop("others")))
    names = ("pages", "picture_pages", "attached", "outside", "struck")
    lists: dict[str, Any] = {name: tuple(said.pop(name, ())) for name in names}
    return Reference(**said, **lists, others=others)
