"""Follows the lines of a text into fenced code and out of it, as CommonMark does.

Where an indented fence may belong to a list, nothing is certain any more, and no later line counts as code:
what is taken for code may show tags of old blocks.
"""

import re

_OPENING = re.compile(r"( {0,3})(`{3,}(?=[^`]*$)|~{3,})")
_MAY_OPEN = re.compile(r" {0,3}(?:```|~~~)")
_CLOSING = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*")
_LIST = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_HEAD = 6


class CodeFences:
    """Reads a text in pieces: each is a line's end, or has none."""

    def __init__(self) -> None:
        self._line: list[str] = []
        self._head = ""
        self._fence = ""
        self._has_list = False
        self._is_lost = False

    @property
    def is_inside(self) -> bool:
        return bool(self._fence)

    @property
    def may_open(self) -> bool:
        """Whether the line so far may open a fence."""
        return bool(_MAY_OPEN.match(self._head))

    def add(self, text: str) -> None:
        if text in ("\n", "\r"):
            self._end_line()
            return
        self._line.append(text)
        if len(self._head) < _HEAD:
            self._head += text[:_HEAD]

    def _end_line(self) -> None:
        line = "".join(self._line)
        self._line, self._head = [], ""
        if self._fence:
            found = _CLOSING.fullmatch(line)
            if found and found[1].startswith(self._fence):
                self._fence = ""
        elif not self._is_lost:
            self._begin_after(line)

    def _begin_after(self, line: str) -> None:
        if _LIST.match(line):
            self._has_list = True
        if found := _OPENING.match(line):
            self._is_lost = bool(found[1]) and self._has_list
            self._fence = "" if self._is_lost else found[2]
