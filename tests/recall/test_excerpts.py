"""Excerpts: the part of a text that answers, at a cost that doesn't grow with the question."""

from time import process_time

import pytest

from coaching.recall.excerpts import excerpt, marked, words_of


def test_an_excerpt_is_where_most_of_the_words_are() -> None:
    text = f"A numbat. {'walking and talking ' * 40} the numbat ate termites {'and so on ' * 40}"
    found = excerpt(text, words_of("What did the numbat eat? termites"), characters=120)
    assert "the numbat ate termites" in found
    assert len(found) <= 120
    assert (found[0], found[-1]) == ("…", "…")


def test_forms_of_the_words_are_marked_and_function_words_are_not() -> None:
    parts = marked("We were visiting the gardens", words_of("were we to visit the garden"))
    assert [part.text for part in parts if part.is_match] == ["visiting", "gardens"]
    assert "".join(part.text for part in parts) == "We were visiting the gardens"


def test_of_a_long_question_the_first_words_count() -> None:
    assert len(words_of(" ".join(f"word{number}" for number in range(500)))) == 32
    assert len(words_of("今" + "日" * 500 + "は母と話しました" * 50)) <= 32


@pytest.mark.slow
def test_thirty_long_passages_cost_little_even_where_every_word_matches() -> None:
    question = words_of(" ".join(f"abcd{number}" for number in range(500)))
    texts = [" ".join(f"abc{number}" for number in range(180)), "a " * 630, "abcd7 " * 210]
    begun = process_time()
    for text in texts * 10:
        marked(excerpt(text, question, characters=320), question)
    assert process_time() - begun < 1.5  # 0.05 on an idle machine; seconds where the cost is quadratic
