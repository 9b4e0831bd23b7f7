"""Differences: correct for every text, bounded for hostile ones."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coaching.sandbox import difference_worker
from coaching.sandbox.differences import Difference, Row, compare, merge
from tests.patience import patience
from tests.thoroughness import examples

short_lines = st.lists(st.sampled_from(["a", "b", "c", "a walk by the river", "a run by the river", ""]))


def said(difference: Difference | None) -> list[str]:
    """Render a difference: a sign, the words, the changed ones in brackets."""
    assert difference is not None
    return [_line(row) for row in difference.rows]


def _line(row: Row) -> str:
    if row.kind == "gap":
        return f"... {row.count}"
    words = {"same": "{}", "changed": "[{}]"}
    text = "".join(
        f"...{piece.count}" if piece.kind == "gap" else words[piece.kind].format(piece.text)
        for piece in row.pieces
    )
    return f"{ {'same': ' ', 'added': '+', 'removed': '-'}[row.kind] }{text}"


def test_a_changed_line_shows_its_changed_words() -> None:
    old = "\n".join([*"abcdefgh", "I go for a walk by the river.", *"ijklmnop"])
    assert said(compare(old, old.replace("walk", "long run"))) == [
        "... 6",
        " g",
        " h",
        "-I go for a [walk] by the river.",
        "+I go for a [long run] by the river.",
        " i",
        " j",
        "... 6",
    ]


def test_added_and_removed_lines_are_shown_with_unchanged_ones() -> None:
    assert said(compare("one\ntwo\nthree\n", "one\nthree\nfour\n")) == [
        " one",
        "-[two]",
        " three",
        "+[four]",
    ]
    nothing = compare("the same\n", "the same")
    assert nothing is not None
    assert nothing.is_none


def test_a_changed_line_and_one_added_before_it_are_distinguished() -> None:
    assert said(compare("Rest on Sunday and read.", "Be kind.\nRest on Monday and read.")) == [
        "+[Be kind.]",
        "-Rest on [Sunday] and read.",
        "+Rest on [Monday] and read.",
    ]


def test_what_nobody_sees_is_shown_by_its_number() -> None:
    assert said(compare("admin", "ad\u202emin\u200b")) == ["-[admin]", "+[ad⟨U+202E⟩min⟨U+200B⟩]"]


@given(short_lines, short_lines)
@settings(max_examples=examples(200), deadline=None)
def test_rows_without_gaps_hold_both_texts(old: list[str], new: list[str]) -> None:
    found = difference_worker.compare("\n".join(old), "\n".join(new))
    rows = found["rows"]
    count = {"removed": 0, "added": 0}
    kept: dict[str, list[str]] = {"removed": [], "added": []}
    for kind, pieces in rows:
        text = "" if kind == "gap" else "".join(piece[1] for piece in pieces)
        for side in ("removed", "added"):
            if kind == "gap":
                count[side] += pieces
            elif kind in ("same", side):
                count[side] += 1
                kept[side].append(text)
    for side, lines in (("removed", old), ("added", new)):
        whole = "\n".join(lines).split("\n")
        whole = whole[:-1] if whole[-1] == "" else whole
        assert count[side] == len(whole)
        rest = iter(whole)
        assert all(line in rest for line in kept[side]), "in their order"


@given(short_lines, short_lines, short_lines)
@settings(max_examples=examples(200), deadline=None)
def test_a_merge_takes_both_sides_or_none(base: list[str], mine: list[str], theirs: list[str]) -> None:
    one, two, three = ("\n".join(lines) for lines in (base, mine, theirs))
    assert difference_worker.merge(one, two, one) == two
    assert difference_worker.merge(one, one, three) == three
    assert difference_worker.merge(one, two, two) == two
    assert difference_worker.merge(one, two, three) == difference_worker.merge(one, three, two)


def test_changes_of_other_places_go_together_and_those_of_one_place_do_not() -> None:
    base = "a\nb\nc\nd\ne"
    assert merge(base=base, mine="A\nb\nc\nd\ne", theirs="a\nb\nc\nd\ne\nf") == "A\nb\nc\nd\ne\nf"
    assert merge(base=base, mine="a\nb\nx\nd\ne", theirs="a\nb\ny\nd\ne") is None


def hostile_pairs() -> dict[str, tuple[str, str]]:
    dice = random.Random(20261122)
    words = [f"w{number}" for number in range(90)]

    def lines(of: int) -> str:
        return "\n".join(str(dice.randrange(of)) for _ in range(40_000))[:100_000]

    def prose(count: int) -> str:
        return " ".join(dice.choices(words, k=count))

    return {
        "one line": ("x" * 100_000, "y" * 100_000),
        "one line of few words": (prose(30_000), prose(30_000)),
        "two long lines": (prose(9_000) + "\n" + prose(9_000), prose(9_000) + "\n" + prose(9_000)),
        "only line ends": ("\n" * 100_000, "\n" * 99_000),
        "two lines in turn": ("a\nb\n" * 25_000, "b\na\n" * 25_000),
        "lines of a hundred": (lines(100), lines(100)),
        "nothing to everything": ("", lines(9)),
    }


@pytest.mark.parametrize(("name", "pair"), hostile_pairs().items())
def test_hostile_texts_are_compared_in_time_or_not_at_all(name: str, pair: tuple[str, str]) -> None:
    began = time.monotonic()
    found = compare(*pair)
    assert time.monotonic() - began < 2 + patience(), name
    if found is None:
        return
    assert not found.is_none
    assert len(found.rows) <= difference_worker.MAX_ROWS
    shown = sum(len(piece.text) for row in found.rows for piece in row.pieces)
    assert shown <= difference_worker.MAX_CHARACTERS + difference_worker.MAX_LINE_CHARACTERS
    changed = sum(row.kind in ("added", "removed") for row in found.rows)
    assert changed + found.left_out == found.added + found.removed


@pytest.mark.slow
def test_a_merge_of_hostile_texts_ends_in_time() -> None:
    base, mine = hostile_pairs()["lines of a hundred"]
    began = time.monotonic()
    merge(base=base, mine=mine, theirs=mine[::-1])
    assert time.monotonic() - began < 2 + patience()
