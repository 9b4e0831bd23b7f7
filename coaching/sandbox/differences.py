"""Differences and merges of texts, each in a process of its own with a time limit."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from coaching.sandbox.host import ProcessHost
from coaching.sandbox.limits import MEGABYTE, Limits

MODULE = "coaching.sandbox.difference_worker"
LIMITS = Limits(memory_bytes=768 * MEGABYTE, cpu_seconds=10, seconds=2.0, answer_bytes=8 * MEGABYTE)

_host = ProcessHost(MODULE, LIMITS, slots=1, slow_slots=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a line. A gap stands for `count` omitted characters."""

    kind: Literal["same", "changed", "gap"]
    text: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line. A gap stands for `count` unchanged lines."""

    kind: Literal["same", "added", "removed", "gap"]
    pieces: Sequence[Piece] = ()
    count: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether the whole line was added or removed, not only some words."""
        return all(piece.kind != "same" for piece in self.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How a text differs from an older one. `left_out` changed lines aren't among the rows."""

    rows: Sequence[Row]
    added: int
    removed: int
    left_out: int = 0

    @property
    def is_none(self) -> bool:
        return not (self.added or self.removed)


def compare(old: str, new: str) -> Difference | None:
    """Return how `new` differs from `old`; None if that takes more than two seconds. Blocks."""
    found = _ask(old=old, new=new)
    if found is None:
        return None
    return Difference(
        rows=[_row(kind, rest) for kind, rest in found["rows"]],
        added=found["added"],
        removed=found["removed"],
        left_out=found["left_out"],
    )


def merge(*, base: str, mine: str, theirs: str) -> str | None:
    """Merge both changes of `base`; None if they conflict or it takes too long. Blocks."""
    merged = _ask(base=base, mine=mine, theirs=theirs)
    return merged if isinstance(merged, str) else None


def _ask(**asked: str) -> Any:
    (answer,) = _host.ask_all([json.dumps(asked).encode()])
    return json.loads(answer) if isinstance(answer, bytes) else None


def _row(kind: Literal["same", "added", "removed", "gap"], rest: Any) -> Row:
    if kind == "gap":
        return Row(kind="gap", count=rest)
    pieces = [
        Piece(kind=of, count=int(text)) if of == "gap" else Piece(kind=of, text=text) for of, text in rest
    ]
    return Row(kind=kind, pieces=pieces)
