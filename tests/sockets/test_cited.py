"""Citations on a real socket: links only where they hold, the same in stream, reload and export."""

import json
from collections.abc import Sequence
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from coaching.library.references.files import sync_reference_files
from coaching.models import Document, DocumentSource, DocumentText, SessionScope
from coaching.people.profile_changes import offer_library
from coaching.personal_data.transcript import write_transcript
from coaching.practice.script import Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from coaching.tools.results import document_link
from coaching.turns import cited
from coaching.turns.citations import Citation
from coaching.turns.cited import CitedTexts
from sessions_app.database import in_database
from sessions_app.models import Message, MessageRole, Session, ToolCallRecord, ToolCallState, Turn, TurnStatus
from tests.browsers import browser_of, conversation_page, page_of
from tests.library.rows import make_client, make_document, make_project
from tests.live_sage import LiveSage, open_socket, text_of
from tests.sockets.questions import ask

pytestmark = pytest.mark.django_db(transaction=True)

UTC = ZoneInfo("UTC")
TEXT = "Commercial lease\fThe yearly rent is EUR 24,000 and is paid monthly.\fSigned by Ada."


def library_of(user: User) -> Document:
    offer_library(user.pk)
    return make_document(make_client(user), text=TEXT, summary="A lease of a shop, with its yearly rent.")


async def test_what_holds_is_a_link_in_stream_reload_and_export_and_nothing_else(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    document = await in_database(library_of, user)
    page = f"/library/documents/{document.pk}/#page"
    answer = (
        f"It says “the yearly rent is EUR 24,000” ([Lease, page 2]({page}-2)).\n\n"
        f"- Wrong words: “the yearly rent is EUR 25,000” ([Lease, page 2]({page}-2)).\n"
        f"- Wrong page: “the yearly rent is EUR 24,000” ([Lease, page 3]({page}-3)).\n"
        f"- No such page: [Lease, page 9]({page}-9).\n"
        f"- Another document: [Will](/library/documents/{document.pk + 1}/)."
    )
    shown = (
        f"It says “the yearly rent is EUR 24,000” ([Lease, page 2]({page}-2)).\n\n"
        "- Wrong words: “the yearly rent is EUR 25,000” (Lease, page 2).\n"
        "- Wrong page: “the yearly rent is EUR 24,000” (Lease, page 3).\n"
        "- No such page: Lease, page 9.\n"
        "- Another document: Will."
    )
    practice.script([Reply.of(ToolUse("search_knowledge_bank", {"query": "yearly rent"})), answer])
    async with open_socket(live_sage, session.id, cookie) as client:
        assert text_of(await ask(client, "What is my rent?")) == shown
    stored = await in_database(Message.unscoped.get, session=session, role=MessageRole.ASSISTANT)
    assert stored.content == shown
    reloaded = await in_database(conversation_page, user, session)
    assert reloaded.count(f'href="{page}-2"') == 1
    assert f'href="{page}-3"' not in reloaded
    assert f'href="{page}-9"' not in reloaded
    exported = await in_database(lambda: "".join(write_transcript(session, zone=UTC)))
    assert shown in exported


def checked(user: User, session: Session, *citations: Citation) -> Sequence[bool]:
    return CitedTexts(user_id=user.pk, session_id=session.id).held(citations)


async def test_a_document_that_the_conversation_has_not_read_is_not_cited(
    session: Session, user: User, other_user: User
) -> None:
    unread, theirs = await in_database(lambda: [library_of(each) for each in (user, other_user)])
    attached = await in_database(
        lambda: make_document(make_client(user), text="Hi", session=session, source=DocumentSource.CHAT)
    )
    ids = (unread.pk, theirs.pk, attached.pk)
    held = await in_database(checked, user, session, *(Citation(document_id=each) for each in ids))
    assert held == [False, False, True]
    await in_database(Document.of(user.pk).filter(id=attached.pk).update, is_withheld=True)
    assert await in_database(checked, user, session, Citation(document_id=attached.pk)) == [False]


@pytest.mark.parametrize(
    ("page", "quote", "is_held"),
    [
        (2, "The yearly rent … is paid monthly", True),
        (2, "the yearly rent is EUR 24,000 and is pai…", True),
        (2, "The yearly rent … is paid weekly", False),
        (2, "The yearly rent is … not … paid monthly", False),
        (2, "is paid monthly … the yearly rent", False),
        (2, "the yearly rent is EUR 24,000 and is pax…", False),
        (2, "the yearly rent is EUR 24…", False),
        (2, "… the yearly rent [...] monthly.", True),
        (None, "Signed by Ada.", True),
        (None, "Signed by Eve, who is not Ada", False),
        (3, "Signed by Ada", True),
        (1, "Signed by Ada", False),
        (4, "", False),
    ],
)
def test_a_quote_stands_on_the_cited_page(
    session: Session, user: User, page: int | None, quote: str, is_held: bool
) -> None:
    document = make_document(make_client(user), text=TEXT, session=session)
    cited = Citation(document_id=document.pk, page=page, quotes=(quote,) if quote else ())
    assert checked(user, session, cited) == [is_held]


@pytest.mark.parametrize(
    ("name", "is_read"),
    [("summarize_document", True), ("check_duplicate", False), ("refile_document", False)],
)
def test_what_only_says_where_a_document_is_has_not_read_it(
    session: Session, user: User, name: str, is_read: bool
) -> None:
    document = library_of(user)
    turn = Turn.unscoped.create(session=session, status=TurnStatus.COMPLETED, ended_at=timezone.now())
    ToolCallRecord.unscoped.create(
        turn=turn, round_number=1, position=0, tool_use_id="toolu_1", name=name,
        input={"document_id": document.pk}, result=json.dumps({"link": document_link(document.pk)}),
        state=ToolCallState.ANSWERED, finished_at=timezone.now(),
    )  # fmt: skip
    assert checked(user, session, Citation(document_id=document.pk)) == [is_read]


def test_a_text_is_loaded_once_a_turn_and_few_are_kept(
    session: Session, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make_client(user)
    first, second = (make_document(client, text=f"{TEXT} {n}", session=session) for n in range(2))
    texts = CitedTexts(user_id=user.pk, session_id=session.id)

    def loads(document: Document, quote: str = "The yearly rent is EUR 24,000") -> int:
        cited_there = Citation(document_id=document.pk, page=2, quotes=(quote,))
        with CaptureQueriesContext(connection) as made:
            assert texts.held([cited_there]) == [True]
        return sum('FROM "coaching_documenttext"' in each["sql"] for each in made)

    assert [loads(each) for each in (first, first, second, first)] == [1, 0, 1, 0]
    monkeypatch.setattr(cited, "MAX_KEPT", len(TEXT) + 10)
    texts = CitedTexts(user_id=user.pk, session_id=session.id)
    assert [loads(each) for each in (first, first, second, first)] == [1, 0, 1, 1]
    Document.of(user.pk).filter(id=first.pk).update(is_withheld=True)
    assert texts.held([Citation(document_id=first.pk)]) == [False], "also of a text that is kept"


def test_a_text_that_is_read_during_the_turn_is_found(session: Session, user: User) -> None:
    document = make_document(make_client(user), text="", session=session)
    texts = CitedTexts(user_id=user.pk, session_id=session.id)
    quoted = [Citation(document_id=document.pk, page=2, quotes=("The yearly rent is EUR 24,000",))]
    assert texts.held(quoted) == [False]
    DocumentText.of(user.pk).update_or_create(document=document, defaults={"text": TEXT})
    assert texts.held(quoted) == [True]


def refile(document: Document, **to: object) -> ToolUse:
    return ToolUse("refile_document", {"document_id": document.pk, **to}, id="toolu_file")


async def test_a_document_is_filed_elsewhere_after_a_yes_and_back_by_an_undo(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    await in_database(sync_reference_files)
    document = await in_database(library_of, user)
    practice.script([Reply.of(Text("Shall I?"), refile(document, file_type="invoice")), "Done."])
    async with open_socket(live_sage, session.id, cookie) as client:
        frames = await ask(client, "That is an invoice.")
        assert any("confirm" in frame for frame in frames)
        browser = await in_database(browser_of, user)
        card = await in_database(page_of, browser, f"/chat/{session.id}/")
        assert "Commercial lease → Invoice" in card
        assert card.index("<dt>Document</dt>") < card.index("<dt>Type</dt>")
        await client.send(type="answer", toolUseId="toolu_file", value={"accept": True})
        await client.until("done")
        await in_database(document.refresh_from_db)
        assert (document.file_type, document.decided_by) == ("invoice", "user")
        assert document.folder != "Leases"
        result = json.loads(practice.requests[-1].body["messages"][-1]["content"][0]["content"])
        assert result["written"] is True
    form = {"tool_use_id": "toolu_file"}
    await in_database(browser.post, f"/chat/{session.id}/undo/", form)
    await in_database(document.refresh_from_db)
    assert (document.file_type, document.folder) == ("lease", "Leases")


async def test_a_document_goes_where_the_card_says_in_a_conversation_about_a_project(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    await in_database(sync_reference_files)
    document = await in_database(library_of, user)
    project = await in_database(make_project, document.client)
    place = {"client_id": project.client_id, "project": project}
    await in_database(lambda: SessionScope.of(user.pk).create(session=session, **place))
    practice.script([Reply.of(Text("Shall I?"), refile(document, client_id=document.client_id)), "Done."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client, "File it here.")
        card = await in_database(conversation_page, user, session)
        assert f"– → {project.name}" in card
        await client.send(type="answer", toolUseId="toolu_file", value={"accept": True})
        await client.until("done")
    await in_database(document.refresh_from_db)
    assert document.project_id == project.pk
