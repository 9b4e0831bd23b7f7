"""Small messages as Outlook writes them: a compound file (MS-CFB) with properties (MS-OXMSG)."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Union

Tree = Mapping[str, Union[bytes, "Tree"]]
_SECTOR, _MINI, _CUTOFF = 512, 64, 4_096
_NONE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
SENT = datetime(2026, 6, 1, 10, tzinfo=UTC)


@dataclass(slots=True)
class _Entry:
    name: str
    kind: int
    data: bytes = b""
    left: int = _NONE
    right: int = _NONE
    child: int = _NONE
    start: int = _END


def container(tree: Tree) -> bytes:
    """Return a compound file with these folders and streams."""
    entries = [_Entry("Root Entry", 5)]
    entries[0].child = _add(entries, tree)
    mini, mini_fat = bytearray(), list[int]()
    for entry in entries[1:]:
        if entry.kind == 2 and 0 < len(entry.data) < _CUTOFF:
            entry.start = len(mini_fat)
            mini_fat += _chain(len(mini_fat), -(-len(entry.data) // _MINI))
            mini += entry.data.ljust(-(-len(entry.data) // _MINI) * _MINI, b"\0")
    entries[0].data = bytes(mini)
    body, fat = bytearray(), list[int]()

    def placed(data: bytes) -> int:
        if not data:
            return _END
        start, count = len(fat), -(-len(data) // _SECTOR)
        fat.extend(_chain(start, count))
        body.extend(data.ljust(count * _SECTOR, b"\0"))
        return start

    for entry in entries:
        if entry.kind == 5 or len(entry.data) >= _CUTOFF:
            entry.start = placed(entry.data)
    mini_start = placed(_numbers(mini_fat))
    mini_count = -(-len(mini_fat) * 4 // _SECTOR)
    directory = placed(b"".join(map(_written, entries)))
    fat_count = next(n for n in range(1, 110) if n * 128 >= len(fat) + n)
    fat_start = len(fat)
    fat += [_FAT] * fat_count
    sectors = [*range(fat_start, fat_start + fat_count), *[_NONE] * (109 - fat_count)]
    header = struct.pack(
        "<8s16xHHHHH6xIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6, 0, fat_count,
        directory, 0, _CUTOFF, mini_start, mini_count, _END, 0,
    )  # fmt: skip
    return header + struct.pack("<109I", *sectors) + bytes(body) + _numbers(fat)


def _add(entries: list[_Entry], tree: Tree) -> int:
    """Add a folder's children as a balanced tree; return the place of its root."""
    first = len(entries)
    children = sorted(tree.items(), key=lambda child: (len(child[0]), child[0].upper()))
    entries += [
        _Entry(name, 2, content) if isinstance(content, bytes) else _Entry(name, 1)
        for name, content in children
    ]
    for number, (_, content) in enumerate(children):
        if not isinstance(content, bytes):
            entries[first + number].child = _add(entries, content)

    def root(low: int, high: int) -> int:
        if low >= high:
            return _NONE
        middle = (low + high) // 2
        entries[middle].left, entries[middle].right = root(low, middle), root(middle + 1, high)
        return middle

    return root(first, first + len(children))


def _chain(start: int, count: int) -> list[int]:
    return [*range(start + 1, start + count), _END]


def _numbers(numbers: Sequence[int]) -> bytes:
    filled = [*numbers, *[_NONE] * (-len(numbers) % 128)]
    return struct.pack(f"<{len(filled)}I", *filled)


def _written(entry: _Entry) -> bytes:
    name = entry.name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII36xIII", name, len(name) + 2, entry.kind, 1, entry.left, entry.right, entry.child,
        entry.start, len(entry.data), 0,
    )  # fmt: skip


def text(number: int, words: str) -> Tree:
    return {f"__substg1.0_{number:04X}001F": words.encode("utf-16-le")}


def binary(number: int, data: bytes) -> Tree:
    return {f"__substg1.0_{number:04X}0102": data}


def numbers(header_bytes: int, **values: int) -> Tree:
    """Return the stream of numbers, by tags such as `t00390040`."""
    entries = b"".join(struct.pack("<IIq", int(tag[1:], 16), 6, value) for tag, value in values.items())
    return {"__properties_version1.0": bytes(header_bytes) + entries}


def ticks(moment: datetime) -> int:
    return int((moment - _EPOCH).total_seconds()) * 10_000_000


def person(name: str, address: str, kind: int) -> Tree:
    return {**text(0x3001, name), **text(0x39FE, address), **numbers(8, t0C150003=kind)}


def attachment(name: str, data: bytes, *, is_hidden: bool = False) -> Tree:
    return {**text(0x3707, name), **binary(0x3701, data), **numbers(8, t7FFE000B=int(is_hidden))}


def message(
    body: Tree, attachments: Sequence[Tree] = (), *, header_bytes: int = 32, subject: str = "Schlüssel"
) -> Tree:
    return {
        **text(0x0037, subject),
        **text(0x0042, "Jürgen Groß"),
        **text(0x5D02, "jg@example.org"),
        **body,
        **numbers(header_bytes, t00390040=ticks(SENT), t3FDE0003=65_001),
        "__recip_version1.0_#00000000": person("Mia", "mia@example.org", 1),
        "__recip_version1.0_#00000001": person("", "ann@example.org", 2),
        **{f"__attach_version1.0_#{number:08X}": each for number, each in enumerate(attachments)},
    }


def msg() -> bytes:
    logo = attachment("logo.png", b"x", is_hidden=True)
    return container(message(text(0x1000, "The keys are ready."), [attachment("lease.pdf", b"%PDF-"), logo]))


def stored_rtf(rtf: bytes) -> bytes:
    return struct.pack("<IIII", len(rtf) + 12, len(rtf), 0x414C454D, 0) + rtf
