"""Writes that want the user's yes, on a real socket: shown, edited, refused, answered once, undone."""

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from coaching.library.clients import create_client, create_project, own_client
from coaching.models import ActionItem, ClientType, KnowledgeEntry, LibraryEffect
from coaching.people.profile_changes import offer_library
from coaching.practice.script import Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session, ToolCallRecord, ToolCallState
from tests.browsers import browser_of
from tests.live_sage import LiveSage, open_socket, text_of
from tests.sockets.questions import ask, assert_all_accepted, results_in, rows, values_of

pytestmark = pytest.mark.django_db(transaction=True)

INPUT = {"title": "Call the bank", "quote": "Call the bank about the loan", "due_date": "2027-03-31"}
CREATE = ToolUse("create_action_item", INPUT, id="toolu_act")
SHOWN = {"confirm": {"toolUseId": "toolu_act", "tool": "create_action_item", "input": INPUT}}


def answer(**value: object) -> dict[str, object]:
    return {"type": "answer", "toolUseId": "toolu_act", "value": value}


async def items() -> list[ActionItem]:
    return await rows(ActionItem.unscoped.order_by("id"))


async def test_a_yes_with_an_edited_date_writes_that_and_says_so(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(Text("Shall I?"), CREATE), "It is on your list."])
    async with open_socket(live_sage, session.id, cookie) as client:
        assert SHOWN in await ask(client)
        assert await items() == []
        async with open_socket(live_sage, session.id, cookie) as again:
            assert (await again.next_frame())["sync"]["pending"] == [SHOWN]
        await client.send(**answer(accept=True, input={"due_date": "2027-04-02", "description": ""}))
        going_on = await client.until("done")
    (item,) = await items()
    assert (item.title, str(item.due_date), item.state, item.origin) == (
        "Call the bank", "2027-04-02", "open", "conversation",
    )  # fmt: skip
    (effect,) = await rows(LibraryEffect.unscoped.all())
    assert (effect.tool_use_id, effect.action_item_id) == ("toolu_act", item.id)
    written = {**INPUT, "due_date": "2027-04-02"}
    assert going_on[0] == {
        "answered": {
            "toolUseId": "toolu_act",
            "state": "answered",
            "value": {"accept": True, "input": written, "effect": effect.id},
        }
    }
    assert text_of(client.frames) == "Shall I?\n\nIt is on your list."
    said = values_of(results_in(practice, 1)[0])
    assert (said["written"], said["due_date"], said["changed_by_the_user"]) == (
        True, "2027-04-02", ["due_date"],
    )  # fmt: skip
    assert_all_accepted(practice, 2)


async def test_a_no_writes_nothing_and_the_model_is_told(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(CREATE), "Then I won't."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client)
        await client.send(**answer(accept=False))
        assert text_of(await client.until("done")) == "Then I won't."
    assert await items() == []
    said = values_of(results_in(practice, 1)[0])
    assert said["written"] is False
    assert "said no" in said["message"]


async def test_what_does_not_fit_is_refused_at_its_field_and_the_card_waits(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User, other_user: User
) -> None:
    theirs = await in_database(
        create_client, user_id=other_user.pk, name="Theirs", client_type=ClientType.PERSON
    )
    own = await in_database(own_client, user.pk)
    practice.script([Reply.of(CREATE), "Good."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client)
        for value, told in (
            (None, "yes or no"),
            ("yes", "yes or no"),
            ({"accept": "true"}, "yes or no"),
            ({"accept": True, "now": 1}, "nothing else"),
            ({"accept": True, "input": ["x"]}, "nothing else"),
            ({"accept": True, "input": {"due_date": "31 March"}}, "Enter a date"),
            ({"accept": True, "input": {"title": " "}}, "Enter 1 to 200"),
            ({"accept": True, "input": {"title": "x" * 201}}, "Enter 1 to 200"),
            ({"accept": True, "input": {"title": "a\x00b"}}, "Enter 1 to 200"),
            ({"accept": True, "input": {"title": {}}}, "Enter 1 to 200"),
            ({"accept": True, "input": {"quote": "Other words"}}, "Only what the card shows"),
            ({"accept": True, "input": {"client_id": theirs.id}}, "Choose one of your clients"),
            ({"accept": True, "input": {"place": f"{theirs.id}"}}, "Choose one of your clients"),
            ({"accept": True, "input": {"place": "1:2:3"}}, "Choose one of your clients"),
            ({"accept": True, "input": {"project_id": 2**70}}, "Choose one of your clients"),
            ({"accept": True, "input": {"client_id": [1]}}, "Choose one of your clients"),
            ({"accept": True, "input": {"client_id": float("inf")}}, "Choose one of your clients"),
            ({"accept": True, "input": {"client_id": own.id + 0.7}}, "Choose one of your clients"),
            ({"accept": True, "input": {"client_id": True}}, "Choose one of your clients"),
            ({"accept": True, "input": {"place": f"{own.id}\u0664"}}, "Choose one of your clients"),
            ({"accept": True, "input": {"document_id": 1}}, "Only what the card shows"),
        ):
            await client.send(type="answer", toolUseId="toolu_act", value=value)
            assert told in (await client.until("error"))[-1]["error"]
        assert await items() == []
        await client.send(**answer(accept=True))
        assert text_of(await client.until("done")) == "Good."
    assert len(await items()) == 1


async def test_of_two_tabs_one_answer_writes_once(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(CREATE), "Good."])
    async with (
        open_socket(live_sage, session.id, cookie) as first,
        open_socket(live_sage, session.id, cookie) as second,
    ):
        await second.until("sync")
        await ask(first)
        assert SHOWN in await second.until("done")
        await first.send(**answer(accept=True))
        await first.until("done")
        await second.send(**answer(accept=True, input={"title": "Other"}))
        late = await second.until("error")
    assert "isn’t open any more" in late[-1]["error"]
    assert len(await items()) == 1


async def test_a_message_or_a_dismissal_instead_writes_nothing(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    again = ToolUse(CREATE.name, INPUT, id="toolu_again")
    practice.script([Reply.of(CREATE), Reply.of(again), "Sure."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client)
        await client.send(type="message", text="Tomorrow, rather.")
        await client.until("done")
        await client.send(type="dismiss", toolUseId="toolu_again")
        assert (await client.until("done"))[-1]["done"]["stopReason"] == "dismissed"
    assert await items() == []
    states = {call.tool_use_id: call.state for call in await rows(ToolCallRecord.unscoped.all())}
    assert states == {"toolu_act": ToolCallState.SUPERSEDED, "toolu_again": ToolCallState.DISMISSED}


async def test_anothers_client_looks_missing_and_no_card_is_shown(
    live_sage: LiveSage,
    practice: PracticeServer,
    session: Session,
    cookie: str,
    user: User,
    other_user: User,
) -> None:
    await in_database(offer_library, user.pk)
    theirs = await in_database(
        create_client, user_id=other_user.pk, name="Theirs", client_type=ClientType.PERSON
    )
    missing = {**INPUT, "client_id": 10**12}
    entry = {"client_id": theirs.id, "title": "Mine now", "content": "Words"}
    practice.script(
        [
            Reply.of(
                ToolUse("create_action_item", {**INPUT, "client_id": theirs.id}, id="toolu_theirs"),
                ToolUse("create_action_item", missing, id="toolu_none"),
                ToolUse("create_knowledge_entry", entry, id="toolu_entry"),
            ),
            "There is no such client.",
        ]
    )
    async with open_socket(live_sage, session.id, cookie) as client:
        frames = await ask(client)
    assert not [frame for frame in frames if "confirm" in frame]
    told = {block["content"] for block in results_in(practice, 1)}
    assert len(told) == 1
    assert "no client with that id" in told.pop()
    assert await items() == []
    assert await rows(KnowledgeEntry.unscoped.all()) == []


async def test_a_form_without_javascript_keeps_what_was_given_and_says_what_is_wrong_there(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    practice.script([Reply.of(CREATE), "Good."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client)
    browser = await in_database(browser_of, user)
    address = f"/chat/{session.id}/message/"
    form = {"tool_use_id": "toolu_act", "accept": "yes", "input_title": "Ring them", "input_due_date": "soon"}
    refused = await in_database(browser.post, address, form)
    page = refused.content.decode()
    assert refused.status_code == 422
    assert 'value="Ring them"' in page
    assert "Me</dd>" in page
    assert 'aria-invalid="true"' in page
    assert await items() == []


async def test_an_undo_takes_it_back_once_and_for_its_user_alone(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User, other_user: User
) -> None:
    practice.script([Reply.of(CREATE), "Good."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await ask(client)
        await client.send(**answer(accept=True))
        await client.until("done")
    address, form = f"/chat/{session.id}/undo/", {"tool_use_id": "toolu_act"}
    stranger, browser = Browser(), Browser()
    await in_database(stranger.force_login, other_user)
    await in_database(browser.force_login, user)
    assert (await in_database(stranger.post, address, form)).status_code == 404
    for odd in ({}, {"tool_use_id": "toolu_none"}, {"tool_use_id": "a\x00b"}):
        assert (await in_database(browser.post, address, odd)).status_code == 422
    assert (await items())[0].state == "open"
    page = (await in_database(browser.get, f"/chat/{session.id}/")).content.decode()
    assert "Noted as your next step." in page
    for _ in range(2):
        assert (await in_database(browser.post, address, form)).status_code == 303
    page = (await in_database(browser.get, f"/chat/{session.id}/")).content.decode()
    assert "Undone." in page
    assert "Noted as your next step." not in page
    assert (await items())[0].state == "dismissed"


async def test_whom_it_is_for_can_be_chosen_among_one_s_own_clients_and_projects(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User, other_user: User
) -> None:
    def make() -> tuple[int, int]:
        create_client(user_id=other_user.pk, name="Theirs", client_type=ClientType.PERSON)
        crowe = create_client(user_id=user.pk, name="Crowe", client_type=ClientType.PERSON)
        return crowe.pk, create_project(user_id=user.pk, client_id=crowe.pk, name="Sale").pk

    crowe, sale = await in_database(make)
    practice.script([Reply.of(CREATE), "Good."])
    browser = await in_database(browser_of, user)
    address = f"/chat/{session.id}/"
    async with open_socket(live_sage, session.id, cookie) as client:
        assert SHOWN in await ask(client)
        asked = (await in_database(browser.get, address)).content.decode()
        await client.send(**answer(accept=True, input={"place": f"{crowe}:{sale}", "title": "Call them"}))
        frames = await client.until("done")
    answered = next(frame["answered"] for frame in frames if "answered" in frame)
    assert f'<option value="{crowe}:{sale}" dir="auto">Crowe · Sale</option>' in asked
    assert f'<option value="{crowe}" dir="auto">Crowe</option>' in asked
    assert asked.count(" selected dir=") == 1, "the person themselves"
    assert "Theirs" not in asked
    assert answered["value"]["input"] == {
        **INPUT, "title": "Call them", "client_id": crowe, "project_id": sale,
    }  # fmt: skip
    (item,) = await items()
    assert (item.client_id, item.project_id) == (crowe, sale)
    said = values_of(results_in(practice, 1)[0])
    assert said["changed_by_the_user"] == ["client_id", "project_id", "title"]
    page = (await in_database(browser.get, address)).content.decode()
    assert "Crowe</dd>" in page
    assert "Sale</dd>" in page
