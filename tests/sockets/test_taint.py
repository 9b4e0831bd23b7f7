"""Calls that wait because Sage has read texts of others, on real sockets: yes, no, changed since, undone."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.library.clients import own_client
from coaching.models import UserFileVersion
from coaching.people.profile_changes import offer_library
from coaching.practice.script import Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from coaching.tools.save_file import SAVE_FILE
from sessions_app.database import in_database
from sessions_app.models import Session, ToolCallRecord, ToolCallState, Turn
from tests.browsers import browser_of, conversation_page
from tests.library.rows import make_document
from tests.live_sage import LiveSage, SocketClient, open_socket
from tests.sockets.questions import results_in, rows
from tests.tools.committing_context import CommittingContext

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = {"file_type": "domain", "file_name": "career"}
REPLACE = ToolUse("save_file", {**PAGE, "content": "Quit today."}, id="toolu_page")
OTHER = ToolUse("save_file", {"file_type": "overview", "content": "All of it."}, id="toolu_other")
SEARCH = ToolUse("search_knowledge_bank", {"query": "boiler"}, id="toolu_search")
CARD = {
    "confirm": {
        "toolUseId": "toolu_page",
        "tool": "save_file",
        "input": dict(REPLACE.input),
        "sources": ["lease.pdf"],
    }
}


async def write(user: User, content: str, call: str = "toolu_mine", **values: str) -> None:
    """Write a page of the user's."""
    context = CommittingContext(user_id=user.pk, tool_use_id=call)
    result = await SAVE_FILE.run(context, SAVE_FILE.parse(json.dumps({**PAGE, **values, "content": content})))
    assert not result.is_error


async def text_of_page(user: User, path: str = "life-map/career.md") -> str:
    """Return a page's newest text; empty without a page."""
    versions = UserFileVersion.of(user.pk).filter(file__path=path).order_by("-number")
    return await in_database(versions.values_list("content", flat=True).first) or ""


async def ask_about(client: SocketClient, user: User, text: str = "Boilers cost 40 EUR.") -> list[Any]:
    """Attach a document, and return the frames until Sage has answered or asks."""
    await in_database(offer_library, user.pk)
    document = await in_database(lambda: make_document(own_client(user.pk), text=text))
    await client.until("sync")
    await client.send(type="message", text="What does it say?", documents=[document.pk])
    return await client.until("done")


def yes(call: str = "toolu_page") -> dict[str, Any]:
    return {"type": "answer", "toolUseId": call, "value": {"accept": True, "input": {}}}


async def read_page(user: User, session: Session) -> str:
    """Return the conversation's page."""
    return await in_database(conversation_page, user, session)


async def test_a_page_is_replaced_only_after_a_yes_that_says_what_sage_had_read(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    await write(user, "Stay.")
    practice.script([Reply.of(Text("I'll note it."), REPLACE), "Noted."])
    async with open_socket(live_sage, session.id, cookie) as client:
        assert CARD in await ask_about(client, user)
        assert "Stay." in await text_of_page(user)
        page = await read_page(user, session)
        assert "Before this, Sage read “lease.pdf”." in page
        assert "Shall I save this page?" in page
        assert "It replaces what this page says now." in page
        assert "Quit today." in page, "the new text can be read first"
        async with open_socket(live_sage, session.id, cookie) as again:
            assert (await again.next_frame())["sync"]["pending"] == [CARD]
        await client.send(**yes())
        going_on = await client.until("done")
    assert {
        "answered": {"toolUseId": "toolu_page", "state": "answered", "value": {"accept": True}}
    } in going_on
    assert "Quit today." in await text_of_page(user)
    (result,) = results_in(practice, 1)
    assert json.loads(result["content"])["version"] == 2
    page = await read_page(user, session)
    assert "Saved. Earlier versions are kept." in page
    assert "Written after" not in page, "the person has said yes"
    assert [request.status for request in practice.requests] == [200, 200]


async def test_a_card_shows_all_that_a_yes_would_write(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    facts = {"attributes": {"status": "needs_attention", "updated_rating": 1}, "remove": ["preview_line"]}
    page = ToolUse("save_file", {**PAGE, **facts, "content": "Stay."}, id="toolu_page")
    end = ToolUse("complete_session", {"type": "session", "summary": "They sell the flat."}, id="toolu_end")
    practice.script([Reply.of(page), Reply.of(end)])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask_about(client, user)
        shown = await read_page(user, session)
        assert "Status: Needs attention\nRating: 1\nOne-line summary: –\n\nStay." in shown
        await client.send(type="answer", toolUseId="toolu_page", value={"accept": False})
        await client.until("done")
    assert "They sell the flat." in await read_page(user, session)


@pytest.mark.parametrize("file_type", ["sage-context", "sage-patterns", "safety-plan"])
async def test_a_new_page_that_sage_or_somebody_in_danger_goes_by_waits_for_a_yes(
    live_sage: LiveSage,
    practice: PracticeServer,
    session: Session,
    cookie: str,
    user: User,
    file_type: str,
) -> None:
    plan = ToolUse("save_file", {"file_type": file_type, "content": "Call 0900 666."}, id="toolu_plan")
    practice.script([Reply.of(plan), "Noted."])
    async with open_socket(live_sage, session.id, cookie) as client:
        frames = await ask_about(client, user)
    assert [frame["confirm"]["toolUseId"] for frame in frames if "confirm" in frame] == ["toolu_plan"]
    assert not await rows(UserFileVersion.of(user.pk))


async def test_a_no_changes_nothing_and_a_form_can_say_yes_without_javascript(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    await write(user, "Stay.")
    arc = ToolUse("enter_structured_arc", {"arc": "life_mapping"}, id="toolu_arc")
    practice.script([Reply.of(REPLACE), Reply.of(arc), "As you like."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask_about(client, user)
        await client.send(type="answer", toolUseId="toolu_page", value={"accept": False})
        frames = await client.until("done")
        assert [frame["confirm"]["tool"] for frame in frames if "confirm" in frame] == [
            "enter_structured_arc"
        ]
        assert "said no" in results_in(practice, 1)[0]["content"]
        assert "Stay." in await text_of_page(user)
        await client.send(**yes("toolu_arc"))
        frames = await client.until("done")
        assert {"modeChange": "life_mapping"} in frames
    await in_database(session.refresh_from_db)
    assert session.active_arc == "life_mapping"
    page = await read_page(user, session)
    assert "You said no. Nothing was changed." in page
    assert "Started." in page


async def test_a_page_that_was_changed_while_the_card_waited_is_not_replaced(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    await write(user, "Stay.")
    practice.script([Reply.of(REPLACE), "It has changed."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask_about(client, user)
        await write(user, "Stay, for Ada.", "toolu_later")
        await client.send(**yes())
        await client.until("done")
    assert "Stay, for Ada." in await text_of_page(user)
    assert "has changed since" in results_in(practice, 1)[0]["content"]
    assert "You said yes, but it couldn’t be done." in await read_page(user, session)


async def test_what_was_called_before_the_model_had_read_is_free_and_what_follows_is_not(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    await write(user, "Stay.")
    await in_database(offer_library, user.pk)
    await in_database(lambda: make_document(own_client(user.pk), text="The boiler is old."))
    again = ToolUse("save_file", {**PAGE, "content": "Quit now."}, id="toolu_again")
    practice.script([Reply.of(SEARCH, REPLACE), Reply.of(again, OTHER), "Done."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Look up the boiler")
        frames = await client.until("done")
        asked = [frame["confirm"] for frame in frames if "confirm" in frame]
        assert [(card["toolUseId"], card["sources"]) for card in asked] == [("toolu_again", ["lease.pdf"])]
        assert "Quit today." in await text_of_page(user), "no text had asked for the first"
        assert "All of it." in await text_of_page(user, "life-map/_overview.md"), "a new page isn't held"
        await client.send(**yes("toolu_again"))
        await client.until("done")
    assert "Quit now." in await text_of_page(user)
    page = await read_page(user, session)
    assert page.count("Written after Sage read “lease.pdf”.") == 1


async def test_held_calls_wait_alone(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    await write(user, "Stay.")
    await write(user, "Mine.", "toolu_mine_too", file_name="finances")
    money = ToolUse(
        "save_file", {"file_type": "domain", "file_name": "finances", "content": "Spend."}, id="toolu_money"
    )
    end = ToolUse("complete_session", {"type": "session"}, id="toolu_end")
    practice.script([Reply.of(REPLACE, money, end), "Done."])
    async with open_socket(live_sage, session.id, cookie) as client:
        frames = await ask_about(client, user)
        assert [frame["confirm"]["tool"] for frame in frames if "confirm" in frame] == ["save_file"]
        await client.send(type="message", text="Never mind")
        await client.until("done")
    calls = {call.tool_use_id: call for call in await rows(ToolCallRecord.unscoped.all())}
    assert calls["toolu_page"].state == ToolCallState.SUPERSEDED
    assert "can't be called together" in calls["toolu_money"].result
    assert "can't be called together" in calls["toolu_end"].result
    assert "Stay." in await text_of_page(user)


async def test_a_page_written_unasked_is_undone_once_and_taints_the_turn_that_reads_it(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    from_page = ToolUse("read_file", {"path": "life-map/_overview.md"}, id="toolu_read")
    end = ToolUse("complete_session", {"type": "session"}, id="toolu_end")
    practice.script([Reply.of(OTHER), "Saved.", Reply.of(from_page), Reply.of(end), "Bye."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask_about(client, user)
    other = await in_database(Session.of(user.pk).create, kind=session.kind)
    async with open_socket(live_sage, other.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Read my overview")
        frames = await client.until("done")
        (card,) = (frame["confirm"] for frame in frames if "confirm" in frame)
        assert (card["tool"], card["sources"]) == ("complete_session", ["lease.pdf"])
    browser = await in_database(browser_of, user)
    for _ in range(2):
        answer = await in_database(browser.post, f"/chat/{session.id}/undo/", {"tool_use_id": "toolu_other"})
        assert answer.status_code == 303
    assert await text_of_page(user, "life-map/_overview.md") == ""
    page = await read_page(user, session)
    assert "Undone." in page
    assert 'name="tool_use_id" value="toolu_other"' not in page


async def test_a_page_that_changed_since_is_not_undone(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    practice.script([Reply.of(OTHER), "Saved."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask_about(client, user)
    await write(user, "Mine by now.", file_type="overview", file_name="")
    browser = await in_database(browser_of, user)
    answer = await in_database(browser.post, f"/chat/{session.id}/undo/", {"tool_use_id": "toolu_other"})
    assert answer.status_code == 422
    assert "has changed since" in answer.content.decode()
    assert "Mine by now." in await text_of_page(user, "life-map/_overview.md")


async def test_what_was_ruled_is_stored_with_turn_and_calls(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    await write(user, "Stay.")
    practice.script([Reply.of(SEARCH, OTHER), Reply.of(REPLACE), "Done."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask_about(client, user, "The boiler is old.")
    turn = await in_database(Turn.unscoped.get)
    assert turn.metadata["taint"] == ["lease.pdf"]
    calls = {call.tool_use_id: call.metadata for call in await rows(ToolCallRecord.unscoped.all())}
    held = {"sources": ["lease.pdf"], "is_held": True, "replaces": 1}
    assert calls["toolu_page"]["taint"] == held
    assert calls["toolu_other"]["taint"] == {**held, "is_held": False, "replaces": 0}
    assert calls["toolu_search"]["foreign"] == ["lease.pdf"]
