"""Documents on their way from bytes to a folder, read by jobs."""

import json

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from coaching.context.budget import count_json_tokens
from coaching.library.documents.filing import withhold_document
from coaching.library.documents.reviews import correct_documents
from coaching.library.pipeline.knowledge import COMPACT_SKILL, SKILL
from coaching.models import DecidedBy, DocumentCall, DocumentState, LibraryEffect
from coaching.practice import PracticeServer
from coaching.skills.loader import skill_text
from sessions_app.database import in_database
from sessions_app.models import ModelUsage
from tests.jobs.conftest import WorkOff
from tests.library.pipeline.conftest import LEASE, PAYSLIP, calls_to, fresh, upload

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]


async def test_documents_are_filed_with_their_reasons_in_one_call(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    documents = await upload(user, ("scan 7.txt", PAYSLIP), ("contract.txt", LEASE))
    await work_off()
    payslip, lease = await fresh(*documents)
    assert (payslip.state, payslip.file_type, payslip.folder) == (DocumentState.FILED, "payslip", "Work")
    assert payslip.decided_by == DecidedBy.MODEL
    assert payslip.why
    assert payslip.summary
    assert ("Net pay", "2,712.40") in [(fact["name"], fact["value"]) for fact in payslip.key_facts]
    assert (lease.file_type, lease.folder) == ("lease", "Home")
    kinds = await in_database(lambda: list(LibraryEffect.of(user.pk).values_list("kind", flat=True)))
    assert kinds.count("filed") == 2
    (call,) = calls_to(practice)
    assert len(json.dumps(call.body)) > 4 * 4_096
    (system,) = call.body["system"]
    assert (await in_database(skill_text, SKILL)).strip() in system["text"]
    rows = await in_database(lambda: list(DocumentCall.of(user.pk)))
    assert [(row.state, row.request, row.documents) for row in reversed(rows)] == [
        ("answered", "", [payslip.pk, lease.pk]),
        ("answered", "", [payslip.pk]),
        ("answered", "", [lease.pk]),
    ]
    purposes = await in_database(lambda: list(ModelUsage.of(user.pk).values_list("purpose", flat=True)))
    assert sorted(purposes) == ["classify", "document", "document"]

    await in_database(
        correct_documents,
        user_id=user.pk,
        document_ids=[payslip.pk, lease.pk],
        file_type="letter",
        folder="Kept",
    )
    await in_database(withhold_document, user_id=user.pk, document_id=lease.pk, is_withheld=True)
    await upload(user, ("note.txt", "Dear Ada, this is a note. Yours, Grace"))
    await work_off()
    (first, *_) = calls_to(practice)[-1].body["messages"][0]["content"]
    example = '<correction name="scan 7.txt" was="payslip" is="letter" folder="Kept">\nPAYSLIP for March 2026'
    assert example in first["text"]
    assert "Quay Street" not in first["text"]


async def test_a_small_context_files_documents_with_short_words_and_a_short_form(
    user: User, practice: PracticeServer, work_off: WorkOff, settings: Settings
) -> None:
    settings.SAGE_CONTEXT_TOKENS = 8_192
    documents = await upload(user, ("scan 7.txt", PAYSLIP), ("contract.txt", LEASE))
    await work_off()
    payslip, lease = await fresh(*documents)
    assert [(each.state, each.file_type) for each in (payslip, lease)] == [
        (DocumentState.FILED, "payslip"),
        (DocumentState.FILED, "lease"),
    ]
    assert (lease.folder, bool(payslip.summary)) == ("Home", True)
    assert ("Net pay", "2,712.40") in [(fact["name"], fact["value"]) for fact in payslip.key_facts]
    for call in calls_to(practice):
        text = call.body["system"][0]["text"]
        assert text.startswith((await in_database(skill_text, COMPACT_SKILL)).strip())
        assert count_json_tokens(json.dumps(call.body)) < 4_096
        form = call.body["output_config"]["format"]["schema"]["properties"]["documents"]["items"]
        assert set(form["required"]) == {
            "document", "file_type", "confidence", "tags", "summary", "key_facts",
        }  # fmt: skip
