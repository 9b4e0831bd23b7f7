"""E-mails of any size whose shapes cost readers time: what is repeated grows with the size."""

from collections.abc import Callable, Mapping

HEAD = b"From: a@example.org\nTo: b@example.org\nSubject: x\nMIME-Version: 1.0\n"
MIXED = HEAD + b'Content-Type: multipart/mixed; boundary="b"\n\n'


def _filled(start: bytes, piece: bytes, size: int, end: bytes = b"") -> bytes:
    return start + piece * ((size - len(start) - len(end)) // len(piece)) + end


def _numbered(start: bytes, piece: bytes, size: int) -> bytes:
    count = (size - len(start)) // (len(piece) + 6)
    return start + b"".join(piece % number for number in range(count)) + b"\n\nA lease"


def _parts(part: bytes, size: int) -> bytes:
    """500 parts, which is as many as are read, of equal size."""
    share = max(1, size // 499 // len(part))
    return MIXED + (b"--b\n" + part * share + b"\n\nx\n") * 498 + b"--b--\n"


def _nested(size: int) -> bytes:
    """Each level's boundary is nearly found on every line of all that it holds."""
    levels = range(9)
    start = b"".join(
        b'Content-Type: multipart/mixed; boundary="%s%d"\n\n--%s%d\n' % (b"b" * 60, level, b"b" * 60, level)
        for level in levels
    )
    return _filled(HEAD + start + b"\n", b"\n--" + b"b" * 60 + b"x", size)


BEGUN: Mapping[str, tuple[bytes, bytes]] = {
    "spaces in a header": (HEAD + b"Subject:", b" "),
    "one header line": (HEAD + b"Subject: ", b"x"),
    "continued lines": (HEAD + b"Subject: x\n", b" x\n"),
    "many headers": (HEAD, b"a: b\n"),
    "many subjects": (HEAD, b"Subject: b\n"),
    "names without colons": (HEAD, b"subject"),
    "encoded words": (HEAD + b"Subject: ", b"=?utf-8?q?a?= "),
    "unclosed encoded words": (HEAD + b"Subject: ", b"=?utf-8?q?"),
    "encoded words of a slow encoding": (HEAD + b"Subject: =?punycode?q?", b"a-"),
    "addresses": (HEAD + b"To: ", b"<a@b>,"),
    "brackets in an address": (HEAD + b"To: ", b"("),
    "quotes in an address": (HEAD + b"To: ", b'"\\'),
    "parameters": (HEAD + b"Content-Type: text/plain", b"; a=b"),
    "semicolons": (HEAD + b"Content-Type: text/plain", b";"),
    "unclosed quotes": (HEAD + b"Content-Type: text/plain", b';a="'),
    "spaces in parameters": (HEAD + b"Content-Type: text/plain;", b" \t"),
    "one line": (HEAD + b"\n", b"x"),
    "short lines": (HEAD + b"\n", b"x\n"),
    "empty lines": (HEAD + b"\n", b"\n"),
    "old line ends": (HEAD + b"\n", b"x\r"),
    "bytes of no encoding": (HEAD + b"\n", b"\xff\xfe\x81 "),
    "a slow encoding": (HEAD + b"Content-Type: text/plain; charset=punycode\n\n", b"\xff-a"),
    "base64": (HEAD + b"Content-Transfer-Encoding: base64\n\n", b"eHh4\n"),
    "base64 without end": (HEAD + b"Content-Transfer-Encoding: base64\n\n", b"="),
    "quoted-printable": (HEAD + b"Content-Transfer-Encoding: quoted-printable\n\n", b"=41=\n"),
    "uuencode": (HEAD + b"Content-Transfer-Encoding: x-uuencode\n\nbegin 644 a\n", b"!\n"),
    "parts": (MIXED, b"--b\n\nx\n"),
    "nearly parts": (MIXED + b"--b\n\n", b"--bx\n"),
    "boundaries with spaces": (MIXED + b"--b\n\n", b"--b" + b" " * 1_000 + b"x\n"),
    "paragraphs": (HEAD + b"Content-Type: text/html\n\n", b"<p>x"),
    "cells": (HEAD + b"Content-Type: text/html\n\n", b"<td>x"),
    "levels": (HEAD + b"Content-Type: text/html\n\n", b"<div>"),
    "attributes": (HEAD + b"Content-Type: text/html\n\n<p ", b"a=b "),
    "entities": (HEAD + b"Content-Type: text/html\n\n", b"&amp;"),
    "an image in the text": (HEAD + b'Content-Type: text/html\n\n<img src="data:', b"QUFB"),
    "spaces": (HEAD + b"Content-Type: text/html\n\n", b" \n"),
}

SHAPES: Mapping[str, Callable[[int], bytes]] = {
    **{
        name: lambda size, begun=begun, piece=piece: _filled(begun, piece, size)  # type: ignore[misc]
        for name, (begun, piece) in BEGUN.items()
    },
    "parameters in encoded pieces": lambda size: _numbered(
        HEAD + b"Content-Type: text/plain", b"; name*%d*=utf-8''%%41", size
    ),
    "a file's name in pieces": lambda size: _numbered(
        HEAD + b"Content-Disposition: attachment", b";\n filename*%d*=a", size
    ),
    "pieces in reverse": lambda size: _numbered(HEAD + b"Content-Type: text/plain", b"; name*-%d=a", size),
    "parts with names in pieces": lambda size: _parts(
        b"Content-Disposition: attachment" + b"".join(b"; filename*%d*=a" % n for n in range(100)), size
    ),
    "parts with encoded names": lambda size: _parts(
        b"Content-Disposition: attachment; filename=" + b"=?utf-8?q?a?=" * 1_000, size
    ),
    "parts of no encoding": lambda size: _parts(b"\n\xff\xfe\x81 and so on", size),
    "parts of HTML": lambda size: _parts(b"Content-Type: text/html\n\n" + b"<p>x" * 10_000, size),
    "nearly every boundary": _nested,
}
