"""Cuts markdown into blocks that are rendered each alone: paragraphs, list items, tables, code.

The cut is stable under appending: what was a finished block stays one, whatever text follows. So a block can
be shown while the rest of its text is still being written, and a reload shows the same. What spans blocks in
markdown (loose lists, links defined elsewhere) is plain here.
"""

import re
from typing import Literal

_INDENT = re.compile(r"[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_QUOTE = re.compile(r" {0,3}>")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_ITEM_IN_PARAGRAPH = re.compile(r" {0,3}(?:[-*+]|1[.)])[ \t]+\S")
"""The items that end a paragraph: others are its words, such as a year at the beginning of a line."""
_MIN_CONTENT_INDENT = 2

_Kind = Literal["none", "paragraph", "fence", "item", "quote"]


class BlockSplitter:
    """Takes a text in pieces: `feed` returns the blocks that a piece finished; the `rest` is unfinished."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._partial = ""
        self._kind: _Kind = "none"
        self._fence = ""
        self._is_after_blank = False

    @property
    def awaits_word(self) -> bool:
        """Whether the next character may finish a block: after a list item and a blank line."""
        return self._kind == "item" and self._is_after_blank

    @property
    def rest(self) -> str:
        return "\n".join([*self._lines, self._partial])

    def feed(self, text: str) -> list[str]:
        """Add text and return the blocks that it finished."""
        if "\n" not in text:
            self._partial += text
            return self._end() if self._has_left_item() else []
        *lines, self._partial = (self._partial + text).split("\n")
        blocks = [block for line in lines for block in self._take(line.removesuffix("\r"))]
        return [*blocks, *self._end()] if self._has_left_item() else blocks

    def _has_left_item(self) -> bool:
        """Whether the line being written can't belong to the item before: it isn't indented."""
        return self.awaits_word and bool(self._partial) and not self._partial[:1].isspace()

    def finish(self) -> list[str]:
        """Return the last blocks: nothing follows."""
        last, self._partial = self._partial, ""
        blocks = self._take(last.removesuffix("\r")) if last.strip() else []
        return [*blocks, *self._end()]

    def _take(self, line: str) -> list[str]:
        """Add a whole line; return the blocks that are finished with it, at most two."""
        match self._kind:
            case "fence":
                self._lines.append(line)
                return self._end() if self._closes_fence(line) else []
            case "item" if self._goes_on_in_item(line):
                self._lines.append(line)
                self._is_after_blank = not line.strip()
                return []
            case "quote" if line.strip() and (_QUOTE.match(line) or not _begins_block(line)):
                self._lines.append(line)
                return []
            case "paragraph" if line.strip() and _UNDERLINE.match(line):
                self._lines.append(line)
                return self._end()
            case "paragraph" if line.strip() and not _begins_block(line):
                self._lines.append(line)
                return []
        return [*self._end(), *self._begin(line)]

    def _goes_on_in_item(self, line: str) -> bool:
        if not line.strip():
            return True
        if _width_of_indent(line) >= _MIN_CONTENT_INDENT:
            return True
        return not self._is_after_blank and not _begins_block(line) and not _ITEM.match(line)

    def _closes_fence(self, line: str) -> bool:
        found = _FENCE.fullmatch(line)
        return bool(found and found[1].startswith(self._fence) and not found[2].strip())

    def _begin(self, line: str) -> list[str]:
        """Begin a block with a line; return it if it is finished already."""
        self._is_after_blank = False
        if not line.strip():
            return []
        self._lines = [line]
        if _HEADING.match(line) or _RULE.match(line):
            return self._end()
        if found := _fence_of(line):
            self._kind, self._fence = "fence", found
        elif _QUOTE.match(line):
            self._kind = "quote"
        elif _ITEM.match(line):
            self._kind = "item"
        else:
            self._kind = "paragraph"
        return []

    def _end(self) -> list[str]:
        block = "\n".join(self._lines).rstrip()
        self._lines, self._kind = [], "none"
        return [block] if block else []


def split_blocks(text: str) -> list[str]:
    """Return the blocks of a whole text."""
    splitter = BlockSplitter()
    return [*splitter.feed(text), *splitter.finish()]


def split_unfinished(text: str) -> tuple[str, str]:
    """Return the text of the finished blocks, and the rest that is still being written."""
    splitter = BlockSplitter()
    finished = splitter.feed(text)
    return "\n\n".join(finished), splitter.rest


def _begins_block(line: str) -> bool:
    """Return whether a line ends a paragraph that it follows."""
    marks = (_HEADING, _RULE, _QUOTE, _ITEM_IN_PARAGRAPH)
    return bool(_fence_of(line)) or any(mark.match(line) for mark in marks)


def _fence_of(line: str) -> str:
    """Return the mark of a line that opens a fence; empty if it doesn't."""
    found = _FENCE.fullmatch(line)
    if not found or (found[1].startswith("`") and "`" in found[2]):
        return ""
    return found[1]


def _width_of_indent(line: str) -> int:
    found = _INDENT.match(line)
    return len(found[0].expandtabs(4)) if found else 0
