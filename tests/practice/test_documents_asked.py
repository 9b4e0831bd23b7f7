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


def test_the_answer_names_the_document_with_a_link_that_a_page_shows() -> None:
    hit = {
        "title": "lease.pdf",
        "link": "/library/documents/7/",
        "page": 2,
        "text": "The rent is 900. The term ends on 31 March 2031.",
    }
    values = {"hits": [hit]}
    call = Call(
        name="search_knowledge_bank",
        input={"query": "When does the term of my lease end?"},
        text=orjson.dumps(values).decode(),
        is_error=False,
        values=values,
        position=1,
        is_fresh=True,
    )
    told = say_what_was_found(call)
    assert "[lease.pdf](/library/documents/7/), page 2" in told
    assert "The term ends on 31 March 2031." in told
    html = render(told)
    assert '<a href="/library/documents/7/"' in html
