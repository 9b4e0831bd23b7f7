"""Tells fenced code from other text, one character at a time. No I/O."""

_MOST_CHARACTERS = 80
"""Of a line that are read: a fence stands at its start."""
_QUOTES = frozenset("\"'“„«‘")


class Fences:
    """Where a text is, by the characters that were added.

    `is_quoted` is whether what follows is inline code, or comes right after a quotation mark.
    """

    def __init__(self) -> None:
        self.is_open = False
        self.is_quoted = False
        self._backticks = 0
        self._line = ""
        self._marker = ""
        self._opens_here = False

    @property
    def is_at_line_start(self) -> bool:
        """Whether the text is outside of fences, and its line has nothing but blanks so far."""
        return not self.is_open and not self._line.strip()

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
        if character == "\n":
            self._end_line()
            self._line = ""
        elif len(self._line) < _MOST_CHARACTERS:
            self._line += character
            if not self.is_open and character in "`~" and self._starts_fence():
                self.is_open = self._opens_here = True

    def _starts_fence(self) -> bool:
        return self._line.lstrip("> \t") in ("```", "~~~")

    def _end_line(self) -> None:
        if not self.is_open:
            return
        if not self._opens_here:
            self.is_open = not self.ends_here()
            return
        self._opens_here = False
        opening = self._line.lstrip("> \t")
        info = opening.lstrip(opening[0])
        self._marker = opening[: len(opening) - len(info)]
        self.is_open = "`" not in info or opening[0] == "~"
