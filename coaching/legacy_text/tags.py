"""Finds the tags of old blocks in a text, whole or as it arrives, in linear time. Reads no block.

A tag is an opening bracket, blanks and slashes, a block's name in any case, and the rest up to the closing
bracket, or apparent attributes without one. In a text that is shown the name may be cut.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coaching.legacy_text.code_fences import CodeFences

BLOCK_NAMES = ("FILE_UPDATE", "SUGGESTED_REPLIES", "DAY_PLAN_DATA", "ENTER_MODE", "SESSION_COMPLETE")

MAX_HELD = 512
"""How many characters are held while they may be the beginning of a tag."""

_SPACES = "".join(filter(str.isspace, map(chr, range(0x3001))))  # the ideographic space is the last one
_BEFORE_NAME = f"{_SPACES}\u200b\u200c\u200d[/*"
_RUN = re.compile(rf"\[[{re.escape(_BEFORE_NAME)}]*+")
_RUN_IN_LINE = re.compile(rf"\[[{re.escape(''.join(_BEFORE_NAME.splitlines()))}]*+")
# Markdown may escape an underscore.
_NAMES = "|".join(BLOCK_NAMES).replace("_", r"\\?_")
_NAME = re.compile(rf"(?:{_NAMES})(?![A-Za-z0-9_])", re.IGNORECASE)
_LONGEST_NAME = max(map(len, BLOCK_NAMES)) + 2
# A quoted value may contain pairs of brackets.
_QUOTED = r"{0}(?:[^{0}\n\[\]]|\[[^{0}\n\[\]]{{0,100}}+\]){{0,300}}+{0}"
_CLOSED_VALUE = "|".join((_QUOTED.format('"'), _QUOTED.format("'"), r"[^\s\"'\[\]]++"))
_ANY_VALUE = r"""(?:"[^"\n]*+"?|'[^'\n]*+'?|[^\s"'\]]++)"""
_REST = re.compile(
    rf"(?P<clean>(?:[ \t]++\w++[ \t]*+=[ \t]*+(?:{_CLOSED_VALUE}))*+)[ \t]*+\]"
    r"|(?P<odd>[^\[\]\n]{0,300}+)\]"
    rf"|(?P<unclosed>(?:[ \t]*+:[ \t]*+\w++)?(?:[ \t]++\w++[ \t]*+=[ \t]*+{_ANY_VALUE})*+"
    r"(?:[ \t]++\w++[ \t]*+=[ \t]*+\Z)?)"
)
_NEXT = re.compile(r"[\[\r\n]")
_NEXT_BRACKET = re.compile(r"\[")
_LINE_ENDS = re.compile(r"([\r\n])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A tag. `rest` is what is between its name and its closing bracket; `place` is its offset."""

    name: str
    is_closing: bool
    rest: str
    place: int


Token = str | Tag


class _Undecided(Exception):
    """What was read may be the beginning of a tag."""


class Tokenizer:
    """Reads a text piece by piece and holds what may be the beginning of a tag.

    With `is_shown` the texts are what a reader sees: fenced code keeps its tags, a space keeps two words
    apart, and blanks after a tag are left out. Fences are those of the text without tags.
    """

    def __init__(self, *, is_shown: bool) -> None:
        self._is_shown = is_shown
        self._fences = CodeFences()
        self._held = ""
        self._offset = 0
        self._last = ""
        self._is_after_tag = False
        self._tokens: list[Token] = []

    def feed(self, text: str) -> Sequence[Token]:
        """Return the tokens that are certain now."""
        return self._read(text, is_last=False)

    def close(self, text: str = "") -> Sequence[Token]:
        """Return the tokens of the last piece."""
        return self._read(text, is_last=True)

    def _read(self, text: str, *, is_last: bool) -> Sequence[Token]:
        buffer = self._held + text
        self._held = ""
        at = 0
        while at < len(buffer):
            found = (_NEXT if self._is_shown else _NEXT_BRACKET).search(buffer, at)
            start = found.start() if found else len(buffer)
            self._add(buffer[at:start])
            at = start
            if found is None:
                break
            if found[0] != "[" or self._fences.is_inside:
                self._add_lines(found[0])
                at += 1
                continue
            try:
                at = self._read_bracket(buffer, at, is_last=is_last)
            except _Undecided:
                kept = _held_from(buffer, at)
                self._add_lines(buffer[at:kept])
                self._held, at = buffer[kept:], kept
                break
        self._offset += at
        tokens, self._tokens = self._tokens, []
        return _joined(tokens)

    def _read_bracket(self, buffer: str, at: int, *, is_last: bool) -> int:
        """Read a tag, or brackets that open none; return where they end. Raises `_Undecided`."""
        run = (_RUN_IN_LINE if self._fences.may_open else _RUN).match(buffer, at)
        assert run is not None
        name = _NAME.match(buffer, run.end())
        if not is_last and _is_cut(buffer, run.end(), name):
            raise _Undecided
        is_closing = "/" in run[0].rpartition("[")[2]
        if name is None:
            cut = _CUT_NAME.match(buffer, run.end()) if self._is_shown else None
            if cut is None:
                self._add_lines(run[0])
                return run.end()
            begun = cut[0].upper()
            full = next(each for each in BLOCK_NAMES if each.startswith(begun))
            self._add_tag(Tag(name=full, is_closing=is_closing, rest="", place=self._offset + at))
            return cut.end()
        rest = _REST.match(buffer, name.end())
        assert rest is not None
        if rest["unclosed"] is not None and not is_last and _may_close(buffer, name.end()):
            raise _Undecided
        tag = Tag(
            name=name[0].upper().replace("\\", ""),
            is_closing=is_closing,
            rest=next(value for value in rest.groups() if value is not None),
            place=self._offset + at,
        )
        self._add_tag(tag)
        return rest.end()

    def _add_tag(self, tag: Tag) -> None:
        self._tokens.append(tag)
        self._is_after_tag = True

    def _add_lines(self, text: str) -> None:
        for piece in _LINE_ENDS.split(text):
            self._add(piece)

    def _add(self, text: str) -> None:
        """Add text without a line's end, or one alone."""
        if self._is_after_tag and self._is_shown:
            text = text.lstrip(" \t")
            if text and self._last and not (self._last.isspace() or text[0].isspace()):
                text = f" {text}"
        if not text:
            return
        self._is_after_tag = False
        self._last = text[-1]
        self._tokens.append(text)
        if self._is_shown:
            self._fences.add(text)


def tokenize(text: str, *, is_shown: bool) -> Iterator[Token]:
    """Yield a text's tags, and the text between them."""
    yield from Tokenizer(is_shown=is_shown).close(text)


def _is_cut(buffer: str, start: int, name: re.Match[str] | None) -> bool:
    """Whether the buffer ends where a name may go on."""
    if name is not None:
        return name.end() == len(buffer)
    if (cut := _CUT_NAME.match(buffer, start)) and not buffer[cut.end() :].strip():
        return True
    rest = buffer[start : start + _LONGEST_NAME + 1]
    begun = rest.upper().replace("\\", "")
    return start + len(rest) == len(buffer) and any(each.startswith(begun) for each in BLOCK_NAMES)


def _beginnings(name: str) -> str:
    """Return a pattern of a name's beginnings that have its first word whole, the longest first."""
    return "|".join(name[:end] for end in range(len(name) - 1, name.index("_"), -1))


def _may_close(buffer: str, start: int) -> bool:
    """Whether the bracket that closes a tag may follow the buffer."""
    return len(buffer) - start <= MAX_HELD and "\n" not in buffer[start:]


def _held_from(buffer: str, start: int) -> int:
    """Return from where to hold what begins at `start`."""
    if len(buffer) - start <= 2 * MAX_HELD:
        return start
    later = buffer.find("[", len(buffer) - MAX_HELD)
    return len(buffer) if later < 0 else later


_CUT_NAME = re.compile(rf"(?:{'|'.join(map(_beginnings, BLOCK_NAMES))})(?=\s*+(?:\[|\Z))", re.IGNORECASE)


def _joined(tokens: Sequence[Token]) -> Sequence[Token]:
    joined: list[Token] = []
    texts: list[str] = []
    for token in tokens:
        if isinstance(token, str):
            texts.append(token)
            continue
        if texts:
            joined.append("".join(texts))
            texts = []
        joined.append(token)
    if texts:
        joined.append("".join(texts))
    return joined
