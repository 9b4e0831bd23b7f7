"""Small drawings of Windows with words, as Office stores them beside embedded files."""

import struct


def emf(*texts: str, begin: int = 56, size: int | None = None, after: bytes = b"") -> bytes:
    """Return a drawing whose texts stand on one line, with more records. `begin` and `size` may lie."""
    records = b"".join(_emf_text(text, begin, size) for text in texts)
    header = struct.pack("<II32x4s44x", 1, 88, b" EMF")
    return header + records + after + struct.pack("<II12x", 14, 20)


def _emf_text(text: str, begin: int, size: int | None) -> bytes:
    letters = text.encode("utf-16-le")
    letters += bytes(-len(letters) % 4)
    head = struct.pack(
        "<II28xiiIII", 84, 56 + len(letters) if size is None else size, 10, 20, len(text), begin, 0
    )
    return head + letters


def wmf(*texts: str, after: bytes = b"") -> bytes:
    """Return a drawing whose texts stand on one line. `after` are more records."""
    records = []
    for text in texts:
        letters = text.encode("cp1252")
        content = struct.pack("<hhHH", 20, 10, len(letters), 0) + letters + bytes(len(letters) % 2)
        records.append(struct.pack("<IH", 3 + len(content) // 2, 0x0A32) + content)
    placeable = b"\xd7\xcd\xc6\x9a" + bytes(18)
    return (
        placeable + struct.pack("<HHH12x", 1, 9, 0x300) + b"".join(records) + after + struct.pack("<IH", 3, 0)
    )
