"""Where a document's reference isn't among those selected: looked up by the model, or left to the user."""

from collections.abc import Mapping
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.library.pipeline.batch import Services
from coaching.library.pipeline.direct import read_directly
from coaching.library.pipeline.stages.assemble import UNSEEN
from coaching.model_client.connection import ModelConnection
from coaching.models import DecidedBy, Document, DocumentSource, DocumentState
from coaching.practice import PracticeServer
from coaching.practice.coach.documents import sent_documents, sent_references
from coaching.practice.script import Reply, ToolUse
from tests.library.pipeline.conftest import fresh, upload
from tests.library.pipeline.truth import TruthfulModel

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]

ODD = ("scan.txt", "It is about the thing that we spoke of. Please keep it. 17 B.")


def type_that_is_not_shown(body: Mapping[str, Any]) -> str:
    """Return a type whose reference a request doesn't have."""
    known = ("will", "prescription", "title-register", "school-report", "power-of-attorney", "diploma", "cv")
    return next(each for each in known if each not in sent_references(body))


class Searching(TruthfulModel):
    """It finds the document to be of a type whose reference it wasn't shown, and looks that up if it can."""

    chosen = ""

    def answer(self, body: dict[str, Any]) -> Reply:
        self.chosen = self.chosen or type_that_is_not_shown(body)
        self.types = {document.name: self.chosen for document in sent_documents(body)}
        is_first = len(body["messages"]) == 1
        if is_first and any(tool["name"] == "lookup_reference" for tool in body.get("tools", ())):
            return Reply.of(ToolUse("lookup_reference", {"query": self.chosen}))
        return super().answer(body)


@pytest.fixture
def model() -> TruthfulModel:
    """A model that looks references up."""
    return Searching()


async def read(*documents: Document, is_offered_tools: bool) -> Document:
    """Read a document as `classify` does."""
    models = ModelConnection()
    services = Services(client=models.client, is_offered_tools=is_offered_tools)
    ids = [document.pk for document in documents]
    user_id = documents[0].user_id
    try:
        await read_directly(user_id=user_id, document_ids=ids, services=services, progress=lambda _: None)
    finally:
        await models.close()
    return (await fresh(*documents))[0]


async def test_a_missing_reference_is_looked_up_and_the_document_filed_by_a_second_reading(
    user: User, practice: PracticeServer, model: Searching
) -> None:
    document = await read(*await upload(user, ODD, source=DocumentSource.COMMAND), is_offered_tools=True)
    assert (document.state, document.file_type) == (DocumentState.FILED, model.chosen)
    assert document.decided_by == DecidedBy.CRITIC, "its own words don't suggest that type"
    assert len(practice.requests) == 3
    assert practice.requests[0].body["tools"] == practice.requests[1].body["tools"]


async def test_without_tools_it_goes_to_review(
    user: User, practice: PracticeServer, model: Searching
) -> None:
    document = await read(*await upload(user, ODD, source=DocumentSource.COMMAND), is_offered_tools=False)
    assert (document.state, document.reason) == (DocumentState.REVIEW, UNSEEN)
    assert document.file_type == model.chosen, "as a suggestion"
    assert "tools" not in practice.requests[0].body
