"""What RTF says, in one pass: no drawings, no programs of fields, no embedded objects.

Groups aren't read recursively, so their depth doesn't matter.
"""

import re
from dataclasses import dataclass, field, replace
from itertools import islice

from coaching.library.extractors.left_out import DELETED_MARK, EMBEDDED_MARK, MARKS, without_marks
from coaching.library.extractors.rtf_words import CHARSETS, ENCODINGS, MARGINS, REPEATED, SAID, SKIPPED

MAX_TOKENS = 1_000_000
"""Words, signs and pieces of text: of more, only the first are read."""
PAGE = "\f"
_TOKEN = re.compile(
    rb"\\([a-z]{1,32}+)(-?\d{1,10}+)?+ ?+|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]++|([^\\{}\r\n]++)",
    re.IGNORECASE,
)
_SYMBOLS = {"~": " ", "_": "-", "\n": "\n", "\r": "\n", "\\": "\\", "{": "{", "}": "}"}
_BREAKS = ("\n", PAGE, " | ")
_REMARKS = {"footnote": "Note: ", "annotation": "Comment: ", "shptxt": "", "dptxbxtext": ""}
"""Texts with a place of their own. They follow the paragraph in which they begin."""
_DELETED = ("deleted", _MOVED := "mvf")
"""Marked as deleted, or as moved from here."""
_TRANSPARENT = ("nesttableprops",)
"""Destinations whose text belongs to the one around: the rows of nested tables end there."""
_BOTH_HALVES, _UNICODE_HALF = "upr", "ud"
"""A text in an older encoding, and then the same one in Unicode."""
_INFO = {"title": "title", "author": "author"}
_UNMARKED = dict.fromkeys(map(ord, MARKS))
_DAY = ("yr", "mo", "dy")


def decoded_pairs(parts: list[str]) -> str:
    """Return parts as a text: characters outside the basic plane are written as two numbers."""
    return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def html_of(rtf: bytes) -> str:
    """Return the HTML that RTF stands for; empty if it is a text of its own."""
    if b"\\fromhtml" not in rtf[:4_096]:
        return ""
    reader = Reader(is_html=True)
    reader.read(rtf)
    return decoded_pairs(reader.said)


def text_of(rtf: bytes) -> str:
    """Return the text with notes, without headers, footers and pages."""
    reader = Reader()
    reader.read(rtf)
    return without_marks(decoded_pairs(reader.said).replace(PAGE, "\n"))


@dataclass(slots=True)
class _Group:
    """What holds until a group ends. `replaced` characters stand for one that is given by its number.

    `said` is where its text belongs. What `is_repeated` stands elsewhere in a newer form. `older` says
    where a text begins that follows in Unicode, and, from there on, where it ends.
    """

    said: list[str]
    font: int | None = None
    replaced: int = 1
    is_skipped: bool = False
    is_repeated: bool = False
    is_hidden: bool = False
    is_deleted: bool = False
    is_moved: bool = False
    is_rtf_only: bool = False
    older: tuple[int, int] | None = None
    is_fonts: bool = False
    is_day: bool = False


@dataclass(slots=True)
class Reader:
    """Reads a file once. `said` is its text, `margins` are headers and footers, `info` what it says of
    itself. `is_cut` if not all was read. Made for HTML, it reads only what belongs to that.
    """

    is_html: bool = False
    is_cut: bool = False
    said: list[str] = field(default_factory=list)
    margins: list[list[str]] = field(default_factory=list)
    info: dict[str, list[str]] = field(default_factory=dict)
    day: dict[str, int] = field(default_factory=dict)
    _encoding: str = "cp1252"
    _encodings: dict[int, str] = field(default_factory=dict)
    _default_font: int | None = None
    _group: _Group = field(init=False)
    _outer: list[_Group] = field(default_factory=list)
    _is_shared: bool = False
    _remarks: list[tuple[str, list[str]]] = field(default_factory=list)
    _is_starred: bool = False
    _left_out: int = 0
    _last_word: int = 0
    _encoded: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self._group = _Group(self.said)

    def read(self, rtf: bytes) -> None:
        """Read a file. Binary data in it is skipped by its stated length."""
        at, left = 0, MAX_TOKENS
        self._last_word = rtf.rfind(b"\\")
        is_skipping = True
        while is_skipping and left:
            is_skipping = False
            for token in islice(_TOKEN.finditer(rtf, at), left):
                left -= 1
                if skipped := self._read(token):
                    at, is_skipping = token.end() + skipped, True
                    break
        self.is_cut = not left
        self._flush()
        self._end_paragraph()

    def _read(self, token: re.Match[bytes]) -> int:
        """Read a token, and return how many bytes after it aren't text."""
        word, number, code, symbol, brace, text = token.groups()
        if text is not None or code is not None:
            self._say_encoded(text if text is not None else bytes([int(code, 16)]))
        elif word is not None:
            self._flush()
            name, value = word.decode().lower(), int(number) if number else None
            if name == "bin":
                return max(0, value or 0)
            was_starred, self._is_starred = self._is_starred, False
            self._read_word(name, value, is_starred=was_starred)
        elif brace is not None:
            self._flush()
            self._left_out, self._is_starred = 0, False
            self._is_shared = True
            if brace == b"{":
                self._outer.append(self._group)
            else:
                if self._outer:
                    self._leave()
                if not self._outer and token.end() > self._last_word:
                    return len(token.string)  # what follows isn't RTF
        elif symbol is not None:
            self._flush()
            self._is_starred = symbol == b"*"
            self._say_sign(_SYMBOLS.get(symbol.decode("latin-1"), ""))
        return 0

    def _leave(self) -> None:
        """Leave a group. If it has a text in Unicode, the same one in an older encoding isn't needed."""
        ended, self._group = self._group, self._outer.pop()
        if ended.older and ended.older != self._group.older:
            start, end = ended.older
            if end and "".join(ended.said[end:]).strip():
                del ended.said[start:end]

    def _flush(self) -> None:
        """Decode the bytes until here: a character may have several."""
        if self._encoded:
            font = self._group.font if self._group.font is not None else self._default_font
            encoding = self._encodings.get(font, "") if font is not None else ""
            self._group.said.append(
                _decoded(bytes(self._encoded), encoding or self._encoding).translate(_UNMARKED)
            )
            self._encoded.clear()

    def _say_encoded(self, data: bytes) -> None:
        kept = data[self._left_out :]
        self._left_out = max(0, self._left_out - len(data))
        if self._is_shown():
            self._encoded += kept
        elif self._group.is_deleted and kept.strip():
            self._mark_deleted()

    def _say_sign(self, text: str) -> None:
        """Say what a control word stands for, unless it is in place of a character given by its number."""
        if self._left_out and text and text not in _BREAKS:
            self._left_out -= 1
        else:
            self._left_out = 0
            self._say(text)

    def _say(self, text: str) -> None:
        if not text or not self._is_shown():
            if self._group.is_deleted and text not in _BREAKS and text.strip():
                self._mark_deleted()
            return
        is_main = self._group.said is self.said
        if is_main and text == PAGE:
            self._end_paragraph()
        self._group.said.append(text)
        if is_main and text == "\n":
            self._end_paragraph()

    def _mark_deleted(self) -> None:
        """Mark where a text stood that is left out only because it is deleted."""
        said, group = self._group.said, self._group
        is_in_text = not group.is_moved and not self.is_html and self._is_shown(but_deleted=True)
        if is_in_text and said[-1:] != [DELETED_MARK]:
            said.append(DELETED_MARK)

    def _own(self) -> _Group:
        """Return the group, which may then be changed: one around it may be the same object."""
        if self._is_shared:
            self._group, self._is_shared = replace(self._group), False
        return self._group

    def _is_shown(self, *, but_deleted: bool = False) -> bool:
        group = self._group
        is_unseen = group.is_hidden or (group.is_deleted and not but_deleted) or group.is_rtf_only
        return not (group.is_skipped or group.is_repeated or is_unseen)

    def _end_paragraph(self) -> None:
        for name, parts in self._remarks:
            if text := " ".join("".join(parts).split()):
                start = "" if not self.said or self.said[-1].endswith("\n") else "\n"
                has_words = without_marks(text).strip()
                self.said.append(f"{start}{name}{text}\n" if has_words else text)
        self._remarks.clear()

    def _read_word(self, word: str, number: int | None, *, is_starred: bool) -> None:
        if word in SAID:
            self._say_sign(SAID[word])
            return
        self._left_out = 0
        if word == "u" and number is not None:
            self._say(chr(number % 65_536).strip(MARKS))
            self._left_out = self._group.replaced
        elif word == "f":
            self._own().font = number
        elif word == "plain":
            self._own().font, self._group.is_hidden = self._default_font, False
        elif word == "v":
            self._own().is_hidden = number != 0
        elif word in _DELETED:
            self._own().is_deleted, self._group.is_moved = number != 0, word == _MOVED
        elif word in _TRANSPARENT:
            pass
        elif word == _UNICODE_HALF and self._group.older and not self._group.is_skipped:
            self._own().older = (self._group.older[0], len(self._group.said))
        elif is_starred or word in SKIPPED or word in _REMARKS or word in MARGINS:
            self._begin(word, self._own())
        else:
            self._set(word, number)

    def _begin(self, word: str, group: _Group) -> None:
        """Enter a destination: a text of its own, or what nobody is shown."""
        if word == "htmltag":
            group.is_skipped = not self.is_html
        elif word in _REMARKS and not self.is_html:
            group.said, group.is_skipped = [], False
            self._remarks.append((_REMARKS[word], group.said))
        elif word in MARGINS and not group.is_skipped:
            group.said = []
            self.margins.append(group.said)
        else:
            group.is_skipped = True
            group.is_repeated |= word in REPEATED
            group.is_fonts = word == "fonttbl"

    def _set(self, word: str, number: int | None) -> None:
        """Change what holds for the file or the group."""
        group = self._group
        if word in ENCODINGS:
            self._encoding = ENCODINGS[word]
        elif word == "deff":
            self._default_font = number
        elif word == "htmlrtf" and self.is_html:
            self._own().is_rtf_only = number != 0
        elif word in _INFO and group.is_skipped:
            self._own().said, self._group.is_skipped = self.info.setdefault(_INFO[word], []), False
        elif word == _BOTH_HALVES:
            self._own().older = (len(group.said), 0)
        elif word == "objemb" and self._is_shown() and not self.is_html:
            group.said.append(EMBEDDED_MARK)
        elif word == "creatim":
            self._own().is_day = True
        elif number is not None:
            self._set_number(word, number)

    def _set_number(self, word: str, number: int) -> None:
        group = self._group
        if word == "uc":
            self._own().replaced = min(max(number, 0), 10)
        elif word == "ansicpg":
            self._encoding = f"cp{number}"
        elif word == "fcharset" and group.is_fonts and group.font is not None and number in CHARSETS:
            self._encodings[group.font] = CHARSETS[number]
        elif word in _DAY and group.is_day:
            self.day[word] = number


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding, "replace")
    except LookupError:
        return data.decode("cp1252", "replace")
