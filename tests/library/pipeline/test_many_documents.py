"""Many documents of all types, read by a worker's jobs with a model that knows what they are."""

from collections import Counter
from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from coaching.context.budget import count_tokens
from coaching.engine.request_size import IMAGE_TOKENS
from coaching.library.documents.intake import destination_of, take_in
from coaching.library.extractors.content_types import IMAGES, NAMES, RECORDINGS
from coaching.library.pipeline.claims import MAX_DOCUMENTS
from coaching.library.pipeline.requests import CALL_TOKENS
from coaching.library.pipeline.stages.assemble import UNSEEN
from coaching.library.pipeline.stages.read_pictures import NO_SIGHT
from coaching.library.references.current import current_references
from coaching.models import (
    UNFINISHED_STATES,
    Client,
    Document,
    DocumentState,
    EffectKind,
    LibraryEffect,
    Project,
)
from coaching.practice import PracticeServer
from coaching.practice.coach.documents import sent_documents
from sessions_app.database import in_database
from tests.jobs.conftest import WorkOff
from tests.library.pipeline.conftest import calls_to
from tests.library.pipeline.many import BROKEN, DUPLICATES, Made, images, make_many
from tests.library.pipeline.truth import TruthfulModel
from tests.thoroughness import size

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]

COUNT = size(112, long=300)
RARE_EACH = size(4, long=10)


def take_all(user: User, made: Sequence[Made]) -> None:
    """Take everything in for a company's project."""
    client = Client.of(user.pk).create(name="Harbour Ltd", client_type="company")
    project = Project.of(user.pk).create(client=client, name="Quay Street")
    destination = destination_of(user_id=user.pk, client_id=client.pk, project_id=project.pk)
    for one in made:
        take_in(user_id=user.pk, name=one.name, data=one.data, destination=destination)


async def test_many_documents_end_once_where_the_rules_say(
    user: User, practice: PracticeServer, work_off: WorkOff, model: TruthfulModel
) -> None:
    made = make_many(COUNT, rare_each=RARE_EACH)
    model.types = {one.name: one.file_type for one in made}
    await in_database(take_all, user, made)
    await work_off()
    documents = {row.name: row for row in await in_database(lambda: list(Document.of(user.pk)))}
    assert len(documents) == COUNT
    states = Counter(row.state for row in documents.values())
    assert not set(states) & set(UNFINISHED_STATES)
    assert (states[DocumentState.DUPLICATE], states[DocumentState.FAILED]) == (DUPLICATES, BROKEN)
    assert states[DocumentState.FILED] >= 0.9 * (COUNT - DUPLICATES - BROKEN)
    for row in documents.values():
        if row.state == DocumentState.REVIEW:
            assert row.reason == UNSEEN or row.similar_to_id, row.reason

    table = (await in_database(current_references)).placement
    for one in made:
        row = documents[one.name]
        if row.state != DocumentState.FILED:
            continue
        rule = table.place(file_type=one.file_type, category="", client_type="company", has_project=True)
        assert (row.file_type, row.folder, row.level) == (one.file_type, rule.folder, rule.level)
    kinds = {row.content_type for row in documents.values() if row.state != DocumentState.FAILED}
    assert kinds - {""} == set(NAMES) - RECORDINGS, "the content types of all that were read"
    filings = LibraryEffect.of(user.pk).filter(kind=EffectKind.FILED)
    assert await in_database(filings.count) == states[DocumentState.FILED]
    check_calls(practice, documents_sent=COUNT - DUPLICATES - BROKEN)


async def test_images_wait_for_review_where_no_model_can_look_at_them(
    user: User, practice: PracticeServer, work_off: WorkOff, settings: Settings
) -> None:
    settings.IS_PRACTICE_MODEL = True
    made = images()
    await in_database(take_all, user, made)
    await work_off()
    documents = await in_database(lambda: list(Document.of(user.pk)))
    assert {row.content_type for row in documents} == IMAGES
    assert [(row.state, row.reason) for row in documents] == [("review", NO_SIGHT)] * len(made)
    assert not practice.requests


def check_calls(practice: PracticeServer, *, documents_sent: int) -> None:
    """Check that no call was too large, none was made twice, and that the system prompt was cached."""
    calls = calls_to(practice)
    asked = [
        (bool(call.body.get("tools")), [each.id for each in sent_documents(call.body)]) for call in calls
    ]
    sent = [ids for is_first, ids in asked if is_first]
    again = [each for is_first, ids in asked if not is_first for each in ids]
    assert max(map(len, sent)) <= MAX_DOCUMENTS
    assert sum(map(len, sent)) == len({each for ids in sent for each in ids}) == documents_sent
    assert len(again) == len(set(again)) <= 0.02 * documents_sent, "read twice: other words than its type’s"
    for call in calls:
        content = call.body["messages"][0]["content"]
        texts = [block["text"] for block in content if block["type"] == "text"]
        images = IMAGE_TOKENS * (len(content) - len(texts))
        assert sum(map(count_tokens, texts)) + images <= CALL_TOKENS * 1.05
    system = count_tokens(calls[0].body["system"][0]["text"])
    assert system >= 4_096
    read = sum(call.usage["cache_read_input_tokens"] for call in calls[1:])
    assert read >= 0.9 * system * (len(calls) - 1)
