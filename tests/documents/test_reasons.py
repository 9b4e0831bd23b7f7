"""Reasons: stored in English, and shown in the language that is active."""

from django.utils.translation import override

from coaching.documents.reasons import join_reasons, shown_reason


def test_each_sentence_of_a_stored_reason_is_shown_in_the_language_that_is_active() -> None:
    stored = join_reasons(["Enter a valid value.", "", "lease.pdf."])
    assert shown_reason(stored) == "Enter a valid value. lease.pdf."
    with override("de"):
        assert shown_reason(stored) == "Bitte einen gültigen Wert eingeben. lease.pdf."
        assert shown_reason("") == ""
