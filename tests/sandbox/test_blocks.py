"""Markdown is cut into blocks, and the cut never changes what was finished before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coaching.sandbox import markdown
from coaching.sandbox.blocks import MAX_COLUMNS, Block, BlockSplitter, split_blocks, split_unfinished
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
        *("a | b", ":-- | -", "- | -", "| 1 |", "a \\| b | c", "|-|", "| --- |", "1 | 2 | 3"),
        *("**bold", "<b>", "a\r", "\x1e", "-", "1)"),
        *("\\[", "\\]", "$$", "\\[x = 1\\]", "x \\] more"),
    ]
)
TEXTS = st.lists(LINES, max_size=14).map("\n".join)
TABLE = "| Day | Hours |\n|:---:|------:|\n| Mon | 2 |\n| Tue \\| Wed | **3** | more |\nThu"


def texts_of(blocks: list[Block]) -> list[str]:
    return [block.text for block in blocks]


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
    assert all(texts_of(split_blocks(block.text)) == [block.text] for block in blocks)
    assert "".join("".join(texts_of(blocks)).split()) == "".join(text.split())


@given(TEXTS)
def test_a_snapshot_has_the_blocks_that_are_finished_and_the_rest(text: str) -> None:
    splitter = BlockSplitter()
    assert split_unfinished(text) == (splitter.feed(text), splitter.rest)


@given(TEXTS)
def test_a_table_is_cut_where_the_parser_sees_one(text: str) -> None:
    for block in split_blocks(text):
        above, *below = block.text.split("\n")
        is_paragraph = not any("<" + tag in render(block.text) for tag in ("li", "blockquote", "pre"))
        if above.lstrip().startswith(("\\[", "$$")) and "formula-block" not in render(block.text):
            continue  # what only begins like a formula
        if is_paragraph and "<table>" in render(block.text):
            assert len(below) == 1, "a head and the line below it"
            assert render(block.text).count("<tr>") == 1, above


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("One\ntwo\n\nthree", ["One\ntwo", "three"]),
        ("# Head\nwords", ["# Head", "words"]),
        ("words\n- one\n- two\n  more\n\n  two\n\nend", ["words", "- one", "- two\n  more\n\n  two", "end"]),
        ("words\n2024. was long", ["words\n2024. was long"]),
        ("Title\n---\nwords", ["Title\n---", "words"]),
        ("```\na\n\n# b\n```\nwords", ["```\na\n\n# b\n```", "words"]),
        ("above\n| a |\n|---|\n| 1 |\n\nwords", ["above", "| a |\n|---|", "| 1 |", "words"]),
        ("> a\nlazy\n\nwords", ["> a\nlazy", "words"]),
        ("words\n\\[\n- a\n\\]\n- b", ["words", "\\[\n- a\n\\]", "- b"]),
        ("$$\n# a\n\n# b", ["$$\n# a", "# b"]),
    ],
)  # fmt: skip
def test_blocks_are_what_markdown_calls_so(text: str, blocks: list[str]) -> None:
    assert texts_of(split_blocks(text)) == blocks


@pytest.mark.parametrize(
    ("text", "is_finished"),
    [
        ("- one\n- t", True),
        ("- one\n-", False),
        ("- one\n  - d", False),
        ("1. one\n2. ", True),
        ("words\n- t", True),
        ("words\n- ", False),
        ("words\n2. t", False),
        ("words\n## ", True),
        ("> quiet\n> still", False),
        ("> quiet\n# ", True),
    ],
)
def test_a_block_is_finished_as_soon_as_the_next_line_is_surely_another(text: str, is_finished: bool) -> None:
    splitter = BlockSplitter()
    found = [block for character in text for block in splitter.feed(character)]
    assert texts_of(found) == ([text.split("\n", maxsplit=1)[0]] if is_finished else [])


def blocks_of(text: str) -> str:
    return markdown.render_blocks(split_blocks(text))


@pytest.mark.slow
def test_the_items_of_a_list_become_one_list_again() -> None:
    items = "1. one\n2. two\n   - deep\n\n3. three"
    assert blocks_of(items).count("<ol>") == 1
    assert blocks_of("- a\n- b") == render("- a\n- b")
    assert render_blocks(["- a", "words", "- b"]).count("<ul>") == 2


@pytest.mark.slow
def test_the_rows_of_a_table_become_one_table_again() -> None:
    assert len(split_blocks(TABLE)) == 4
    assert blocks_of(TABLE) == render(TABLE)
    assert blocks_of(f"{TABLE}\n\n{TABLE}\n\n- one") == render(TABLE) * 2 + render("- one")
    assert blocks_of("a|b\n-|-\n") == render("a|b\n-|-\n")


@pytest.mark.slow
def test_rows_that_follow_a_table_come_as_a_table_without_a_head() -> None:
    _, *rows = split_blocks(TABLE)
    assert markdown.render_blocks(rows[:1]) == (
        "<table>\n<tbody>\n<tr>\n"
        '<td class="align-center">Mon</td>\n<td class="align-right">2</td>\n</tr>\n</tbody>\n</table>\n'
    )


def test_a_table_with_very_many_columns_is_one_block() -> None:
    wide = "\n".join(["|a" * (MAX_COLUMNS + 1), "|-" * (MAX_COLUMNS + 1), "|b"])
    assert texts_of(split_blocks(wide)) == [wide]
    assert blocks_of(wide) == render(wide)


@pytest.mark.slow
def test_a_reply_is_rendered_by_block_and_a_file_as_a_whole() -> None:
    text = "See [here][x].\n\n[x]: https://example.org\n"
    assert '<a href="/leave/?to=https://example.org:' in render_markdown(text)
    assert "<a" not in render_replies([text])[text]
    marked = "one\x1etwo\n"
    assert "onetwo" not in (shown := render_replies([marked])[marked])
    assert shown == render_markdown(marked) == "<p>one two</p>\n"
