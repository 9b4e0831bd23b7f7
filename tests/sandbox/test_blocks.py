"""Markdown is cut into blocks, and the cut never changes what was finished before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coaching.sandbox.blocks import BlockSplitter, split_blocks, split_unfinished
from coaching.sandbox.markdown import render_markdown, render_replies
from coaching.sandbox.markdown_worker import render, render_blocks

LINES = st.sampled_from(
    [
        *(
            "",
            "  ",
            "words",
            "more words",
            "# Head",
            "###",
            "---",
            "***",
            "===",
            "- one",
            "* two",
            "- [ ] task",
        ),
        *("1. first", "2. second", "2024. a year", "  indented", "    code", "\ttab", "> quote", ">", "```"),
        *("```python", "~~~", "````", "| a | b |", "|---|--:|", "| 1 | 2 |", "[x]: https://example.org"),
        *("**bold", "<b>", "a\r", "\x1e", "-", "1)"),
    ]
)
TEXTS = st.lists(LINES, max_size=14).map("\n".join)


@given(TEXTS, st.data())
def test_what_is_finished_stays_finished_whatever_follows(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    splitter = BlockSplitter()
    begun = splitter.feed(text[:cut])
    assert split_blocks(text)[: len(begun)] == begun
    assert [*begun, *splitter.feed(text[cut:]), *splitter.finish()] == split_blocks(text)


@given(TEXTS)
def test_a_text_in_single_characters_is_cut_like_the_whole(text: str) -> None:
    splitter = BlockSplitter()
    pieces = [block for character in text for block in splitter.feed(character)]
    assert [*pieces, *splitter.finish()] == split_blocks(text)


@given(TEXTS)
def test_a_block_is_one_block_and_no_word_is_lost(text: str) -> None:
    blocks = split_blocks(text)
    assert all(split_blocks(block) == [block] for block in blocks)
    assert "".join("".join(blocks).split()) == "".join(text.split())


@given(TEXTS)
def test_the_finished_blocks_of_a_text_are_found_again_in_their_text(text: str) -> None:
    splitter = BlockSplitter()
    finished = splitter.feed(text)
    joined, rest = split_unfinished(text)
    assert split_blocks(joined) == finished
    assert rest == splitter.rest


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("One\ntwo\n\nthree", ["One\ntwo", "three"]),
        ("# Head\nwords", ["# Head", "words"]),
        ("words\n- one\n- two\n  more\n\n  two\n\nend", ["words", "- one", "- two\n  more\n\n  two", "end"]),
        ("words\n2024. was long", ["words\n2024. was long"]),
        ("Title\n---\nwords", ["Title\n---", "words"]),
        ("```\na\n\n# b\n```\nwords", ["```\na\n\n# b\n```", "words"]),
        ("| a |\n|---|\n| 1 |\n\nwords", ["| a |\n|---|\n| 1 |", "words"]),
        ("> a\nlazy\n\nwords", ["> a\nlazy", "words"]),
    ],
)  # fmt: skip
def test_blocks_are_what_markdown_calls_so(text: str, blocks: list[str]) -> None:
    assert split_blocks(text) == blocks


def test_the_items_of_a_list_become_one_list_again() -> None:
    items = "1. one\n2. two\n   - deep\n\n3. three"
    assert render_blocks(split_blocks(items)).count("<ol>") == 1
    assert render_blocks(split_blocks("- a\n- b")) == render("- a\n- b")
    assert render_blocks(["- a", "words", "- b"]).count("<ul>") == 2


def test_a_reply_is_rendered_by_block_and_a_file_as_a_whole() -> None:
    text = "See [here][x].\n\n[x]: https://example.org\n"
    assert '<a href="https://example.org"' in render_markdown(text)
    assert "<a" not in render_replies([text])[text]
    marked = "one\x1etwo\n"
    assert "onetwo" not in (shown := render_replies([marked])[marked])
    assert shown == render_markdown(marked) == "<p>one two</p>\n"
