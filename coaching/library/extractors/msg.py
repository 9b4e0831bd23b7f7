"""Outlook's messages: who, when, the subject, the text, and what is attached.

olefile opens the container; the properties in it are those of MS-OXMSG.
"""

import base64
import io
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cached_property, partial
from itertools import islice
from typing import Any
from urllib.parse import quote

import olefile

from coaching.library.extractors.attached import MAX_BYTES, MAX_NAME, Found, take
from coaching.library.extractors.decoding import decode
from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.markup import MAX_TAGS, ONLY_BEGINNING, parse_html, up_to_tags
from coaching.library.extractors.rtf_compressed import decompressed
from coaching.library.extractors.rtf_reader import html_of, text_of

MAX_PEOPLE = 200
MAX_PARTS = 500
MAX_LINE_BYTES = 64 * 1024
"""A longer name, address or subject counts as none."""
MAX_LEVELS = 3
"""Messages inside messages whose attachments are taken along."""

_ROOT_HEADER, _MESSAGE_HEADER, _STORAGE_HEADER = 32, 24, 8
_MESSAGE = "__substg1.0_3701000D"
"""A message inside another is no file, but a folder."""
_BOUNDARY = "==part=="
"""It can't occur in base64."""
_ENTRY = struct.Struct("<IIq")
_SUBJECT, _BODY, _HTML, _RTF = 0x0037, 0x1000, 0x1013, 0x1009
_SENT, _DELIVERED = 0x0039, 0x0E06
_SENDERS = ((0x0042, 0x5D02, 0x0065), (0x0C1A, 0x5D01, 0x0C1F))
"""Name, SMTP address and other address: of whom it was sent for, and of who sent it."""
_PERSON = (0x3001, 0x39FE, 0x3003)
_KIND_OF_PERSON = 0x0C15
_SHOWN_NAMES = {1: 0x0E04, 2: 0x0E03}
_FILE_NAMES = (0x3707, 0x3704, 0x3001)
_IS_HIDDEN = 0x7FFE
_CONTENT, _CONTENT_TYPE, _CONTENT_ID = 0x3701, 0x370E, 0x3712
_CODE_PAGES = (0x3FDE, 0x3FFD)
_UTF8 = 65_001
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class _Storage:
    """A message, a person or an attachment: a folder of the container, which is `entry` in olefile."""

    container: olefile.OleFileIO
    entry: Any
    path: tuple[str, ...]
    header_bytes: int
    encoding: str = "cp1252"

    @cached_property
    def numbers(self) -> Mapping[int, int]:
        """Numbers by their property, of times and truths, too."""
        data = self._read("__properties_version1.0", MAX_LINE_BYTES)[self.header_bytes :]
        whole = len(data) // _ENTRY.size * _ENTRY.size
        return {tag >> 16: value for tag, _, value in _ENTRY.iter_unpack(data[:whole])}

    def text(self, *properties: int, most: int = MAX_BYTES) -> str:
        """Return the first of these properties that has text, of `most` bytes."""
        for number in properties:
            if data := self._read(f"__substg1.0_{number:04X}001F", most):
                return data.decode("utf-16-le", "replace").rstrip("\0")
            if data := self._read(f"__substg1.0_{number:04X}001E", most):
                return decode(data, self.encoding).rstrip("\0")
        return ""

    def data(self, number: int) -> bytes:
        return self._read(f"__substg1.0_{number:04X}0102")

    def line(self, *properties: int) -> str:
        return " ".join(self.text(*properties, most=MAX_LINE_BYTES).split())

    def inner(self, start: str) -> Iterator["_Storage"]:
        """Yield the folders whose names begin so, in their order."""
        names = [kid.name for kid in self.entry.kids if kid.name.startswith(start)]
        for name in sorted(name for name in names if self.has_folder(name)):
            yield self.folder(name, _STORAGE_HEADER)

    def folder(self, name: str, header_bytes: int) -> "_Storage":
        kid = self.entry.kids_dict[name.lower()]
        return _Storage(self.container, kid, (*self.path, name), header_bytes, self.encoding)

    def has_folder(self, name: str) -> bool:
        kid = self.entry.kids_dict.get(name.lower())
        return kid is not None and kid.entry_type == olefile.STGTY_STORAGE

    def _read(self, name: str, most: int = MAX_BYTES) -> bytes:
        # Found by its name first: olefile searches a path step by step among all that is there.
        kid = self.entry.kids_dict.get(name.lower())
        if kid is None or kid.entry_type != olefile.STGTY_STREAM or kid.size > most:
            return b""
        data: bytes = self.container.openstream([*self.path, name]).read()
        return data


def extract(data: bytes) -> Extracted:
    """Return the headers, the text and the list of attachments. Damaged containers raise an `OSError`."""
    with olefile.OleFileIO(io.BytesIO(data)) as container:
        message = _Storage(container, container.root, (), _ROOT_HEADER)
        page = next(
            (found for number in _CODE_PAGES if (found := message.numbers.get(number, 0) & 0xFFFF)), 1252
        )
        message = replace(message, encoding="utf-8" if page == _UTF8 else f"cp{page}")
        headers = {name: text for name, text in _headers(message) if text}
        attached = list(_attachments(message))
        body, is_cut = _body(message)
        attachments, note = take(attached)
    lines = [f"{name}: {text}" for name, text in headers.items()]
    if attached:
        lines.append(f"Attachments: {', '.join(each.name for each in attached)}")
    return Extracted(
        pages=("\n".join([*lines, "", body]),),
        hints={name.lower(): text for name, text in headers.items()},
        note="\n".join(filter(None, [ONLY_BEGINNING if is_cut else "", note])),
        attachments=attachments,
    )


def _headers(message: _Storage) -> Iterator[tuple[str, str]]:
    senders = (_person(message, properties) for properties in _SENDERS)
    yield "From", next(filter(None, senders), "")
    people: dict[int, list[str]] = {kind: [] for kind in _SHOWN_NAMES}
    for storage in islice(message.inner("__recip_version1.0_"), MAX_PEOPLE):
        kind = storage.numbers.get(_KIND_OF_PERSON, 1) & 0xFFFFFFFF
        if kind in people:
            people[kind].append(_person(storage, _PERSON))
    for kind, name in ((1, "To"), (2, "Cc")):
        yield name, ", ".join(filter(None, people[kind])) or message.line(_SHOWN_NAMES[kind])
    yield "Date", next((moment for number in (_SENT, _DELIVERED) if (moment := _moment(message, number))), "")
    yield "Subject", message.line(_SUBJECT)


def _person(storage: _Storage, properties: tuple[int, int, int]) -> str:
    """Return a name with its address. Addresses inside an organisation aren't for people."""
    name, *addresses = (storage.line(number)[:MAX_NAME] for number in properties)
    address = next((each for each in addresses if "@" in each), "")
    return f"{name} <{address}>" if name and address and name != address else name or address


def _moment(message: _Storage, number: int) -> str:
    ticks = message.numbers.get(number, 0)
    try:
        return format_datetime(_EPOCH + timedelta(microseconds=ticks // 10)) if ticks > 0 else ""
    except OverflowError:
        return ""


def _attachments(message: _Storage) -> Iterator[Found]:
    for number, storage in enumerate(message.inner("__attach_version1.0_")):
        if number >= MAX_PARTS:
            return
        if not storage.numbers.get(_IS_HIDDEN, 0) & 0xFF:
            yield _found(storage)


def _found(storage: _Storage) -> Found:
    name = storage.line(*_FILE_NAMES)[:MAX_NAME] or "unnamed"
    if storage.has_folder(_MESSAGE):
        message = storage.folder(_MESSAGE, _MESSAGE_HEADER)
        read = partial(_as_mail, message)
        return Found(name=f"{name}.eml", content_type="message/rfc822", is_in_text=False, read=read)
    return Found(
        name=name,
        content_type=storage.line(_CONTENT_TYPE),
        is_in_text=bool(storage.line(_CONTENT_ID)),
        read=partial(storage.data, _CONTENT),
    )


def _as_mail(message: _Storage) -> bytes:
    """Return a message inside another as an email, with its attachments up to a level."""
    is_deep = message.path.count(_MESSAGE) > MAX_LEVELS
    attachments, _ = take(() if is_deep else _attachments(message))
    headers = [f"{name}: {text}" for name, text in _headers(message) if text]
    head = [*headers, "MIME-Version: 1.0", f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"', "", ""]
    parts = [_mime_part("text/plain; charset=utf-8", _body(message)[0].encode("utf-8", "replace"))]
    parts += [
        _mime_part("application/octet-stream", each.data, name=each.name) for each in attachments if each.data
    ]
    return b"".join(["\n".join(head).encode("utf-8", "replace"), *parts, f"--{_BOUNDARY}--\n".encode()])


def _mime_part(content_type: str, data: bytes, *, name: str = "") -> bytes:
    disposition = (
        f"Content-Disposition: attachment; filename*=utf-8''{quote(name, errors='replace')}\n" if name else ""
    )
    head = f"--{_BOUNDARY}\nContent-Type: {content_type}\n{disposition}Content-Transfer-Encoding: base64\n\n"
    return head.encode() + base64.encodebytes(data)


def _body(message: _Storage) -> tuple[str, bool]:
    """Return the plain text, or without it that of the HTML or RTF, and whether something was left out."""
    if plain := message.text(_BODY).strip():
        return plain, False
    html = decode(data, message.encoding) if (data := message.data(_HTML)) else message.text(_HTML)
    if not html:
        rtf = decompressed(message.data(_RTF))
        html = html_of(rtf)
        if not html:
            return "\n".join(line.strip() for line in text_of(rtf).splitlines()).strip(), False
    kept, _ = up_to_tags(html, MAX_TAGS)
    return parse_html(kept)[1], len(kept) < len(html)
