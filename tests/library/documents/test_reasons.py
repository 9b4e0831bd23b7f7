"""Reasons: stored in English, and shown in the language that is active."""

from django.utils.translation import override

from coaching.library.documents.reasons import (
    DUPLICATE,
    PROPOSED,
    SIMILAR,
    TWO_TYPES,
    UNSURE,
    join_reasons,
    proposed_words,
    reason_for_models,
    shown_reason,
)


def test_each_sentence_of_a_stored_reason_is_shown_in_the_language_that_is_active() -> None:
    stored = join_reasons(["Enter a valid value.", "", "lease.pdf."])
    assert shown_reason(stored) == "Enter a valid value. lease.pdf."
    with override("de"):
        assert shown_reason(stored) == "Bitte einen gültigen Wert eingeben. lease.pdf."
        assert shown_reason("") == ""


def test_what_follows_a_sentence_is_shown_in_words() -> None:
    stored = join_reasons(
        [UNSURE, "60%.", TWO_TYPES, "tenancy-agreement.", PROPOSED, "Enter a valid value.", SIMILAR, "Done."]
    )
    assert shown_reason(stored) == (
        "Sage isn’t sure about the type. Confidence: 60%. It could also be another type: Tenancy agreement. "
        "Sage suggests something that isn’t on its lists yet: Enter a valid value. "
        "Its text is almost the same as that of: Done."
    )
    with override("de"):
        assert " 60\N{NO-BREAK SPACE}%. " in shown_reason(stored)
        assert " Enter a valid value. " in shown_reason(stored), "a name isn't translated"


def test_what_a_model_suggested_is_shown_without_hyphens() -> None:
    proposal = {"file_type": "gym-contract", "folder": "Non-profit", "tags": ["home-gym", ""]}
    assert proposed_words(proposal) == ["gym contract", "Non-profit", "home gym"]
    assert proposed_words({}) == []


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
