"""Splits an e-mail into its parts, in linear time.

The email package needs quadratic time for parameters in pieces (`name*0*`, `name*1*` and so on) and for some
headers, and takes seconds for many short lines. Here patterns find headers and boundaries, each without
backtracking, and everything that a sender repeats is counted. Only what is shown is decoded.
"""

import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from itertools import islice
from urllib.parse import unquote_to_bytes

from coaching.library.extractors.extracted import Unread, gettext_noop

MAX_PARTS = 500
MAX_DEPTH = 10
MAX_HEAD_BYTES = 256 * 1024
MAX_PART_HEAD_BYTES = 16 * 1024
MAX_HEADERS = 100
MAX_VALUE_BYTES = 10_000
MAX_PARAMETERS_BYTES = 4_000
MAX_PARAMETERS = 100
TOO_MANY_PARTS = gettext_noop("This email has too many parts.")

_HEADER = re.compile(
    rb"^(from|to|cc|date|subject|content-type|content-disposition|content-transfer-encoding)[ \t]*+:"
    rb"([^\n]*+(?:\n[ \t][^\n]*+)*+)",
    re.IGNORECASE | re.MULTILINE,
)
_PARAMETER = re.compile(r';\s*+([^\s=;"]++)\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"?|([^;]*+))', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PIECE = re.compile(r"(\w++)(?:\*(\d{1,3}))?(\*?)")

Headers = Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class MimePart:
    """A part that holds no others, or the headers of one that does (`body` is empty then)."""

    headers: Headers
    content_type: str
    charset: str
    file_name: str
    is_attached: bool
    body: bytes

    def content(self) -> bytes:
        """Return the body without its transfer encoding."""
        encoding = self.headers.get("content-transfer-encoding", b"").strip().lower()
        if encoding == b"quoted-printable":
            return binascii.a2b_qp(self.body)
        return _from_base64(self.body) if encoding == b"base64" else self.body


def split(data: bytes) -> Iterator[MimePart]:
    """Yield the parts in their order, the message first. Raises `Unread`."""
    waiting = [(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"), 0)]  # the last one is next
    number = 0
    while waiting:
        source, depth = waiting.pop()
        number += 1
        if number > MAX_PARTS or depth > MAX_DEPTH:
            raise Unread("refused", TOO_MANY_PARTS)
        part, inner = _read(source, is_first=number == 1, most=MAX_PARTS - number)
        yield part
        waiting += ((piece, depth + 1) for piece in reversed(inner))


def text_of(value: bytes) -> str:
    """Return a header's value decoded, but not parsed: parsers fail on some addresses."""
    joined = " ".join(_characters(value[:MAX_VALUE_BYTES]).split())
    try:
        return " ".join(str(make_header(decode_header(joined))).split())
    except (HeaderParseError, LookupError, ValueError):
        return joined


def _read(source: bytes, *, is_first: bool, most: int) -> tuple[MimePart, list[bytes]]:
    head, body = _halves(source, MAX_HEAD_BYTES if is_first else MAX_PART_HEAD_BYTES)
    headers = _headers(head)
    kind, parameters = _value(headers.get("content-type", b"text/plain"))
    _, disposed = _value(headers.get("content-disposition", b""))
    name = disposed.get("filename") or parameters.get("name") or ""
    is_attached = headers.get("content-disposition", b"").strip().lower().startswith(b"attachment")
    inner = None
    if kind.startswith("multipart/") and parameters.get("boundary"):
        inner = _pieces(body, parameters["boundary"].encode("utf-8", "replace"), most)
    is_mail = kind == "message/rfc822"
    part = MimePart(
        headers=headers,
        content_type="text/plain" if inner is None and kind.startswith("multipart/") else kind,
        charset=parameters.get("charset", ""),
        file_name=" ".join(name.split())[:255]
        or (_name_of_mail(body) if is_mail else "unnamed" * is_attached),
        is_attached=is_attached or is_mail,
        body=b"" if inner else body,
    )
    return part, inner or []


def _name_of_mail(body: bytes) -> str:
    """Return the subject as a file's name; an email inside another is a file of its own."""
    head, _ = _halves(body, MAX_PART_HEAD_BYTES)
    subject = text_of(_headers(head).get("subject", b""))
    return f"{subject[:200].replace('/', '-') or 'unnamed'}.eml"


def _halves(source: bytes, most: int) -> tuple[bytes, bytes]:
    if source.startswith(b"\n"):
        return b"", source[1:]
    head, _, body = source.partition(b"\n\n")
    return head[:most], body


def _headers(head: bytes) -> Headers:
    """Return the headers that are used, by their name in small letters."""
    found: dict[str, bytes] = {}
    for match in islice(_HEADER.finditer(head), MAX_HEADERS):
        name, value = match[1].decode().lower(), match[2].strip()
        if name.startswith("content-"):
            found.setdefault(name, value)
        else:
            found[name] = found[name] + b", " + value if name in found else value
    return found


def _pieces(body: bytes, boundary: bytes, most: int) -> list[bytes] | None:
    """Return the parts between the boundary lines; None without such a line."""
    line = re.compile(rb"\n--" + re.escape(boundary) + rb"(--)?+[ \t]*+(?=\n|\Z)")
    pieces: list[bytes] = []
    began: int | None = None
    for match in line.finditer(b"\n" + body):
        if began is not None:
            pieces.append(body[began : max(began, match.start() - 1)])
            if len(pieces) > most:
                raise Unread("refused", TOO_MANY_PARTS)
        began = match.end()
        if match[1]:
            return pieces
    if began is None:
        return None
    return [*pieces, body[began:]]


def _value(header: bytes) -> tuple[str, Mapping[str, str]]:
    """Return the value in small letters, and its parameters, also in pieces or encoded (RFC 2231)."""
    text = _characters(header[:MAX_PARAMETERS_BYTES])
    pieces: dict[str, dict[int, tuple[str, bool]]] = {}
    for match in islice(_PARAMETER.finditer(text), MAX_PARAMETERS):
        named = _PIECE.fullmatch(match[1].lower())
        if named is not None:
            quoted = match[2]
            said = _ESCAPED.sub(r"\1", quoted) if quoted is not None else match[3].strip()
            place, is_encoded = int(named[2] or -1), bool(named[3])
            of_name = pieces.setdefault(named[1], {})
            if place not in of_name or is_encoded:
                of_name[place] = (said, is_encoded)
    return text.partition(";")[0].strip().lower(), {name: _joined(said) for name, said in pieces.items()}


def _joined(pieces: Mapping[int, tuple[str, bool]]) -> str:
    if -1 in pieces:
        pieces = {0: pieces[-1]}
    ordered = [pieces[number] for number in sorted(pieces)]
    if not ordered[0][1]:
        return text_of("".join(said for said, _ in ordered).encode("utf-8", "replace"))
    charset, _, first = ordered[0][0].partition("'")
    ordered[0] = (first.partition("'")[2], True)
    raw = b"".join(
        unquote_to_bytes(said) if is_encoded else said.encode("utf-8", "replace")
        for said, is_encoded in ordered
    )
    try:
        return raw.decode(charset or "utf-8", "replace")
    except (LookupError, ValueError):
        return raw.decode("utf-8", "replace")


def _characters(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def _from_base64(body: bytes) -> bytes:
    for padding in (b"", b"=", b"=="):
        try:
            return binascii.a2b_base64(body + padding)
        except binascii.Error:
            continue
    return body
