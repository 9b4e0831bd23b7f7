"""Text from the RTF of Outlook's messages, which is compressed and often stands for HTML.

Only words are read: no fonts, no fields, no objects. Everything takes one pass, and its length is bounded.
"""

import re
import struct
from dataclasses import dataclass, field, replace

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
_TOKEN = re.compile(
    rb"\\([a-z]{1,32}+)(-?\d{1,10}+)?+ ?+|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]++|([^\\{}\r\n]++)",
    re.IGNORECASE,
)
_SKIPPED = frozenset({
    "fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "themedata", "fldinst", "header", "footer",
})  # fmt: skip
_SAID = {
    "par": "\n", "line": "\n", "tab": "\t", "cell": " | ", "row": "\n", "page": "\n", "emdash": "—",
    "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•",
}  # fmt: skip
_SYMBOLS = {"~": " ", "_": "-", "\n": "\n", "\r": "\n", "\\": "\\", "{": "{", "}": "}"}


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


@dataclass(frozen=True, slots=True)
class _Group:
    """What holds until a group ends. `replaced` characters stand for one that is given by its number."""

    is_skipped: bool = False
    is_rtf_only: bool = False
    replaced: int = 1


def text_of(rtf: bytes) -> tuple[str, bool]:
    """Return what RTF says, and whether it is HTML that the RTF stands for."""
    reader = _Reader(is_html=b"\\fromhtml" in rtf[:4_096])
    for token in _TOKEN.finditer(rtf):
        reader.read(token)
    reader.flush()
    # Characters outside the basic plane are written as two numbers.
    return "".join(reader.said).encode("utf-16", "surrogatepass").decode("utf-16", "replace"), reader.is_html


@dataclass(slots=True)
class _Reader:
    is_html: bool
    encoding: str = "cp1252"
    group: _Group = field(default_factory=_Group)
    outer: list[_Group] = field(default_factory=list)
    is_starred: bool = False
    left_out: int = 0
    said: list[str] = field(default_factory=list)
    encoded: bytearray = field(default_factory=bytearray)

    def read(self, token: re.Match[bytes]) -> None:
        word, number, code, symbol, brace, text = token.groups()
        if code is not None or text is not None:
            self._say_encoded(bytes([int(code, 16)]) if code is not None else text)
            return
        self.flush()
        was_starred, self.is_starred = self.is_starred, symbol == b"*"
        if brace == b"{":
            self.outer.append(self.group)
        elif brace:
            self.group = self.outer.pop() if self.outer else _Group()
        elif word is not None:
            self._read_word(word.decode().lower(), int(number) if number else None, is_starred=was_starred)
        elif symbol is not None:
            self._say(_SYMBOLS.get(symbol.decode("latin-1"), ""))

    def flush(self) -> None:
        """Decode the bytes until here: a character may have several."""
        if self.encoded:
            self.said.append(_decoded(bytes(self.encoded), self.encoding))
            self.encoded.clear()

    def _say_encoded(self, data: bytes) -> None:
        kept = data[self.left_out :]
        self.left_out = max(0, self.left_out - len(data))
        if self._is_shown():
            self.encoded += kept

    def _say(self, text: str) -> None:
        if self._is_shown():
            self.said.append(text)

    def _is_shown(self) -> bool:
        return not self.group.is_skipped and not self.group.is_rtf_only

    def _read_word(self, word: str, number: int | None, *, is_starred: bool) -> None:
        if word == "u" and number is not None:
            self._say(chr(number % 65_536))
            self.left_out = self.group.replaced
        elif word == "uc" and number is not None:
            self.group = replace(self.group, replaced=min(max(number, 0), 10))
        elif word == "ansicpg" and number is not None:
            self.encoding = f"cp{number}"
        elif word == "htmlrtf":
            self.group = replace(self.group, is_rtf_only=number != 0)
        elif word == "htmltag":
            self.group = replace(self.group, is_skipped=not self.is_html)
        elif is_starred or word in _SKIPPED:
            self.group = replace(self.group, is_skipped=True)
        else:
            self._say(_SAID.get(word, ""))


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding, "replace")
    except LookupError:
        return data.decode("cp1252", "replace")
