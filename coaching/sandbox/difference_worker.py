"""Differences and merges of texts: the module of the processes of `differences`.

Comparing is quadratic in the worst case, so it runs where it can be killed. Lines are compared first, then
the words of changed lines. The result is bounded: long unchanged stretches and what exceeds a page are left
out and counted. Imports nothing of ours.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

Kind = Literal["same", "added", "removed"]
Piece = tuple[Literal["same", "changed", "gap"], str]
Row = tuple[Kind, list[Piece]]

CONTEXT_LINES = 2
MAX_ROWS = 1_200
MAX_CHARACTERS = 60_000
MAX_LINE_CHARACTERS = 15_000
LONG_SAME = 400
"""From this many unchanged characters in a line on, its middle is left out."""
KEPT_OF_SAME = 120
MAX_PAIRED = 30
ALIKE = 0.45
MAX_WORD_COST = 200_000
"""Pairs of equal words that all comparisons may visit in total: some tenths of a second."""

_WORDS = re.compile(r"\w+|[^\S\n]+|[^\w\s]")
# Invisible and bidirectional characters, shown by their number.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


class Budget:
    """The remaining cost for comparing words."""

    def __init__(self, pairs: int) -> None:
        self._left = pairs

    def covers(self, a: Sequence[str], b: Sequence[str]) -> bool:
        """Spend the cost of comparing the two; return False if too little is left."""
        counts = Counter(b)
        # The matcher skips words that are this frequent.
        limit = len(b) // 100 + 1 if len(b) >= 200 else len(b)
        self._left -= sum(count for word in a if (count := counts[word]) <= limit)
        return self._left >= 0


def compare(old: str, new: str) -> dict[str, Any]:
    """Return the rows of the difference, the numbers of added and removed lines, and what is left out."""
    before, after = _lines(old), _lines(new)
    rows: list[Row | int] = []
    added = removed = 0
    budget = Budget(MAX_WORD_COST)
    for kind, a, b in _blocks(before, after):
        if kind == "same":
            rows += _with_gap(a, is_first=not rows)
            continue
        removed, added = removed + len(a), added + len(b)
        rows += _changed(a, b, budget)
    if rows and (added or removed):
        rows = _without_tail(rows)
    shown, left_out = _cut(rows)
    return {"rows": shown, "added": added, "removed": removed, "left_out": left_out}


def merge(base: str, mine: str, theirs: str) -> str | None:
    """Merge both changes of `base` line by line; None if they conflict."""
    origin, ours, others = base.split("\n"), mine.split("\n"), theirs.split("\n")
    merged: list[str] = []
    at, at_ours, at_others = 0, 0, 0
    for start, start_ours, start_others, size in _in_all(origin, ours, others):
        stretch = _merged(origin[at:start], ours[at_ours:start_ours], others[at_others:start_others])
        if stretch is None:
            return None
        merged += [*stretch, *origin[start : start + size]]
        at, at_ours, at_others = start + size, start_ours + size, start_others + size
    return "\n".join(merged)


def _merged(origin: list[str], ours: list[str], others: list[str]) -> list[str] | None:
    if ours in (origin, others):
        return others
    return ours if others == origin else None


def _in_all(
    origin: Sequence[str], ours: Sequence[str], others: Sequence[str]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the stretches that all three share, and finally the end."""
    in_ours = [block for block in _matches(origin, ours) if block[2]]
    in_others = [block for block in _matches(origin, others) if block[2]]
    i = j = 0
    while i < len(in_ours) and j < len(in_others):
        a, a_ours, a_size = in_ours[i]
        b, b_others, b_size = in_others[j]
        start, end = max(a, b), min(a + a_size, b + b_size)
        if start < end:
            yield start, a_ours + start - a, b_others + start - b, end - start
        if a + a_size < b + b_size:
            i += 1
        else:
            j += 1
    yield len(origin), len(ours), len(others), 0


def _matches(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return the stretches that both share; a common head and tail are found cheaply."""
    head = _same_head(a, b)
    tail = _same_head(a[head:][::-1], b[head:][::-1])
    inner_a, inner_b = a[head : len(a) - tail], b[head : len(b) - tail]
    found = SequenceMatcher(None, inner_a, inner_b).get_matching_blocks()
    return [
        (0, 0, head),
        *((match.a + head, match.b + head, match.size) for match in found),
        (len(a) - tail, len(b) - tail, tail),
    ]


def _same_head(a: Sequence[str], b: Sequence[str]) -> int:
    count = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        count += 1
    return count


def _blocks(
    a: Sequence[str], b: Sequence[str]
) -> Iterator[tuple[Literal["same", "changed"], Sequence[str], Sequence[str]]]:
    at_a = at_b = 0
    for start_a, start_b, size in [*_matches(a, b), (len(a), len(b), 0)]:
        if at_a < start_a or at_b < start_b:
            yield "changed", a[at_a:start_a], b[at_b:start_b]
        if size:
            yield "same", a[start_a : start_a + size], b[start_b : start_b + size]
        at_a, at_b = start_a + size, start_b + size


def _lines(text: str) -> list[str]:
    lines = _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _with_gap(lines: Sequence[str], *, is_first: bool) -> list[Row | int]:
    """Return unchanged lines, with a count in place of a long middle."""
    head = 0 if is_first else CONTEXT_LINES
    if len(lines) <= head + CONTEXT_LINES + 1:
        return [_same(line) for line in lines]
    left_out = len(lines) - head - CONTEXT_LINES
    return [*map(_same, lines[:head]), left_out, *map(_same, lines[-CONTEXT_LINES:])]


def _without_tail(rows: list[Row | int]) -> list[Row | int]:
    """Keep only the first lines after the last change."""
    end = len(rows)
    while end and (isinstance(rows[end - 1], int) or rows[end - 1][0] == "same"):  # type: ignore[index]  # not a number here
        end -= 1
    tail = rows[end:]
    count = sum(row if isinstance(row, int) else 1 for row in tail)
    if count <= CONTEXT_LINES + 1:
        return rows
    return [*rows[:end], *tail[:CONTEXT_LINES], count - CONTEXT_LINES]


def _changed(old: Sequence[str], new: Sequence[str], budget: Budget) -> list[Row | int]:
    rows: list[Row | int] = []
    at = 0
    for line in old:
        place, pieces = (
            _find_alike(line, new, at, budget) if len(old) + len(new) <= MAX_PAIRED else (-1, None)
        )
        if pieces is None:
            rows.append(("removed", [("changed", line)]))
            continue
        rows += [("added", [("changed", other)]) for other in new[at:place]]
        rows += [("removed", pieces[0]), ("added", pieces[1])]
        at = place + 1
    return rows + [("added", [("changed", other)]) for other in new[at:]]


def _find_alike(
    line: str, new: Sequence[str], start: int, budget: Budget
) -> tuple[int, tuple[list[Piece], list[Piece]] | None]:
    for place in range(start, len(new)):
        pieces = _compare_words(line, new[place], budget)
        if pieces is not None:
            return place, pieces
    return -1, None


def _compare_words(old: str, new: str, budget: Budget) -> tuple[list[Piece], list[Piece]] | None:
    """Return the pieces of two lines; None if they have too little in common or cost too much."""
    if not old.strip() or not new.strip():
        return None
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if not budget.covers(before, after):
        return None
    removed: list[Piece] = []
    added: list[Piece] = []
    same = 0
    for kind, a, b in _blocks(before, after):
        if kind == "same":
            text = "".join(a)
            same += len(text)
            removed.append(("same", text))
            added.append(("same", text))
        else:
            removed += [("changed", "".join(a))] if a else []
            added += [("changed", "".join(b))] if b else []
    return (removed, added) if 2 * same >= ALIKE * (len(old) + len(new)) else None


def _same(line: str) -> Row:
    return "same", [("same", line)]


def _cut(rows: list[Row | int]) -> tuple[list[Any], int]:
    """Return the rows that a page can show, and how many changed rows are left out."""
    shown: list[Any] = []
    left = MAX_CHARACTERS
    for number, row in enumerate(rows):
        if len(shown) >= MAX_ROWS or left <= 0:
            return shown, sum(not isinstance(rest, int) and rest[0] != "same" for rest in rows[number:])
        if isinstance(row, int):
            shown.append(["gap", row])
            continue
        pieces: list[Piece] = []
        for kind, text in row[1]:
            for piece in _shortened(kind, text, max(KEPT_OF_SAME, min(left, MAX_LINE_CHARACTERS))):
                pieces.append(piece)
                left -= len(piece[1]) if piece[0] != "gap" else 0
        shown.append([row[0], pieces])
    return shown, 0


def _shortened(kind: str, text: str, room: int) -> list[Piece]:
    """Leave out the middle of unchanged text, and the end of what doesn't fit."""
    if kind == "same" and len(text) > LONG_SAME:
        left_out = len(text) - 2 * KEPT_OF_SAME
        return [("same", text[:KEPT_OF_SAME]), ("gap", str(left_out)), ("same", text[-KEPT_OF_SAME:])]
    shown: Piece = ("same" if kind == "same" else "changed", text[:room])
    return [shown] if len(text) <= room else [shown, ("gap", str(len(text) - room))]


def answer(_: bytes, request: bytes) -> bytes:
    """Answer one request: `{"old", "new"}` or `{"base", "mine", "theirs"}`."""
    asked = json.loads(request)
    said = compare(**asked) if "old" in asked else merge(**asked)
    return json.dumps(said).encode()
