"""Reasons: stored in English, and shown in the language that is active."""

from django.utils.translation import override

from coaching.library.documents.reasons import (
    DUPLICATE,
    SIMILAR,
    join_reasons,
    reason_for_models,
    shown_reason,
)


def test_each_sentence_of_a_stored_reason_is_shown_in_the_language_that_is_active() -> None:
    stored = join_reasons(["Enter a valid value.", "", "lease.pdf."])
    assert shown_reason(stored) == "Enter a valid value. lease.pdf."
    with override("de"):
        assert shown_reason(stored) == "Bitte einen gültigen Wert eingeben. lease.pdf."
        assert shown_reason("") == ""


def test_models_get_no_names_of_other_documents_with_a_reason() -> None:
    stored = join_reasons([SIMILAR, "diagnosis.pdf.", "Two types are close."])
    assert reason_for_models(stored) == (
        "Its text is almost the same as that of another document. Two types are close."
    )
    assert (
        reason_for_models(join_reasons([DUPLICATE, "diagnosis.pdf."]))
        == "This file is already in the library."
    )
    assert reason_for_models("Not sure.") == "Not sure."
    assert reason_for_models("") == ""
