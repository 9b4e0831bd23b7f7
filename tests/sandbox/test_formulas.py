r"""Formulas stay as their authors wrote them, and neither prices nor escaped brackets become formulas."""

import re
from html import unescape

import pytest

from coaching.sandbox.blocks import split_blocks
from coaching.sandbox.markdown_worker import render, render_blocks

FORMULA = re.compile(r'<span class="(formula|formula-block)">([^<]*)</span>')


def formulas_in(text: str) -> list[tuple[str, str]]:
    """Return the class and the source of each formula, the same as a whole and by block."""
    whole, by_block = (
        [(name, unescape(source)) for name, source in FORMULA.findall(markup)]
        for markup in (render(text), render_blocks([block.text for block in split_blocks(text)]))
    )
    assert whole == by_block
    return whole


@pytest.mark.parametrize(
    "source",
    [
        r"\(x\)",
        r"\(a + b\)",
        r"\(a_1 * b_1 * c\)",
        r"\(x < y & z\)",
        r"\(`x`\)",
        r"\(speed = 3\)",
        r"\[x_1 = \frac{*a*}{b}\]",
        r"\[a + b = c\]",
        "\\[\nx = 1\n\\]",
        "$$E = mc^2$$",
        "$$ E = mc^2 $$",
        "$$\n\\text{speed} = 3\n$$",
        r"\(" + "x+" * 100_000 + r"\)",
    ],
)
def test_a_formula_keeps_every_character(source: str) -> None:
    name = "formula" if source.startswith(r"\(") else "formula-block"
    assert formulas_in(source) == [(name, source)]
    if "\n" not in source and source != "$$ E = mc^2 $$":
        assert formulas_in(f"It is {source}, she said.") == [(name, source)]


@pytest.mark.parametrize("mark", ["- y", "+ y", "> y", "# y", "1. y", "===", "---", "|a|\n|-|"])
@pytest.mark.parametrize(("opening", "ending"), [(r"\[", r"\]"), ("$$", "$$")])
def test_lines_of_a_formula_are_neither_items_nor_headings(mark: str, opening: str, ending: str) -> None:
    source = f"{opening}\nx = 1\n{mark}\n{ending}"
    for text in (
        source,
        f"words\n{source}\nwords",
        f"- an item\n{source}\n\n> quoted\n{source}",
        f"| a |\n|---|\n{source}",
    ):
        assert set(formulas_in(text)) == {("formula-block", source)}, text


def test_escaped_brackets_with_lines_for_themselves_need_less_of_a_formula() -> None:
    source = r"\[x_1 = y\]"
    assert formulas_in(f"So:\n{source}\nas said") == [("formula-block", source)]
    assert formulas_in(f"So {source} as said") == []


def test_formulas_stand_wherever_words_do() -> None:
    text = "# \\(a\\)\n\n- \\(b\\)\n  \\[\n  c = d\n  \\]\n\n> **\\(e\\)**\n\n| \\(f\\) |\n|---|\n| \\(g\\) |"
    assert [source for _, source in formulas_in(text)] == [
        r"\(a\)", r"\(b\)", "\\[\nc = d\n\\]", r"\(e\)", r"\(f\)", r"\(g\)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5, or $10 with tax: $5 + $5 = $10.",
        "$5 = 5$",
        "The first is $$, the second $$$.",
        "$ cheap, $$ = moderate, $$$ = dear",
        "Rated $$ = moderate by some, and $$ by others",
        "$$ = moderate, as they say $$",
        "$$$x = 1$$$",
        "US$$5 = 4$$ or so",
        "$$5 = 4$$5",
        "from $$200 to $$300_000",
        "$$100$$",
        "$$\nmoderate = two\n$$",
        r"\[draft\] a title \[v2\]",
        r"\[ \] to do",
        r"set \[foo_bar\] to \[x=1\]",
        r"\[2024_report\](report.pdf) and \[not = a link\](x)",
        r"\(see below, as said\)",
        r"\\(x\\)",
        r"`\(x\)`",
        "```\n\\[\nx = 1\n\\]\n```",
        "    \\[\n    x = 1\n    \\]",
        r"\(x = 1",
        "\\[\nx = 1\n\nwords\n\\]",
        r"\(\)",
        "$$$$",
    ],
)
def test_prices_and_escaped_brackets_are_no_formulas(text: str) -> None:
    assert formulas_in(text) == []


def test_what_only_begins_like_a_formula_is_ordinary_text() -> None:
    assert render("\\[\n- one\n- two") == "<p>[</p>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n"
    assert "<p>Prices:<br>\n$ cheap<br>\n$$ moderate<br>\n$$$ dear</p>" in render(
        "Prices:\n$ cheap\n$$ moderate\n$$$ dear"
    )
    assert render("[see \\(](https://example.org) and \\(y\\)").count("formula") == 1


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (r"see \(x\) here", "see (x) here<bdi> (example.org)</bdi>"),
        (r"link \[x_1\]", "link [x_1]<bdi> (example.org)</bdi>"),
        (r"![a \(x\)](https://example.org/y)", "a (x)<bdi> (example.org)</bdi>"),
        (r"see \(\text{bank.example}\)", "<bdi>example.org</bdi>"),
        (r"see \(bank.example\)", "<bdi>example.org</bdi>"),
        (r"$$bank.example=1$$", "<bdi>example.org</bdi>"),
    ],
)
def test_in_a_link_that_leaves_a_formula_is_words_like_any_others(words: str, shown: str) -> None:
    link = render(f"[{words}](https://example.org)").replace(' class="link-host"', "")
    assert f">{shown}</a>" in link


def test_a_link_to_a_file_of_ones_own_and_a_pictures_words_keep_their_formulas() -> None:
    assert formulas_in(r"[see \(x\)](/files/notes/a.md)") == [("formula", r"\(x\)")]
    assert render(r"![a \(x\) b](https://example.org/y)") == "<p>a (x) b</p>\n"


def test_a_formula_has_no_markup_of_its_own() -> None:
    assert formulas_in(r"\(<b onclick=x>\)") == [("formula", r"\(<b onclick=x>\)")]
    assert "<b" not in render(r"\(<b onclick=x>\)")
    assert render('<span class="formula">x</span>') == '<p>&lt;span class="formula"&gt;x&lt;/span&gt;</p>\n'
