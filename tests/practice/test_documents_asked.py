"""The tour answers a question from the person's documents, with a link."""

import orjson
import pytest

from coaching.practice.coach.conversation import Call
from coaching.practice.coach.library import asks_of_documents, say_what_was_found
from coaching.sandbox.markdown_worker import render


@pytest.mark.parametrize(
    "words", ["When does my lease end?", "How much is the deposit?", "what does our insurance cover"]
)
def test_a_question_about_a_document_is_heard(words: str) -> None:
    assert asks_of_documents(words)


@pytest.mark.parametrize("words", ["When did I last sleep well?", "My lease is fine", "What can you do?"])
def test_other_words_are_not(words: str) -> None:
    assert not asks_of_documents(words)


def found(question: str, *texts: str) -> Call:
    hit = {"title": "lease.pdf", "link": "/library/documents/7/"}
    values = {"hits": [hit | {"page": page, "text": text} for page, text in enumerate(texts, start=2)]}
    return Call(
        name="search_knowledge_bank",
        input={"query": question},
        text=orjson.dumps(values).decode(),
        is_error=False,
        values=values,
        position=1,
        is_fresh=True,
    )


def test_the_answer_names_the_document_with_a_link_that_a_page_shows() -> None:
    text = "The rent is 900. The term ends on 31 March 2031."
    told = say_what_was_found(found("When does the term of my lease end?", text))
    assert "[lease.pdf](/library/documents/7/), page 2" in told
    assert "The term ends on 31 March 2031." in told
    html = render(told)
    assert '<a href="/library/documents/7/"' in html


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("When does my lease end?", "The term is ten years, ending on 30 April 2036."),
        ("Until when do the terms of our lease run?", "The term is ten years, ending on 30 April 2036."),
        ("What is insured by our lease?", "Insurance of the building is paid by the landlord."),
        ("How much is the deposit?", "Deposits of 4,000 are held by the agent."),
        ("What does our lease say?", "This lease is made on 1 May 2026."),
    ],
)
def test_the_sentence_that_shares_most_words_is_quoted(question: str, sentence: str) -> None:
    text = (
        "The least of it is energy. A lease binds. This lease is made on 1 May 2026."
        " Deposits of 4,000 are held by the agent. The term is ten years, ending on 30 April 2036."
        " Insurance of the building is paid by the landlord."
    )
    assert f"“{sentence}”" in say_what_was_found(found(question, text))


def test_the_sentence_may_be_on_another_page_of_the_document_that_was_found_first() -> None:
    first = "COMMERCIAL LEASE\nThis lease is made on 1 May 2026."
    told = say_what_was_found(
        found("When does my lease end?", first, "The term is ten years, ending in 2036.")
    )
    assert told == "[lease.pdf](/library/documents/7/), page 3 says: “The term is ten years, ending in 2036.”"
