"""Steps that a person promises in passing, on a real socket: a chip at once, a question, Undo, danger."""

from http import HTTPStatus
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.library.clients import own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.models import ActionItem, MadeBy, StepChange
from coaching.practice.script import Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from coaching.turns.second_looks import note_danger
from sessions_app.database import in_database
from sessions_app.models import Message, Session, ToolCallRecord
from sessions_app.verdicts import NewVerdict
from tests.browsers import browser_of, page_of
from tests.library.rows import make_document
from tests.live_sage import LiveSage, open_socket
from tests.sockets.questions import results_in, rows, values_of

pytestmark = pytest.mark.django_db(transaction=True)


def create(quote: str, *, title: str = "Call Mum", call: str = "toolu_step", **values: Any) -> ToolUse:
    return ToolUse("create_action_item", {"title": title, "quote": quote, **values}, id=call)


async def steps() -> list[tuple[str, str]]:
    found = await rows(ActionItem.unscoped.order_by("id"))
    return [(step.title, step.state) for step in found]


def kinds_of(frames: list[dict[str, Any]]) -> list[str]:
    return [next(iter(frame)) for frame in frames]


async def test_a_promise_is_written_at_once_and_told_with_its_sentence(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    practice.script([Reply.of(Text("Good."), create("call mum")), "It is noted."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="It was a long day. I’ll call Mum soon, before bed.")
        frames = await client.until("done")
        (told,) = [frame["step"] for frame in frames if "step" in frame]
    (step,) = await rows(ActionItem.unscoped.all())
    sentence = "I’ll call Mum soon, before bed."
    assert told == {
        "id": step.pk, "state": "open", "title": "Call Mum", "due": None, "quote": sentence,
        "toolUseId": "toolu_step",
    }  # fmt: skip
    assert (step.quote, step.message_number, step.session_id, step.origin) == (
        sentence, 1, session.id, "conversation",
    )  # fmt: skip
    said = values_of(results_in(practice, 1)[0])
    assert (said["written"], said["quote"]) == (True, sentence)
    browser = await in_database(browser_of, user)
    page = await in_database(page_of, browser, f"/chat/{session.id}/")
    assert "step-chip" in page
    address = f"/chat/{session.id}/undo/"
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        for _ in range(2):
            undone = await in_database(browser.post, address, {"tool_use_id": "toolu_step"})
            assert undone.status_code == HTTPStatus.SEE_OTHER
        assert (await client.until("step"))[-1]["step"]["state"] == "dismissed"
    assert await steps() == [("Call Mum", "dismissed")]
    page = await in_database(page_of, browser, f"/chat/{session.id}/")
    assert "is-undone" in page


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("I wish I could call Mum more often.", "call Mum more often"),
        ("I won't call Mum, not this week.", "call Mum"),
        ("Nice weather today, isn't it.", "I'll call Mum tomorrow"),
    ],
)
async def test_what_is_no_promise_waits_for_a_yes(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, text: str, quote: str
) -> None:
    practice.script([Reply.of(create(quote)), "Then it is noted."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text=text)
        assert "confirm" in kinds_of(await client.until("done"))
        assert await steps() == []
        (call,) = await rows(ToolCallRecord.unscoped.all())
        assert (call.state, call.metadata["evidence"]["asks"]) == ("pending", True)
        await client.send(type="answer", toolUseId="toolu_step", value={"accept": True})
        await client.until("done")
    assert await steps() == [("Call Mum", "open")]


async def test_after_texts_of_others_a_promise_is_asked_about(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    document = await in_database(lambda: make_document(own_client(user.pk), text="Pay now."))
    practice.script([Reply.of(create("I'll call Mum tomorrow")), "Good."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        text = "I'll call Mum tomorrow. What does this say?"
        await client.send(type="message", text=text, documents=[document.pk])
        frames = await client.until("done")
    assert [frame["confirm"]["sources"] for frame in frames if "confirm" in frame] == [["lease.pdf"]]
    assert await steps() == []


async def test_in_a_turn_with_a_card_nothing_is_written(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(create("I'll call Mum tomorrow")), "I'm here."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="I'll call Mum tomorrow. I want to kill myself.")
        frames = await client.until("done")
    assert "safety" in kinds_of(frames)
    assert "confirm" not in kinds_of(frames)
    assert await steps() == []
    assert "help lines" in str(results_in(practice, 1))


async def test_a_verdict_that_comes_late_takes_back_what_its_turn_wrote(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(create("I'll give my things away tomorrow", title="Give things away")), "Ok."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="I'll give my things away tomorrow.")
        await client.until("done")
        assert await steps() == [("Give things away", "open")]
        message = await in_database(Message.unscoped.get, session=session, number=1)
        await in_database(note_danger, message.pk, NewVerdict(level="immediate"))
        told = (await client.until("step"))[-1]["step"]
    assert told["state"] == "proposed"
    assert await steps() == [("Give things away", "proposed")]


async def test_what_became_of_a_step_rests_on_words(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    new = NewAction(client_id=(await in_database(own_client, user.pk)).pk, title="Call Mum")
    step = await in_database(propose, user_id=user.pk, new=new, made_by=MadeBy.USER, is_accepted=True)
    values = {"id": step.pk, "state": "done", "quote": "we talked for an hour"}
    other = {**values, "id": 10**9}
    calls = [
        ToolUse("resolve_action_item", values, id="toolu_done"),
        ToolUse("resolve_action_item", other, id="toolu_none"),
    ]
    practice.script([Reply.of(*calls), "Lovely."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="I called Mum, we talked for an hour!")
        frames = await client.until("done")
    assert [frame["step"]["state"] for frame in frames if "step" in frame] == ["done"]
    (change,) = await rows(StepChange.unscoped.all())
    sentence = "I called Mum, we talked for an hour!"
    assert (change.kind, change.quote, change.outcome, change.message_number) == (
        "done",
        sentence,
        sentence,
        1,
    )
    assert "There is no next step" in str(results_in(practice, 1))
