"""Trace spans. They do nothing until `open_spans_with` is called, and hold ids, never message text."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Attributes = dict[str, str]
Opener = Callable[[str, Attributes], AbstractContextManager[object]]


class _Spans:
    """How this process opens a span; None for not at all."""

    opener: Opener | None = None


def span(name: str, **attributes: str) -> AbstractContextManager[object]:
    """Open a span inside the current one, for the length of a block."""
    return nullcontext() if _Spans.opener is None else _Spans.opener(name, attributes)


def open_spans_with(opener: Opener | None) -> None:
    """Set how this process opens spans."""
    _Spans.opener = opener
