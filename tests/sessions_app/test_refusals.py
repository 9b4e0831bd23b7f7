"""Refusals: English for models and logs, in the language that is active for pages."""

import pytest
from django.utils.translation import override

from sessions_app.errors import Refused
from sessions_app.text import MAX_MESSAGE_CHARACTERS, check_message_text


def test_a_refusal_is_shown_in_the_language_that_is_active() -> None:
    refusal = Refused("Enter a valid value.")
    with override("de"):
        assert refusal.shown() == "Bitte einen gültigen Wert eingeben."
        assert str(refusal) == "Enter a valid value."


def test_a_refusal_puts_its_values_into_the_translated_sentence() -> None:
    refusal = Refused("Ensure this value is less than or equal to %(limit_value)s.", limit_value=10_000)
    with override("de"):
        assert refusal.shown() == "Dieser Wert muss kleiner oder gleich 10.000 sein."
        assert str(refusal) == "Ensure this value is less than or equal to 10,000."


def test_a_sentence_without_values_keeps_its_percent_signs() -> None:
    refusal = Refused("Sage is only 60% sure.")
    with override("de"):
        assert refusal.shown() == str(refusal) == "Sage is only 60% sure."


def test_a_refusal_rounds_its_values_to_one_decimal() -> None:
    refusal = Refused("Ensure this value is less than or equal to %(limit_value)s.", limit_value=1234.56)
    with override("de"):
        assert refusal.shown() == "Dieser Wert muss kleiner oder gleich 1.234,6 sein."
        assert str(refusal) == "Ensure this value is less than or equal to 1,234.6."


def test_a_forms_line_break_counts_as_one_character_of_a_message_as_on_the_page() -> None:
    words = "x" * (MAX_MESSAGE_CHARACTERS - 60)
    assert check_message_text(words + "\r\n" * 60) == words + "\n" * 60
    with pytest.raises(Refused, match="20,001 characters"):
        check_message_text(words + "\r\n" * 61)
