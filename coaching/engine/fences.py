"""Tells code from other text, one character at a time. No I/O."""

_MOST_CHARACTERS = 80
"""Of a line that are read: a fence stands at its start."""
_QUOTES = frozenset("\"'“„«‘")
_SENTENCE_ENDS = frozenset(".!?…:")
_AFTER_END = frozenset("\"'”’»)]*_")
_NUMBER_DIGITS = 9
_INDENTS = ("    ", *(" " * blanks + "\t" for blanks in range(4)))


class Fences:
    """Where a text is, by the characters that were added.

    `is_open`: inside of fences. `is_quoted` is whether what follows is inline code, or comes right after a
    quotation mark.
    """

    def __init__(self) -> None:
        self.is_open = False
        self.is_quoted = False
        self._backticks = 0
        self._line = ""
        self._marker = ""
        self._opens_here = False
        self._is_after_blank = True
        self._mark = ""  # the last that isn't blank, without what may follow a sentence's end
        self._has_text = False
        self._may_indent = False  # a blank line or indented code came before, after some text

    @property
    def is_code(self) -> bool:
        """Whether what follows is in fences, or in code that is indented."""
        return self.is_open or (self._may_indent and self._line.startswith(_INDENTS))

    @property
    def is_at_line_start(self) -> bool:
        """Whether the text is outside of code, and its line has nothing but blanks so far."""
        return not self.is_code and not self._line.strip()

    @property
    def is_at_sentence_start(self) -> bool:
        """Whether the line has nothing but whole sentences so far."""
        return not self._mark or self._mark in _SENTENCE_ENDS

    @property
    def is_between_words(self) -> bool:
        """Whether a sentence has begun, and what follows isn't joined to its last word."""
        return self._is_after_blank and not self.is_at_sentence_start

    def ends_here(self) -> bool:
        """Whether the line so far ends the open fence, if nothing else follows in it."""
        line = self._line.strip("> \t\r")
        return not self._opens_here and len(line) >= len(self._marker) and not line.strip(self._marker[0])

    def close(self) -> None:
        self.is_open = self.is_quoted = False
        self._backticks = 0

    def add(self, character: str) -> None:
        self._backticks = 0 if character == "\n" else self._backticks + (character == "`")
        self.is_quoted = self._backticks % 2 == 1 or character in _QUOTES
        self._is_after_blank = character.isspace()
        if character == "\n":
            self._end_line()
            self._line = self._mark = ""
            return
        if not character.isspace() and not (self._mark and character in _AFTER_END):
            self._mark = character
        if len(self._line) < _MOST_CHARACTERS:
            self._line += character
            if not self.is_code and character in "`~" and self._starts_fence():
                self.is_open = self._opens_here = True

    def _starts_fence(self) -> bool:
        return _without_markers(self._line) in ("```", "~~~")

    def _end_line(self) -> None:
        is_blank = not self._line.strip()
        self._has_text = self._has_text or not is_blank
        self._may_indent = self._has_text and not self.is_open and (is_blank or self.is_code)
        if not self.is_open:
            return
        if not self._opens_here:
            self.is_open = not self.ends_here()
            return
        self._opens_here = False
        opening = _without_markers(self._line)
        info = opening.lstrip(opening[0])
        self._marker = opening[: len(opening) - len(info)]
        self.is_open = "`" not in info or opening[0] == "~"


def _without_markers(line: str) -> str:
    """Return a line without the marks of quotes and lists before its text."""
    while True:
        line = line.lstrip("> \t")
        digits = len(line) - len(line.lstrip("0123456789"))
        if 0 < digits <= _NUMBER_DIGITS and line[digits : digits + 1] in (".", ")"):
            marks = digits + 1
        else:
            marks = 1 if line[:1] in ("-", "*", "+") else 0
        if not marks or line[marks : marks + 1] not in (" ", "\t"):
            return line
        line = line[marks:]
