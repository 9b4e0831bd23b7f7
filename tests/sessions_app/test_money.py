"""Amounts of money in the languages of the pages."""

import pytest
from django.utils.translation import override

from sessions_app.money import dollars, small_dollars


@pytest.mark.parametrize(("code", "amounts"), [("en", ("1,234.57", "0.01")), ("de", ("1.234,57", "0,01"))])
def test_an_amount_is_written_as_its_language_does(code: str, amounts: tuple[str, str]) -> None:
    with override(code):
        shown = dollars(1_234_567_890), dollars(5)
    for amount, words in zip(amounts, shown, strict=True):
        assert amount in words
        assert "$" in words


def test_what_costs_little_never_costs_nothing() -> None:
    assert dollars(5) == "under $0.01"
    assert small_dollars(5) == "under $0.0001"
    assert dollars(None) == small_dollars(None) == "not known"
