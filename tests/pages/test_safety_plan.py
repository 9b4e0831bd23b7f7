"""The safety plan's page: shown, edited, removed; and the places that never have it."""

import zipfile
from collections.abc import Iterator
from http import HTTPStatus
from io import BytesIO

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client

from coaching.context.help_lines import help_lines_part
from coaching.files.safety_plans import PLAN_PATH
from coaching.models import FileSource, FileType, Profile, RecallPassage, UserFile
from coaching.recall.search import search
from coaching.safety.plan import PlanSection, make_plan, render_plan
from sessions_app.models import Session
from tests.browsers import page_of, sign_in_confirmed
from tests.conftest import MakeUser
from tests.files.auditor import audit_files
from tests.pages.conftest import Exchange
from tests.pages.file_pages import NOW, Write, hidden_in, typed_in
from tests.pages.test_admin import staff_with

pytestmark = pytest.mark.django_db

PAGE, EDIT, REMOVE = "/safety/plan/", "/safety/plan/edit/", "/safety/plan/remove/"
SAFER = "The pills are with Quillfeather"
PLAN = make_plan(
    {
        PlanSection.WHAT_HELPS: "- Walk to the Zanderweir\n- Call Tom",
        PlanSection.WHOM_TO_CALL: "- Tom, 030 123456",
        PlanSection.SAFER: f"- {SAFER}",
    }
)
DANGER = {"safety": {"level": "immediate", "about": "self", "topic": "life"}}
OTHERS_DANGER = {"safety": {"level": "immediate", "about": "other", "topic": "life"}}


@pytest.fixture
def plan(write: Write) -> str:
    """A plan that Sage has written."""
    return write(render_plan(PLAN), FileType.SAFETY_PLAN)


def send(client: Client, page: str, **changed: str) -> HttpResponse:
    """Send the form of a page, with some fields changed."""
    texts = {section: typed_in(page, section) for section in PlanSection}
    response = client.post(EDIT, {**hidden_in(page), **texts, "do": "save", **changed})
    assert isinstance(response, HttpResponse)
    return response


def stored(user: User) -> list[str]:
    return audit_files(user.pk)[PLAN_PATH]


def test_without_a_plan_the_page_says_what_it_is_and_saves_the_first_one(
    signed_in: Client, user: User, storage: None
) -> None:
    assert "Write it with Sage" in page_of(signed_in, PAGE)
    empty = send(signed_in, page_of(signed_in, EDIT))
    assert empty.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "Write something in at least one section" in empty.content.decode()
    assert not UserFile.of(user.pk).exists()
    saved = send(signed_in, page_of(signed_in, EDIT), what_helps="Tea\r\n## my own heading", places="Park")
    assert (saved.status_code, saved["Location"]) == (HTTPStatus.SEE_OTHER, PAGE)
    page = page_of(signed_in, PAGE)
    assert "Tea" in page
    assert "## my own heading" in page
    assert page.count("Nothing yet") == 5
    assert typed_in(page_of(signed_in, EDIT), "what_helps") == "Tea\n## my own heading"
    (text,) = stored(user)
    assert "type: safety-plan" in text
    assert "## Places and people\n\nPark" in text


def test_an_edit_keeps_the_rest_and_a_field_that_was_not_sent(
    signed_in: Client, user: User, plan: str
) -> None:
    assert "tel:030123456" in page_of(signed_in, PAGE)
    page = page_of(signed_in, EDIT)
    only = signed_in.post(EDIT, {**hidden_in(page), "what_matters": "The cat"})
    assert only.status_code == HTTPStatus.SEE_OTHER
    assert SAFER in stored(user)[-1]
    assert "The cat" in stored(user)[-1]
    refused = signed_in.post(EDIT, hidden_in(page))
    assert "the form was incomplete" in refused.content.decode()
    assert len(stored(user)) == 2


def test_a_change_that_was_made_meanwhile_is_merged_by_section_and_asked_about(
    signed_in: Client, user: User, plan: str, write: Write
) -> None:
    page = page_of(signed_in, EDIT)
    theirs = make_plan({**PLAN.texts, PlanSection.PLACES: "Library", PlanSection.WHOM_TO_CALL: "- Ana"})
    write(render_plan(theirs), FileType.SAFETY_PLAN)
    conflict = send(signed_in, page, what_matters="The cat", whom_to_call="- Tom, 030 999999")
    shown = conflict.content.decode()
    assert conflict.status_code == HTTPStatus.CONFLICT
    assert "Sage changed the plan" in shown
    assert typed_in(shown, "places") == "Library"
    assert typed_in(shown, "what_matters") == "The cat"
    assert typed_in(shown, "whom_to_call") == "- Tom, 030 999999"
    assert "- Ana</p>" in shown
    assert len(stored(user)) == 2, "nothing is saved yet"
    assert send(signed_in, shown).status_code == HTTPStatus.SEE_OTHER
    newest = stored(user)[-1]
    assert all(words in newest for words in ("Library", "The cat", "030 999999", SAFER))
    assert len(stored(user)) == 3


def test_the_other_text_may_be_kept_and_mine_is_a_version(
    signed_in: Client, user: User, plan: str, write: Write
) -> None:
    page = page_of(signed_in, EDIT)
    write(render_plan(make_plan({PlanSection.WHAT_HELPS: "Theirs"})), FileType.SAFETY_PLAN)
    shown = send(signed_in, page, what_helps="Mine").content.decode()
    assert send(signed_in, shown, do="aside").status_code == HTTPStatus.SEE_OTHER
    texts = stored(user)
    assert "Theirs" in texts[-1]
    assert "Mine" in texts[-2]


def test_what_is_written_while_the_plan_is_removed_is_not_lost(
    signed_in: Client, user: User, plan: str
) -> None:
    page = page_of(signed_in, EDIT)
    gone = signed_in.post(REMOVE)
    assert gone.status_code == HTTPStatus.SEE_OTHER
    offered = page_of(signed_in, gone["Location"])
    assert "was removed" in offered
    shown = send(signed_in, page, what_helps="Mine")
    assert shown.status_code == HTTPStatus.CONFLICT
    assert send(signed_in, shown.content.decode()).status_code == HTTPStatus.SEE_OTHER
    assert "Mine" in page_of(signed_in, PAGE)
    assert signed_in.post(REMOVE).status_code == HTTPStatus.SEE_OTHER
    assert signed_in.post(REMOVE).status_code == HTTPStatus.NOT_FOUND


def test_the_file_opens_as_the_plan_and_its_editor_is_the_plan_s(
    signed_in: Client, plan: str, write: Write
) -> None:
    assert signed_in.get(plan)["Location"] == PAGE
    assert signed_in.get(f"{plan}/edit/")["Location"] == EDIT
    old = page_of(signed_in, f"{plan}?version=1")
    assert SAFER in old
    assert "Safety plan" in page_of(signed_in, "/files/")
    signed_in.cookies["django_language"] = "de"
    german = signed_in.get(f"{plan}?version=1", headers={"accept-language": "de"}).content.decode()
    assert "Was mir hilft" in german


def test_it_is_stored_nowhere_else_on_the_device(signed_in: Client, plan: str) -> None:
    for address in (PAGE, EDIT):
        response = signed_in.get(address)
        assert response["Cache-Control"] == "private, no-store"
        assert "file-editor" not in response.content.decode(), "it keeps drafts on the device"


def test_no_list_search_or_operator_has_it(
    signed_in: Client, user: User, make_user: MakeUser, plan: str, session: Session, exchange: Exchange
) -> None:
    UserFile.of(user.pk).update(frontmatter={"preview_line": "Walk to the Zanderweir"})
    call = {
        "id": "toolu_1",
        "name": "save_file",
        "input": {"file_type": "safety-plan", "content": render_plan(PLAN)},
        "result": '{"success":true,"path":"sage/safety-plan.md"}',
        "is_error": False,
        "round": 1,
    }
    read = {**call, "id": "toolu_2", "name": "read_file", "input": {"path": PLAN_PATH}, "result": SAFER}
    turn = exchange("What next?", "Saved.")
    turn.messages.filter(role="assistant").update(
        metadata={"round_ends": [6], "notes": [], "tool_calls": [call, read]}
    )
    for address in (
        "/files/",
        "/files/?q=Zanderweir",
        "/search/?q=Zanderweir",
        "/search/?q=Quillfeather",
        "/",
    ):
        page = page_of(signed_in, address).replace('value="Zanderweir"', "")
        assert "Walk to" not in page, address
        assert SAFER not in page, address
    operator = staff_with(make_user, "view_session", "view_userfile", "read_message_text")
    listed = page_of(operator, "/admin/coaching/userfile/")
    assert "safety-plan.md" not in listed
    file = UserFile.of(user.pk).get()
    assert operator.get(f"/admin/coaching/userfile/{file.pk}/words/").status_code == HTTPStatus.NOT_FOUND
    assert operator.get(f"/admin/coaching/userfile/{file.pk}/change/").status_code == HTTPStatus.FOUND
    words = page_of(operator, f"/admin/sessions_app/session/{session.id}/words/")
    assert "save_file" in words
    assert SAFER not in words


def test_recall_indexes_neither_the_plan_nor_the_call_that_wrote_it_nor_a_restored_one(
    user: User, plan: str, session: Session, exchange: Exchange, signed_in: Client, write: Write
) -> None:
    call = {
        "id": "toolu_1",
        "name": "save_file",
        "input": {"file_type": "safety-plan", "content": render_plan(PLAN)},
        "result": "{}",
        "is_error": False,
        "round": 1,
    }
    exchange(
        "Zanderweir is where I walk.",
        "Good.",
        metadata={"round_ends": [5], "notes": [], "tool_calls": [call]},
    )
    removed = signed_in.post(REMOVE)["Location"].rpartition("=")[2]
    assert signed_in.post(f"/files/deleted/{removed}/").status_code == HTTPStatus.SEE_OTHER
    write("The Zanderweir on a page of the map", FileType.DOMAIN)
    sources = set(RecallPassage.of(user.pk).values_list("source", flat=True))
    assert sources == {"message", "file"}
    assert RecallPassage.of(user.pk).filter(source="file").count() == 1, "only the page of the map"
    found = search("Zanderweir Quillfeather", user_id=user.pk, now=NOW)
    assert {hit.source for hit in found} == {"message", "file"}


@pytest.mark.django_db(transaction=True)
def test_the_person_s_own_downloads_have_it(client: Client, user: User, plan: str) -> None:
    sign_in_confirmed(client, user)
    for method, address in (("get", "/files/all.zip"), ("post", "/settings/export/")):
        response = getattr(client, method)(address)
        assert isinstance(response, StreamingHttpResponse)
        with zipfile.ZipFile(BytesIO(async_to_sync(_all_of)(response))) as archive:
            names = [name for name in archive.namelist() if name.endswith(PLAN_PATH)]
            assert SAFER in archive.read(names[0]).decode()


async def _all_of(response: StreamingHttpResponse) -> bytes:
    data = b"".join([piece async for piece in response])
    response.close()
    return data


def cards_of(page: str) -> Iterator[str]:
    return (part.partition("</section>")[0] for part in page.split('<section class="safety-card')[1:])


@pytest.mark.parametrize(("metadata", "has_plan"), [(DANGER, True), (OTHERS_DANGER, False)])
def test_a_card_for_their_own_danger_has_what_helps_and_whom_to_call(
    signed_in: Client,
    plan: str,
    session: Session,
    exchange: Exchange,
    metadata: dict[str, object],
    has_plan: bool,
) -> None:
    turn = exchange("I can't go on.", "I'm here.")
    turn.messages.filter(role="user").update(metadata=metadata)
    (card,) = cards_of(page_of(signed_in, f"/chat/{session.id}/"))
    assert ("Walk to the Zanderweir" in card) is has_plan
    assert ("tel:030123456" in card) is has_plan
    assert ('<details class="card-plan">' in card) is has_plan, "closed"
    assert SAFER not in card
    assert "Making it safer" not in card


@pytest.mark.parametrize(("metadata", "is_told"), [(DANGER, True), (OTHERS_DANGER, False)])
def test_sage_is_told_of_the_plan_with_the_danger_and_never_of_its_text(
    user: User, plan: str, exchange: Exchange, metadata: dict[str, object], is_told: bool
) -> None:
    message = exchange("I can't go on.", None).messages.get()
    message.metadata = metadata
    part = help_lines_part(message, newest=message, profile=Profile(user=user, timezone="Europe/Berlin"))
    assert (PLAN_PATH in part.text) is is_told
    assert "Zanderweir" not in part.text
    UserFile.of(user.pk).all().delete()
    again = help_lines_part(message, newest=message, profile=Profile(user=user, timezone="Europe/Berlin"))
    assert PLAN_PATH not in again.text


def test_a_card_for_a_capture_has_it_too(signed_in: Client, plan: str) -> None:
    response = signed_in.post("/capture/", {"text": "I want to kill myself tonight", "id": "1"}, follow=True)
    (card,) = cards_of(response.content.decode())
    assert "Walk to the Zanderweir" in card
    assert card.index("card-plan") > card.index("call-now-number" if "call-now-number" in card else "alert")


def test_a_plan_with_nothing_for_the_card_is_not_on_it(
    signed_in: Client, write: Write, session: Session, exchange: Exchange
) -> None:
    write(render_plan(make_plan({PlanSection.SAFER: SAFER})), FileType.SAFETY_PLAN, source=FileSource.USER)
    exchange("I can't go on.", "I'm here.").messages.filter(role="user").update(metadata=DANGER)
    (card,) = cards_of(page_of(signed_in, f"/chat/{session.id}/"))
    assert "Your safety plan" not in card
