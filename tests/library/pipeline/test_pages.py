"""What a model wrote down of pages that are pictures, joined with the pages that have text."""

import json

from coaching.library.pipeline.pages import MAX_PAGE_CHARACTERS, pages_of, read_pages, with_pages


def said(*pages: tuple[object, object]) -> str:
    return json.dumps({"pages": [{"page": page, "text": text} for page, text in pages]})


def test_only_pages_that_were_sent_count_and_the_first_text_of_each() -> None:
    answer = said((2, "Rent: 1,450"), (7, "never sent"), (2, "Rent: 9,999"), (3, " \t "))
    assert read_pages(answer, [2, 3, 4]) == {2: "Rent: 1,450", 3: ""}


def test_nothing_in_a_text_ends_its_page_or_stops_the_database() -> None:
    (text,) = read_pages(said((1, "one\ftwo\x00\x1b[2J\ud800three")), [1]).values()
    assert text == "one\ntwo[2J\ufffdthree"
    (text,) = read_pages(said((1, "x" * 3 * MAX_PAGE_CHARACTERS)), [1]).values()
    assert len(text) == MAX_PAGE_CHARACTERS


def test_an_answer_that_is_none_has_no_pages() -> None:
    answers = ["", "[]", "The page says hello.", '{"pages": [{"page": "one"}]}', "[" * 100_000]
    assert [read_pages(answer, [1]) for answer in answers] == [{}] * len(answers)


def test_what_was_read_stands_in_its_page_below_a_stamp() -> None:
    pages = pages_of("The lease\fRECEIVED\fThe end", ())
    assert with_pages(pages, {2: "Rent: 1,450", 5: "Annex"}) == {
        1: "The lease",
        2: "RECEIVED\n\nRent: 1,450",
        3: "The end",
        5: "Annex",
    }
    assert with_pages(pages, {2: "RECEIVED on 3 May"})[2] == "RECEIVED on 3 May"


def test_the_numbers_of_a_long_document_s_pages_are_those_that_were_read() -> None:
    assert pages_of("first\flast", [1, 300]) == {1: "first", 300: "last"}
    assert pages_of(" ", ()) == {}
