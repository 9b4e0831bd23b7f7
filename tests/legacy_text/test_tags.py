"""Tags of old blocks are found whole, in pieces, and outside fenced code only."""

import time
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coaching.legacy_text.blocks import (
    TagFilter,
    excerpt_without_tags,
    strip_block_tags,
    without_block_tags,
)
from coaching.legacy_text.parser import parse_blocks
from coaching.sandbox.markdown_worker import render
from tests.legacy_text.replies import RAW_TAG, REPLIES
from tests.legacy_text.shown import words_of_page
from tests.thoroughness import sample_of_day


@given(REPLIES)
def test_a_stripped_text_has_no_tag_and_stays_as_it_is(text: str) -> None:
    stripped = strip_block_tags(text)
    assert not RAW_TAG.search(stripped)
    assert strip_block_tags(stripped) == stripped


@given(REPLIES)
def test_a_shown_text_stays_as_it_is_and_has_tags_in_fenced_code_only(text: str) -> None:
    shown = without_block_tags(text)
    assert without_block_tags(shown) == shown
    assert not RAW_TAG.search(words_of_page(render(shown), with_code=False))


@given(REPLIES, st.lists(st.integers(1, 40), max_size=60))
def test_a_text_in_pieces_shows_the_same_and_never_a_tag(text: str, sizes: Sequence[int]) -> None:
    tags = TagFilter()
    shown, at = "", 0
    for size in [*sizes, len(text)]:
        shown += tags.feed(text[at : at + size])
        assert without_block_tags(shown) == shown, "no piece shows the beginning of a tag that goes later"
        at += size
    assert shown + tags.close() == without_block_tags(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Done.\n\n[SESSION_COMPLETE]", "Done.\n\n"),
        ("a[ENTER_MODE: x]b", "a b"),
        ("a [ENTER_MODE: x] b", "a b"),
        ("[ENTER_MODE: open_day] Good morning", "Good morning"),
        ("```\n[SESSION_COMPLETE]\n```\n[SESSION_COMPLETE]", "```\n[SESSION_COMPLETE]\n```\n"),
        ("  ~~~ text\n[SESSION_COMPLETE]\n~~~", "  ~~~ text\n[SESSION_COMPLETE]\n~~~"),
        ("````\n```\n[SESSION_COMPLETE]\n````", "````\n```\n[SESSION_COMPLETE]\n````"),
        ("```\n[SESSION_COMPLETE]", "```\n[SESSION_COMPLETE]"),
        ("``` a [SESSION_COMPLETE] ```", "``` a ```"),
        ("    ```\n[SESSION_COMPLETE]\n", "    ```\n\n"),
        ("- a\n  ```\n[SESSION_COMPLETE]", "- a\n  ```\n"),
        ("[SESSION_COMPLETE]```\n[ENTER_MODE: x]\n```", "```\n[ENTER_MODE: x]\n```"),
        ("`[SESSION_COMPLETE]`", "` `"),
        ("Cut [FILE_UPD", "Cut "),
        ("a [**ENTER\\_MODE: x**] b", "a b"),
        ("Cut [FILE", "Cut [FILE"),
        ("a [FILE_ b", "a [FILE_ b"),
        ("[a](https://b.example) and [FILES_UPDATED] [SESSION_COMPLETED]",) * 2,
    ],
)  # fmt: skip
def test_a_reader_sees_tags_in_fenced_code_only(text: str, shown: str) -> None:
    assert without_block_tags(text) == shown


UNITS = (
    "[", "[/", "x\n", "[FILE_UPDATE ", '[FILE_UPDATE a="', '[FILE_UPDATE a="]x', "[FILE_UPDATE a", "```[",
    "```\n[ENTER_MODE]\n", "[ENTER_MODE: open_day]", "[ \n", "[SUGGESTED_REPLIES]", "[/FILE_UPDATE]",
    "[SUGGESTED_REPLIES]a\nb[/SUGGESTED_REPLIES]",
    '[FILE_UPDATE type="capture"]a[SUGGESTED_REPLIES][/FILE_UPDATE]',
    '[DAY_PLAN_DATA]{"a": [1]}[/DAY_PLAN_DATA]', "[session_complete] a\n",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("read", [strip_block_tags, without_block_tags, parse_blocks])
@pytest.mark.parametrize("unit", sample_of_day(UNITS, of_each=4))
def test_time_grows_with_the_length(read: Callable[[str], object], unit: str) -> None:
    # Eight times the length: a quadratic reader takes 64 times as long.
    short, long = (
        min(_seconds(read, unit * (size // len(unit))) for _ in range(2)) for size in (20_000, 160_000)
    )
    assert long < 0.05 or long / max(short, 1e-4) < 32


@pytest.mark.slow
@pytest.mark.parametrize("read", [strip_block_tags, without_block_tags, parse_blocks])
@pytest.mark.parametrize("inside", ["x", "a\nb"])
def test_deep_nesting_takes_no_longer(read: Callable[[str], object], inside: str) -> None:
    def nested(depth: int) -> str:
        return "[SUGGESTED_REPLIES]" * depth + inside + "[/SUGGESTED_REPLIES]" * depth

    short, long = (min(_seconds(read, nested(depth)) for _ in range(2)) for depth in (500, 4_000))
    assert long < 0.05 or long / max(short, 1e-4) < 32


def test_a_megabyte_is_read_whole() -> None:
    words = "It went well. " * 36_000
    text = f'{words}[FILE_UPDATE type="overview"]\nAll of it.\n[/FILE_UPDATE]\n{words}[SESSION_COMPLETE]'
    reply = parse_blocks(text)
    assert [call.name for call in reply.calls] == ["save_file", "complete_session"]
    assert reply.text == f"{words.strip()}\n\n{words.strip()}"


@pytest.mark.slow
def test_one_character_at_a_time_takes_no_longer_than_the_length() -> None:
    def feed_all(text: str) -> None:
        tags = TagFilter()
        for character in text:
            tags.feed(character)
        tags.close()

    for unit in ("[", "[FILE_UPDATE ", "[ ", "[SESSION_COMPLETE"):
        short, long = (_seconds(feed_all, unit * (size // len(unit))) for size in (4_000, 32_000))
        assert long < 0.2 or long / max(short, 1e-3) < 32, unit


def _seconds(read: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    read(text)
    return time.process_time() - began


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ('me="career"]\nIt is', "\nIt is"),
        ('type="domain" name="Career / Work"] It is', "It is"),
        ("FILE_UPDATE type='domain']\nIt is", "\nIt is"),
        ("It is [FILE_UPDATE type=", "It is "),
        ("a name=b and [1] it", "a name=b and [1] it"),
    ],
)
def test_a_part_of_a_text_has_no_part_of_a_tag(part: str, shown: str) -> None:
    assert excerpt_without_tags(part) == shown
