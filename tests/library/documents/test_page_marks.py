"""Where a quote stands among the words of a page or of a text."""

import time
import unicodedata

import pytest

from coaching.library.documents.page_marks import Mark, Marks, marked, marks_of
from tests.patience import is_quick

FIRST = [("The", 100), ("rent", 200), ("is", 300), ("1.200", 400), ("€", 500), ("a", 600), ("month,", 700)]
SECOND = [("payable", 100), ("in", 200), ("ad-", 300)]
THIRD = [("vance.", 100), ("Ünpaid", 200), ("rent", 300), ("bears", 400), ("interest.", 500)]
WORDS = [
    [text, left, top, left + 80, top + 50]
    for top, line in ((1_000, FIRST), (1_100, SECOND), (1_200, THIRD))
    for text, left in line
]


MARGIN = 25
"""Around the words of a mark, up to the page's edge."""


def places(quote: str) -> list[tuple[int, int, int, int]]:
    """Return the marks without their margins."""
    return [
        (mark.left + MARGIN, mark.top + MARGIN, mark.width - 2 * MARGIN, mark.height - 2 * MARGIN)
        for mark in marks_of(WORDS, quote).lines
    ]


def test_a_quote_over_two_lines_has_a_rectangle_on_each_and_a_divided_word_is_one() -> None:
    assert places("a month, payable in advance.") == [
        (600, 1_000, 180, 50),
        (100, 1_100, 280, 50),
        (100, 1_200, 80, 50),
    ]


@pytest.mark.parametrize(
    "quote", ["Unpaid", "U\u0308npaid rent bears interest", "  ünpaid   RENT bears “interest” "]
)
def test_case_signs_and_the_way_that_accents_are_encoded_may_differ(quote: str) -> None:
    found = places(quote.replace("Unpaid", "Ünpaid"))
    assert found[0][:2] == (200, 1_200)


def test_the_sign_of_a_currency_at_the_end_is_marked_too() -> None:
    assert places("rent is 1.200 €") == [(200, 1_000, 380, 50)]
    assert places("rent is 1.200") == [(200, 1_000, 280, 50)]


def test_of_a_sentence_that_goes_on_on_the_next_page_its_beginning_is_marked() -> None:
    quote = "rent bears interest. It is due by May"
    assert places(quote) == [(300, 1_200, 280, 50)]
    assert not marks_of(WORDS, quote).is_whole
    assert marks_of(WORDS, "rent bears interest.").is_whole
    numbered = [*WORDS, ["Page", 100, 9_000, 180, 9_050], ["7", 200, 9_000, 210, 9_050]]
    assert marks_of(numbered, quote).lines == marks_of(WORDS, quote).lines


@pytest.mark.parametrize(
    "quote",
    [
        "The rent is 1.200 € a week, not a month",  # another sentence begins like this
        "rent bears interest. It is due on the first day of the next quarter",  # less than half of it
    ],
)
def test_a_sentence_of_which_little_is_there_or_not_at_the_end_of_the_page_is_not_marked(quote: str) -> None:
    assert marks_of([*WORDS, *WORDS[7:], ["End", 0, 0, 9, 9]], quote) == Marks()


@pytest.mark.parametrize("quote", ["", "   ", "… – !", "The deposit is 900", "The rose"])
def test_a_quote_that_is_not_there_has_no_mark(quote: str) -> None:
    assert places(quote) == []


def test_a_match_that_begins_with_a_word_goes_before_one_inside_of_a_word() -> None:
    words = [
        ["Currently", 0, 0, 9, 9],
        ["paid", 10, 0, 19, 9],
        ["rently", 50, 0, 59, 9],
        ["paid", 60, 0, 69, 9],
    ]
    assert [mark.left + MARGIN for mark in marks_of(words, "rently paid").lines] == [50]


def test_words_in_two_columns_are_not_marked_as_one_line() -> None:
    words = [["to", 0, 90, 30, 110], ["let", 40, 90, 70, 110]]
    words += [["until", 800, 95, 850, 115], ["May", 860, 95, 900, 115]]
    assert marks_of(words, "to let until May").lines == [
        Mark(left=0, top=65, width=70 + MARGIN, height=70),
        Mark(left=775, top=70, width=150, height=70),
    ]


def test_a_word_outside_of_what_is_visible_has_no_rectangle() -> None:
    assert marks_of([["invisible", 10_000, 10_000, 10_000, 10_000]], "invisible").lines == []


def test_a_text_is_divided_around_its_quote() -> None:
    text = "Dear Ada,\nthe rent\nis 1.200 € a month.\nYours"
    found = marked(text, "The rent is 1.200 € a month")
    assert (found.before, found.mark) == ("Dear Ada,\n", "the rent\nis 1.200 € a month")
    assert found.before + found.mark + found.after == text
    assert marked(text, "The deposit is 5").before == text


def test_in_a_text_with_accents_as_signs_of_their_own_a_quote_is_found() -> None:
    text = unicodedata.normalize("NFD", "Für die Ünterkünfte zahlt Zoë 900 €. Schöne Grüße")
    found = marked(text, "Für die Ünterkünfte zahlt Zoë 900 €")
    assert found.mark == "Für die Ünterkünfte zahlt Zoë 900 €"
    assert marked(text, unicodedata.normalize("NFD", "Schöne Grüße")).mark == "Schöne Grüße"


def test_the_worst_quotes_and_texts_take_little_time() -> None:
    began = time.process_time()
    marked("ab" * 1_000_000, "ba" * 500)
    marked("a b " * 500_000, "a b " * 2_000 + "c")
    assert is_quick(time.process_time() - began, 5)
