"""The compressed RTF of Outlook's messages (MS-OXRTFCP)."""

import struct

MAX_BYTES = 2 * 1024 * 1024
"""As much is decompressed: a few bytes can stand for many."""
_HEADER = struct.Struct("<IIII")
_COMPRESSED, _PLAIN = 0x75465A4C, 0x414C454D
_WINDOW = 4_096
_PRESET = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor "
    rb"MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)


def decompressed(data: bytes) -> bytes:
    """Return up to `MAX_BYTES` of compressed RTF (MS-OXRTFCP); nothing of anything else."""
    if len(data) < _HEADER.size:
        return b""
    _, size, kind, _ = _HEADER.unpack_from(data)
    packed = data[_HEADER.size :]
    if kind == _PLAIN:
        return packed[: min(size, MAX_BYTES)]
    return _unpacked(packed, min(size, MAX_BYTES)) if kind == _COMPRESSED else b""


def _unpacked(packed: bytes, size: int) -> bytes:
    window = bytearray(_PRESET.ljust(_WINDOW, b" "))
    place, at, end = len(_PRESET), 0, len(packed)
    written = bytearray()
    while at < end and len(written) < size:
        control = packed[at]
        at += 1
        for bit in range(8):
            if not control >> bit & 1:
                chunk = packed[at : at + 1]
                at += 1
            elif at + 2 <= end:
                reference = packed[at] << 8 | packed[at + 1]
                at += 2
                start, length = reference >> 4, (reference & 0xF) + 2
                if start == place:  # the end
                    return bytes(written)
                chunk = b""
                for number in range(length):  # a run may repeat what it writes
                    byte = window[(start + number) % _WINDOW]
                    window[(place + number) % _WINDOW] = byte
                    written.append(byte)
                place = (place + length) % _WINDOW
            else:
                return bytes(written)
            for byte in chunk:
                window[place] = byte
                written.append(byte)
                place = (place + 1) % _WINDOW
    return bytes(written[:size])
