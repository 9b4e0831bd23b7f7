"""What of a document isn't in its text: its page says so, and so does what models get with its text."""

import json
from functools import partial
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.test import Client

from coaching.context.attached import document_parts
from coaching.context.late_findings import classification_text
from coaching.context.library import NOTHING, with_attached
from coaching.context.opening import Statement
from coaching.library.documents.filing import withhold_document
from coaching.library.documents.findings import begin_finding, finding_values
from coaching.library.documents.intake import destination_of, take_in
from coaching.library.extractors.content_types import WRONG_NAME
from coaching.library.extractors.office import ROWS_READ
from coaching.library.rows.documents import document_with_text
from coaching.models import Document
from coaching.practice import PracticeServer
from coaching.practice.coach.analysis import analyse, is_analysis
from sessions_app.database import in_database
from sessions_app.history import DOCUMENTS_KEY
from sessions_app.models import Message
from tests.jobs.conftest import WorkOff
from tests.library.extractors.hostile_office import repeated
from tests.library.pipeline.truth import TruthfulModel

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]

SAID = f"{WRONG_NAME} an OpenDocument spreadsheet. {ROWS_READ}"
GERMAN = (
    "Der Name lässt einen anderen Dateityp erwarten. Dem Inhalt nach ist es: eine OpenDocument-Tabelle. "
    "Sage hat von jedem Tabellenblatt nur die ersten 20.000 Zeilen gelesen."
)


async def cut_sheet(user: User, work_off: WorkOff) -> Document:
    """Read a sheet of more rows than are read, named as if it were another type."""
    destination = await in_database(lambda: destination_of(user_id=user.pk))
    data = repeated(rows="1000000", columns="1", text="The rent is paid.")
    sheet = await in_database(take_in, user_id=user.pk, name="rents.xlsx", data=data, destination=destination)
    await work_off()
    return await in_database(document_with_text, user_id=user.pk, document_id=sheet.pk)


def told(document: Document) -> str:
    """Return what a conversation is told of an attached document."""
    message = Message(role="user", metadata={DOCUMENTS_KEY: [document.pk]})
    facts = with_attached(NOTHING, [document])
    (part,) = document_parts(facts, [message], Statement(), tokens=1_000)
    return part.text


async def test_a_cut_sheet_says_so_on_its_page_in_the_reader_s_language(
    user: User, practice: PracticeServer, work_off: WorkOff, client: Client
) -> None:
    sheet = await cut_sheet(user, work_off)
    address = f"/library/documents/{sheet.pk}/"
    await in_database(client.force_login, user)
    for language, sentence in (("en", SAID), ("de", GERMAN)):
        page = await in_database(client.get, address, headers={"accept-language": language})
        assert page.status_code == HTTPStatus.OK
        assert f"<p>{sentence}</p>" in page.content.decode()
    answer = await in_database(client.get, address, headers={"accept": "application/json"})
    assert answer.json()["readingNote"] == SAID


def requests_with_note(practice: PracticeServer) -> int:
    bodies = [json.dumps(request.body, ensure_ascii=False) for request in practice.requests]
    return sum(f'note=\\"{SAID}\\"' in body for body in bodies)


async def test_models_are_told_with_the_text_of_a_cut_sheet(
    user: User, practice: PracticeServer, work_off: WorkOff, model: TruthfulModel
) -> None:
    model.script = lambda body: analyse(body) if is_analysis(body) else None
    sheet = await cut_sheet(user, work_off)
    classified = requests_with_note(practice)
    assert classified
    assert f"\n{SAID}\n" in await in_database(told, sheet)
    assert json.loads(classification_text(sheet))["reading_note"] == SAID

    summary = partial(begin_finding, user_id=user.pk, document_id=sheet.pk, kind="summary", session_id=None)
    await in_database(summary)
    await work_off()
    assert requests_with_note(practice) > classified
    found, _ = await in_database(summary)
    assert finding_values(found)["reading_note"] == SAID

    await in_database(withhold_document, user_id=user.pk, document_id=sheet.pk, is_withheld=True)
    withheld = await in_database(document_with_text, user_id=user.pk, document_id=sheet.pk)
    assert ROWS_READ not in await in_database(told, withheld)
