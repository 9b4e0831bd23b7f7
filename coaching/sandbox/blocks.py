"""Cuts markdown into blocks that are rendered each alone: paragraphs, list items, rows of tables, code.

The cut is stable under appending: what was a finished block stays one, whatever text follows. So a block can
be shown while the rest of its text is still being written, and a reload shows the same. What spans blocks in
markdown (loose lists, links defined elsewhere) is plain here.
"""

import re
from typing import Literal, NamedTuple

_INDENT = re.compile(r"[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_QUOTE = re.compile(r" {0,3}>")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_ITEM_IN_PARAGRAPH = re.compile(r" {0,3}(?:[-*+]|1[.)])[ \t]+\S")
"""The items that end a paragraph: others are its words, such as a year at the beginning of a line."""
_BEGUN = re.compile(r" {0,3}(?:#{1,6}[ \t]|>|[-*+][ \t]+\S|1[.)][ \t]+\S)")
_BEGUN_ITEM = re.compile(r" ?(?:[-*+]|\d{1,9}[.)])[ \t]")
"""How a line begins that ends the paragraph or the item above it, whatever follows in it."""
_FORMULA = re.compile(r" {0,3}(?:(\\\[)|\$\$[ \t]*$)")
"""How a formula of several lines begins: they aren't items or headings. It has no empty line."""
_LONGEST_MARK = 16
_MIN_CONTENT_INDENT = 2
_CODE_INDENT = 4
_COLUMN_END = re.compile(r"(?<!\\)\|")
_UNDER_HEAD = re.compile(r" {0,3}+\|?+[ \t]*+:?+-++:?+(?:[ \t]*+\|[ \t]*+:?+-++:?+)*+[ \t]*+\|?+[ \t]*+")
MAX_COLUMNS = 30
"""A wider table is one block: each of its rows would repeat as many columns."""

_Kind = Literal["none", "paragraph", "fence", "formula", "item", "quote", "table"]


class Block(NamedTuple):
    """A block's text; for a row of a table also the line below the table's head, which aligns its columns."""

    text: str
    columns: str = ""


class BlockSplitter:
    """Takes a text in pieces: `feed` returns the blocks that a piece finished; the `rest` is unfinished."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._partial = ""
        self._kind: _Kind = "none"
        self._fence = ""
        self._columns = ""
        self._is_after_blank = False

    @property
    def awaits_word(self) -> bool:
        """Whether the next characters may finish a block, although they don't end their line."""
        if self._kind not in ("item", "paragraph", "quote"):
            return False
        return self._is_after_blank or len(self._partial) < _LONGEST_MARK

    @property
    def rest(self) -> str:
        return "\n".join([*self._lines, self._partial])

    def feed(self, text: str) -> list[Block]:
        """Add text and return the blocks that it finished."""
        if "\n" not in text:
            self._partial += text
            return self._end() if self._has_left_block() else []
        *lines, self._partial = (self._partial + text).split("\n")
        blocks = [block for line in lines for block in self._take(line.removesuffix("\r"))]
        return [*blocks, *self._end()] if self._has_left_block() else blocks

    def _has_left_block(self) -> bool:
        """Whether the line being written can't belong to the block before it."""
        line = self._partial
        match self._kind:
            case "item" if self._is_after_blank:
                return bool(line) and not line[0].isspace()
            case "item":
                is_inside = _width_of_indent(line) >= _MIN_CONTENT_INDENT
                return not is_inside and bool(_BEGUN_ITEM.match(line) or _BEGUN.match(line))
            case "paragraph":
                return bool(_BEGUN.match(line))
            case "quote":
                return not _QUOTE.match(line) and bool(_BEGUN.match(line))
        return False

    def finish(self) -> list[Block]:
        """Return the last blocks: nothing follows."""
        last, self._partial = self._partial, ""
        blocks = self._take(last.removesuffix("\r")) if last.strip() else []
        return [*blocks, *self._end()]

    def _take(self, line: str) -> list[Block]:
        """Add a whole line; return the blocks that are finished with it, at most two."""
        match self._kind:
            case "fence":
                self._lines.append(line)
                return self._end() if self._closes_fence(line) else []
            case "formula" if line.strip() and not _fence_of(line):
                return self._go_on_in_formula(line)
            case "item" if self._goes_on_in_item(line):
                self._lines.append(line)
                self._is_after_blank = not line.strip()
                return []
            case "quote" if line.strip() and (_QUOTE.match(line) or not _begins_block(line)):
                self._lines.append(line)
                return []
            case "table" if _is_row(line):
                return [Block(line.strip(), self._columns)]
            case "paragraph" if _is_table_head(self._lines[-1], line):
                return self._begin_table(line)
            case "paragraph" if line.strip() and _UNDERLINE.match(line):
                self._lines.append(line)
                return self._end()
            case "paragraph" if line.strip() and not _begins_block(line):
                self._lines.append(line)
                return []
        return [*self._end(), *self._begin(line)]

    def _begin_table(self, line: str) -> list[Block]:
        """Return the head of a table, which its second line finishes, and the paragraph above it."""
        head = self._lines.pop()
        above = self._end()
        self._kind, self._columns = "table", line.strip()
        return [*above, Block(f"{head}\n{line}")]

    def _go_on_in_formula(self, line: str) -> list[Block]:
        self._lines.append(line)
        ending = _end_of_formula(self._lines[0])
        if line.rstrip().endswith(ending):
            return self._end()
        if ending in line:
            self._kind = "paragraph"
        return []

    def _goes_on_in_item(self, line: str) -> bool:
        if not line.strip():
            return True
        if _width_of_indent(line) >= _MIN_CONTENT_INDENT:
            return True
        return not self._is_after_blank and not _begins_block(line) and not _ITEM.match(line)

    def _closes_fence(self, line: str) -> bool:
        found = _FENCE.fullmatch(line)
        return bool(found and found[1].startswith(self._fence) and not found[2].strip())

    def _begin(self, line: str) -> list[Block]:
        """Begin a block with a line; return it if it is finished already."""
        self._is_after_blank = False
        if not line.strip():
            return []
        self._lines = [line]
        if _HEADING.match(line) or _RULE.match(line):
            return self._end()
        if found := _fence_of(line):
            self._kind, self._fence = "fence", found
        elif _end_of_formula(line):
            self._kind = "formula"
        elif _QUOTE.match(line):
            self._kind = "quote"
        elif _ITEM.match(line):
            self._kind = "item"
        else:
            self._kind = "paragraph"
        return []

    def _end(self) -> list[Block]:
        block = "\n".join(self._lines).rstrip()
        self._lines, self._kind = [], "none"
        return [Block(block)] if block else []


def split_blocks(text: str) -> list[Block]:
    splitter = BlockSplitter()
    return [*splitter.feed(text), *splitter.finish()]


def split_unfinished(text: str) -> tuple[list[Block], str]:
    """Return the finished blocks, and the rest that is still being written."""
    splitter = BlockSplitter()
    return splitter.feed(text), splitter.rest


def _begins_block(line: str) -> bool:
    """Return whether a line ends a paragraph that it follows."""
    marks = (_HEADING, _RULE, _QUOTE, _ITEM_IN_PARAGRAPH)
    return bool(_fence_of(line) or _end_of_formula(line)) or any(mark.match(line) for mark in marks)


def _is_table_head(head: str, line: str) -> bool:
    """Return whether two lines begin a table, as the parser decides it."""
    if "|" not in head or _width_of_indent(head) >= _CODE_INDENT:
        return False
    if not _UNDER_HEAD.fullmatch(line) or _ITEM.match(line) or len(line.strip()) == 1:
        return False
    columns = _count_columns(head)
    return columns <= MAX_COLUMNS and columns == _count_columns(line)


def _count_columns(line: str) -> int:
    cells = _COLUMN_END.split(line.strip())
    return len(cells) - (cells[0] == "") - (len(cells) > 1 and cells[-1] == "")


def _is_row(line: str) -> bool:
    """Return whether a line below a table belongs to it."""
    if not line.strip() or _width_of_indent(line) >= _CODE_INDENT:
        return False
    marks = (_HEADING, _RULE, _QUOTE, _ITEM)
    return not (_fence_of(line) or _end_of_formula(line) or any(mark.match(line) for mark in marks))


def _fence_of(line: str) -> str:
    """Return the mark of a line that opens a fence; empty if it doesn't."""
    found = _FENCE.fullmatch(line)
    if not found or (found[1].startswith("`") and "`" in found[2]):
        return ""
    return found[1]


def _end_of_formula(line: str) -> str:
    """Return the mark that ends the formula of several lines which a line opens; empty if it opens none."""
    found = _FORMULA.match(line)
    if not found:
        return ""
    ending = "\\]" if found[1] else "$$"
    return "" if found[1] and ending in line else ending


def _width_of_indent(line: str) -> int:
    found = _INDENT.match(line)
    return len(found[0].expandtabs(4)) if found else 0
