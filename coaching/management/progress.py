"""A progress bar on a terminal, and nothing elsewhere."""

from types import TracebackType
from typing import Self, TextIO

BAR_CHARACTERS = 30


class ProgressBar:
    """A bar for the length of the block, on its own line."""

    def __init__(self, out: TextIO, *, noun: str) -> None:
        self._out, self._noun = out, noun
        self._is_shown = out.isatty()
        self._shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown:
            self._out.write("\n")
            self._out.flush()

    def show(self, done: int, total: int) -> None:
        """Show how much is done."""
        if not self._is_shown:
            return
        full = BAR_CHARACTERS * done // total if total else 0
        bar = "#" * full + "." * (BAR_CHARACTERS - full)
        line = f"[{bar}] {done:,} of {total:,} {self._noun}"
        if line != self._shown:
            self._out.write(f"\r{line}")
            self._out.flush()
            self._shown = line
