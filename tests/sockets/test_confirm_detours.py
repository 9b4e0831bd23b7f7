"""Stop, edit, retry and a second tab while a card waits: nothing is written twice, nothing is lost."""

import asyncio
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User

from coaching.library.clients import create_client
from coaching.models import ActionItem, Client, ClientType, SessionScope
from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session, ToolCallRecord, ToolCallState
from tests.browsers import browser_of, page_of
from tests.live_sage import LiveSage, open_socket, text_of
from tests.sockets.questions import ask, assert_all_accepted, rows
from tests.sockets.test_confirm import CREATE, INPUT, SHOWN, answer, items

pytestmark = pytest.mark.django_db(transaction=True)

AGAIN = ToolUse(CREATE.name, {**INPUT, "title": "Call the bank again"}, id="toolu_again")


async def states() -> dict[str, str]:
    return {call.tool_use_id: call.state for call in await rows(ToolCallRecord.unscoped.all())}


async def test_a_card_outlives_a_stop_a_retry_and_a_second_tab_and_is_written_once(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(CREATE), "It is on your list."])
    async with (
        open_socket(live_sage, session.id, cookie) as first,
        open_socket(live_sage, session.id, cookie) as second,
    ):
        await second.until("sync")
        await ask(first)
        await second.until("done")
        await first.send(type="stop")
        await first.send(type="retry")
        await first.until("error")
        assert await states() == {"toolu_act": ToolCallState.PENDING}
        async with open_socket(live_sage, session.id, cookie) as third:
            assert (await third.next_frame())["sync"]["pending"] == [SHOWN]
        await asyncio.gather(
            first.send(**answer(accept=True)), second.send(**answer(accept=True, input={"title": "Other"}))
        )
        await asyncio.gather(first.until("done"), second.until("done"))
    (item,) = await items()
    assert item.title in ("Call the bank", "Other")
    assert_all_accepted(practice, 2)


async def test_an_edit_takes_the_card_back_and_its_answer_comes_too_late(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(CREATE), Reply.of(AGAIN), "Good."])
    async with (
        open_socket(live_sage, session.id, cookie) as client,
        open_socket(live_sage, session.id, cookie) as other,
    ):
        await other.until("sync")
        await ask(client, "Remind me of the bank")
        await other.until("done")
        await client.send(type="edit", text="Remind me of the bank again")
        await client.until("done")
        await other.send(**answer(accept=True))
        late = await other.until("error")
        assert "isn’t open any more" in late[-1]["error"]
        assert await items() == []
        await client.send(type="answer", toolUseId="toolu_again", value={"accept": True})
        assert text_of(await client.until("done")) == "Good."
    assert [item.title for item in await items()] == ["Call the bank again"]
    assert (await states())["toolu_act"] == ToolCallState.SUPERSEDED


async def test_what_was_written_stays_after_an_edit_and_can_still_be_undone_once(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    practice.script([Reply.of(CREATE), "Good.", Reply.of(AGAIN), "Good again."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client, "Remind me of the bank")
        await client.send(**answer(accept=True))
        await client.until("done")
        await client.send(type="edit", text="Remind me of the bank again")
        await client.until("done")
        await client.send(type="answer", toolUseId="toolu_again", value={"accept": True})
        await client.until("done")
    assert [item.state for item in await items()] == ["open", "open"], "an edit undoes no write"
    browser = await in_database(browser_of, user)
    page = await in_database(page_of, browser, f"/chat/{session.id}/")
    assert page.count('<span class="folded-question">Noted as your next step.</span>') == 1
    address = f"/chat/{session.id}/undo/"

    def undo(tool_use_id: str) -> int:
        return browser.post(address, {"tool_use_id": tool_use_id}).status_code

    for _ in range(2):
        assert await in_database(undo, "toolu_act") == HTTPStatus.SEE_OTHER
    assert [item.state for item in await items()] == ["dismissed", "open"]
    again = await in_database(ActionItem.of(user.pk).get, title="Call the bank again")
    form = {"title": "Call the other bank", "priority": "medium"}
    await in_database(browser.post, f"/library/actions/{again.pk}/", form)
    assert await in_database(undo, "toolu_again") == HTTPStatus.UNPROCESSABLE_ENTITY, "the edit isn't lost"
    assert [(item.title, item.state) for item in await items()] == [
        ("Call the bank", "dismissed"), ("Call the other bank", "open"),
    ]  # fmt: skip


async def test_a_yes_holds_for_a_client_that_was_renamed_while_the_card_waited(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    def make() -> int:
        anna, crowe = (
            create_client(user_id=user.pk, name=name, client_type=ClientType.PERSON)
            for name in ("Anna", "Crowe")
        )
        SessionScope.unscoped.create(session=session, client=anna)
        return crowe.pk

    crowe = await in_database(make)
    practice.script([Reply.of(ToolUse(CREATE.name, {**INPUT, "client_id": crowe}, id="toolu_act")), "Good."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client, "Remind me of the call with Crowe")
        await in_database(Client.of(user.pk).filter(id=crowe).update, name="Raven")
        await client.send(**answer(accept=True))
        assert text_of(await client.until("done")) == "Good."
    assert [item.client_id for item in await items()] == [crowe]
