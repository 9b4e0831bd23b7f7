"""A hundred documents, and an answer with planted wrong values, quotes, pages and document numbers."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from coaching.library.evidence import Source
from coaching.library.pipeline.answers import read_answer
from coaching.library.references.text import Vocabulary
from coaching.library.values import stands_in

DOCUMENTS = 100
NOTHING = Vocabulary(file_types=("lease",), categories=(), folders=(), tags=())


def text_of(number: int) -> str:
    """Return a document of three pages, with a rent on the second that no other document has."""
    rent = f"The yearly rent is EUR {number + 21},{number + 300}.50 here."
    return f"Lease {number}\f{rent}\fSigned by Ann {number}."


def planted(number: int) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield facts, and whether the document has them."""
    rent, other = (f"EUR {each + 21},{each + 300}.50" for each in (number, (number + 1) % DOCUMENTS))
    quote = f"The yearly rent is {rent} here."
    yield {"name": "Rent", "value": rent, "quote": quote, "page": 3}, True
    yield {"name": "Rent", "value": f"{number + 21}.{number + 300},50 €", "quote": quote, "page": 1}, True
    yield {"name": "Rent", "value": "EUR 5,000,000", "quote": "e", "page": 1}, False
    yield {"name": "Rent", "value": rent, "quote": "", "page": 2}, False
    yield {"name": "Rent", "value": "EUR 5,000,000", "quote": quote, "page": 2}, False
    yield {"name": "Rent", "value": f"USD {rent[4:]}", "quote": quote, "page": 2}, False
    yield {"name": "Rent", "value": rent[:-1], "quote": quote[:-7], "page": 2}, False
    yield {"name": "Rent", "value": other, "quote": f"The yearly rent is {other} here.", "page": 2}, False
    yield {"name": "Page", "value": "2", "quote": "[page 2] The yearly rent", "page": 2}, False
    yield {"name": "Signed", "value": "Ann", "quote": "Signed by Eve", "page": 3}, False


def test_of_what_is_planted_in_a_hundred_documents_nothing_wrong_is_kept() -> None:
    rows = [
        {
            "document": number + 1,
            "file_type": "lease",
            "confidence": 1,
            "key_facts": [f for f, _ in planted(number)],
        }
        for number in range(DOCUMENTS)
    ]
    sources = [Source(text_of(number), pages_read=[2, 5, 9]) for number in range(DOCUMENTS)]
    verdicts = read_answer(json.dumps({"documents": rows}), sources, NOTHING)
    for number, verdict in enumerate(verdicts):
        assert verdict
        true = [fact["value"] for fact, is_true in planted(number) if is_true]
        assert [fact["value"] for fact in verdict.key_facts] == true
        assert verdict.dropped_facts == 8
        for fact in verdict.key_facts:
            assert fact["quote"] in text_of(number).split("\f")[1]
            assert fact["page"] == 5


def test_facts_of_swapped_documents_are_dropped() -> None:
    rows = [
        {
            "document": (number + 1) % DOCUMENTS + 1,
            "file_type": "lease",
            "confidence": 1,
            "key_facts": [fact for fact, is_true in planted(number) if is_true],
        }
        for number in range(DOCUMENTS)
    ]
    sources = [Source(text_of(number)) for number in range(DOCUMENTS)]
    verdicts = read_answer(json.dumps({"documents": rows}), sources, NOTHING)
    assert [verdict.key_facts if verdict else None for verdict in verdicts] == [[]] * DOCUMENTS


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("EUR 1,234.56", "Total 1.234,56 €"),
        ("1 234,56 EUR", "sum € 1,234.56 due"),
        ("2027-03-03", "due on 3 March 2027."),
        ("EUR 5 million", "EUR 5m price"),
        ("-500", "Balance -500"),
        ("John Smith", "Mr john  SMITH said"),
        ("03/04/2027", "on 03/04/2027 we"),
    ],
)
def test_a_value_stands_in_a_sentence_by_its_meaning(value: str, sentence: str) -> None:
    assert stands_in(value, sentence)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("EUR 5", "EUR 5 million"),
        ("EUR 5", "EUR 5 000 000"),
        ("500", "-500 left"),
        ("€500", "-€500 left"),
        ("$500", "EUR 500"),
        ("USD 500", "EUR 500 USD 700"),
        ("04/03/2027", "03/04/2027"),
        ("2027-04-03", "03/04/2027"),
        ("3 March 2027", "3 March 2026"),
        ("12", "1234"),
        ("1.5", "15"),
        ("EUR 1,234.56", "1,234.56"),
        ("", "nothing"),
    ],
)
def test_another_value_does_not(value: str, sentence: str) -> None:
    assert not stands_in(value, sentence)
