"""The frames of `sage.json`: each one occurs, including edits, retries, rounds and ends."""

import asyncio
from collections.abc import Callable, Mapping
from inspect import signature
from typing import get_args, get_type_hints

import pytest
from django.contrib.auth.models import User

import coaching.events
from coaching.events import CallPending, RoundRestarted, TurnEvent
from coaching.library.clients import own_client
from coaching.library.moves import adding
from coaching.models import ActionItem, Document
from coaching.people.socket_access import FRAMES_PER_SECOND
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Note, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from coaching.sockets.fragments import FRAGMENTS
from coaching.sockets.frames import FRAMES, QUESTION_FRAMES, frame_of
from coaching.tools.presentation import QuestionKind
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind, SessionStatus, ToolCallRecord, Turn, TurnStatus
from sessions_app.titles import rename_session
from tests.browsers import browser_of
from tests.live_sage import Frame, LiveSage, open_socket, text_of
from tests.sessions_app.turns import say
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db(transaction=True)

PILLS = ToolUse("show_options", {"options": [{"label": "Fine"}, {"label": "Tired"}]}, id="toolu_pills")
PULSE = ToolUse("show_pulse_check", {"domains": ["career"]}, id="toolu_pulse")
SAVE = ToolUse("save_file", {"file_type": "domain", "file_name": "career", "content": "# Career"})
PLAN = ToolUse(
    "save_file",
    {
        "file_type": "day-plan",
        "content": "One thing.",
        "attributes": {"intention": "Rest", "priorities": ["Walk"]},
    },
)
STEP = ToolUse("create_action_item", {"title": "Call Mira", "quote": "Hello"}, id="toolu_step")
NESTED: list[object] = []
for _ in range(900):
    NESTED = [NESTED]
ODD: tuple[object, ...] = (
    [{"x": 1}],
    [[1]],
    {"x": [1]},
    [None],
    2**70,
    1.5,
    True,
    "a\x00b",
    "\ud800",
    NESTED,
)
COMPLETE = ToolUse("complete_session", {"type": "session"})
COMPLETE_ARC = ToolUse("complete_session", {"type": "arc"})

CONTRACT = {
    *(
        "sync",
        "message",
        "withdrawn",
        "chosen",
        "continued",
        "safety",
        "text",
        "note",
        "toolCall",
        "toolDone",
    ),
    *("roundBoundary", "showOptions", "showPulseCheck", "answered", "modeChange", "arcCompleted"),
    *("sessionCompleted", "error", "done", "title", "document", "step"),
}
"""Every frame of a live conversation; `confirm` needs a tool that asks for it, `reading` a local model."""
SILENT = {"RoundRestarted", "RoundClosed", "TurnStarted", "ModelHasRead", "SessionClosed"}
"""Events without a frame: a sync follows the first and the last, the others only change the page."""


def queue_document(session: Session) -> None:
    with adding(session.id) as added:
        row = Document.of(session.user_id).create(
            name="a.pdf", size=1, storage_key="a", session=session, client=own_client(session.user_id)
        )
        added.append(row)


def add_step(session: Session) -> int:
    step = ActionItem.of(session.user_id).create(title="Walk", client=own_client(session.user_id))
    return step.pk


def names_of(frames: list[Frame]) -> list[str]:
    return [name for frame in frames for name in frame]


@pytest.mark.slow
async def test_every_frame_of_the_contract_occurs(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script(
        [
            Reply.of(Text("I'm here."), SAVE),
            Reply.of(Note("One more."), PILLS),
            Reply.of(PULSE),
            Reply.of(ToolUse("enter_structured_arc", {"arc": "open_day"})),
            Reply.of(PLAN),
            Reply.of(COMPLETE_ARC),
            "Planned.",
            "Changed.",
            "Changed again.",
            Reply.of(COMPLETE),
            Reply.of(COMPLETE),
            "Goodbye.",
            "In a new one.",
        ]
    )
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="I want to die.")
        await client.until("done")
        await client.send(type="answer", toolUseId="toolu_pills", value="Fine")
        await client.until("done")
        await client.send(type="answer", toolUseId="toolu_pulse", value={"ratings": {"career": 3}})
        await client.until("done")
        await client.send(type="edit", text="Something else")
        first = (await client.until("done"))[-1]["done"]["turn"]
        await client.send(type="again")
        assert text_of(await client.until("done")) == "Changed again."
        await client.send(type="choose", turn=first)
        assert (await client.until("chosen"))[-1]["chosen"]["text"] == "Changed."
        await client.send(type="nonsense")
        await client.until("error")
        await in_database(rename_session, user_id=session.user_id, session_id=session.id, title="Work")
        await client.until("title")
        await in_database(queue_document, session)
        await client.until("document")
        step_id = await in_database(add_step, session)
        await client.send(type="step", id=step_id, action="done", input={"outcome": "A long one."})
        told = (await client.until("step"))[-1]["step"]
        assert (told["id"], told["state"], told["toolUseId"]) == (step_id, "done", None)
        await client.send(type="message", text="That is all")
        await client.until("done")
        await client.send(type="message", text="One more thing")
        await client.until("continued")
    assert set(names_of(client.frames)) == CONTRACT


def is_made_of(kind: object, members: tuple[type, ...]) -> bool:
    return isinstance(kind, type) and issubclass(kind, members)


@pytest.mark.parametrize("table", [FRAMES, FRAGMENTS], ids=["frames", "fragments"])
def test_each_event_has_a_function_that_takes_it(table: Mapping[type, Callable[..., object]]) -> None:
    members = get_args(TurnEvent)
    events = {kind for kind in vars(coaching.events).values() if is_made_of(kind, members)}
    assert events == {*members}
    assert table.keys() == events
    for event, function in table.items():
        taken = get_type_hints(function)[next(iter(signature(function).parameters))]
        assert issubclass(event, get_args(taken) or taken), function


def test_each_kind_of_question_has_a_frame() -> None:
    assert QUESTION_FRAMES.keys() == {*get_args(QuestionKind)}


def test_an_event_without_a_frame_is_silent_on_purpose() -> None:
    silent = {event.__name__ for event, function in FRAMES.items() if function is FRAMES[RoundRestarted]}
    assert silent == SILENT
    assert frame_of(RoundRestarted()) is None
    asked = CallPending(tool_use_id="toolu_1", name="create_action_item", input={"title": "Walk"})
    assert frame_of(asked) == {
        "confirm": {"toolUseId": "toolu_1", "tool": "create_action_item", "input": {"title": "Walk"}}
    }


async def test_every_tab_hears_of_a_message_once_and_what_an_edit_and_a_retry_withdraw(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script(["First.", "Second."])
    async with (
        open_socket(live_sage, session.id, cookie) as client,
        open_socket(live_sage, session.id, cookie) as other,
    ):
        for tab in (client, other):
            await tab.until("sync")
        await client.send(type="message", text="One", id="one")
        await asyncio.gather(client.until("done"), other.until("done"))
        await client.send(type="edit", text="Two", id="two")
        await asyncio.gather(client.until("done"), other.until("done"))
        practice.script([Reply.of("Half", Hold("middle"))])
        await client.send(type="message", text="Three", id="three")
        await practice.reached("middle")
        await client.send(type="stop")
        await asyncio.gather(client.until("done"), other.until("done"))
        practice.release("middle")
        practice.script(["Whole."])
        await client.send(type="retry")
        again, _ = await asyncio.gather(client.until("done"), other.until("done"))
    assert text_of(again) == "Whole."
    for tab in (client, other):
        told = [frame for frame in tab.frames if "message" in frame or "withdrawn" in frame]
        assert told == [
            {"message": {"id": "one", "number": 1, "text": "One"}},
            {"withdrawn": {"from": 1}},
            {"message": {"id": "two", "number": 3, "text": "Two"}},
            {"message": {"id": "three", "number": 5, "text": "Three"}},
            {"withdrawn": {"from": 6}},
        ]


async def test_a_retry_of_a_turn_that_said_nothing_withdraws_what_comes_after_its_message(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.faults.push(Fault(kind="status", status=400, message="nonsense"))
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Hello", id="hello")
        await client.until("done")
        practice.script(["Hello again."])
        await client.send(type="retry")
        again = await client.until("done")
    assert again[0] == {"withdrawn": {"from": 2}}
    assert names_of(client.frames).count("message") == 1


async def test_a_boundary_stands_between_any_two_rounds(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script(
        [
            Reply.of(Text("First."), SAVE),
            Reply.of(SAVE),
            Reply.of(Note("Still looking."), SAVE),
            "Second.",
        ]
    )
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Hello")
        frames = await client.until("done")
    names = [name for name in names_of(frames) if name not in ("message", "toolDone")]
    assert [name for at, name in enumerate(names) if names[at - 1] != name] == [
        *("text", "toolCall", "roundBoundary", "toolCall", "roundBoundary", "note", "toolCall"),
        *("roundBoundary", "text", "done"),
    ]
    assert text_of(frames) == "First.\n\nSecond."


async def test_a_message_to_an_ended_session_gets_the_new_sessions_address(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(Hold("middle"), Text("Here."))])
    async with (
        open_socket(live_sage, session.id, cookie) as client,
        open_socket(live_sage, session.id, cookie, subprotocols=()) as page,
    ):
        await client.until("sync")
        await client.send(type="end")
        await client.until("sync")
        await client.send(type="message", text="And now?", id="now")
        told = (await client.until("continued"))[-1]["continued"]
        successor = await in_database(Session.unscoped.get, continues=session)
        assert told == {"session": str(successor.id)}
        await page.connection.send('{"type": "message", "text": "And now?", "id": "now"}')
        address = f'<i data-event="continued" data-address="/chat/{successor.id}/"></i>'
        await page.html_until(address)
        practice.release("middle")
    assert names_of(client.frames).count("error") == 0


async def test_ending_a_conversation_stops_its_turn_first_and_every_tab_hears_that_it_ended(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of("Half ", Hold("middle"), "said.")])
    async with (
        open_socket(live_sage, session.id, cookie) as client,
        open_socket(live_sage, session.id, cookie) as other,
    ):
        await other.until("sync")
        await client.until("sync")
        await client.send(type="message", text="Hello")
        await practice.reached("middle")
        await client.send(type="end")
        for tab in (client, other):
            assert (await tab.until("done"))[-1]["done"]["stopReason"] == "stopped"
            ended = (await tab.until("sync"))[-1]["sync"]
            assert (ended["status"], ended["turn"], ended["ended"]) == ("idle", None, "abandoned")
        await client.send(type="end")
        assert "has already ended" in (await client.until("error"))[-1]["error"]
        practice.release("middle")
    ended_session = await in_database(Session.unscoped.get, id=session.id)
    assert ended_session.status == SessionStatus.ABANDONED
    assert ended_session.ended_at is not None
    assert (await in_database(Turn.unscoped.get, session=session)).status == TurnStatus.STOPPED


async def test_a_question_expires_with_the_conversation_that_its_user_ends(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(PILLS)])
    async with (
        open_socket(live_sage, session.id, cookie) as client,
        open_socket(live_sage, session.id, cookie, subprotocols=()) as page,
    ):
        await page.html_of_sync()
        await client.until("sync")
        await client.send(type="message", text="Hello")
        await client.until("done")
        await client.send(type="end")
        frames = await client.until("sync")
        assert frames[0] == {"answered": {"toolUseId": "toolu_pills", "state": "expired", "value": None}}
        assert frames[-1]["sync"]["ended"] == "abandoned"
        assert len([frame for frame in client.frames if "done" in frame]) == 1
        await page.html_until('<i data-event="closed"></i>')
    call = await in_database(ToolCallRecord.unscoped.get)
    assert call.state == "expired"
    assert not await in_database(Turn.unscoped.filter(status=TurnStatus.AWAITING_USER).exists)


def test_without_a_script_a_form_ends_a_conversation_and_the_page_says_so(user: User) -> None:
    session = session_services.open_session(user_id=user.pk, kind=SessionKind.OPEN_DAY)
    client = browser_of(user)
    menu = f"/chat/{session.id}/menu/"
    assert 'name="do" value="end"' in client.get(menu).content.decode()
    answer = client.post(f"/chat/{session.id}/message/", {"do": "end"}, follow=True)
    assert answer.redirect_chain == [(f"/chat/{session.id}/#ending", 303)]
    page = answer.content.decode()
    assert "You ended this conversation." in page
    assert 'value="end"' not in client.get(menu).content.decode()
    again = client.post(f"/chat/{session.id}/message/", {"do": "end"})
    assert again.status_code == 422
    assert "has already ended" in again.content.decode()


def test_over_a_limit_a_form_keeps_its_text_and_says_when_to_send_it_again(user: User) -> None:
    busy = [open_conversation(user) for _ in range(2)]
    for session in busy:
        say(session)
    session = open_conversation(user)
    client = browser_of(user)
    answer = client.post(f"/chat/{session.id}/message/", {"text": "a third one"})
    assert (answer.status_code, answer["Retry-After"]) == (429, "5")
    page = answer.content.decode()
    assert "already answering in 2 conversations" in page
    assert "a third one</textarea>" in page


@pytest.mark.slow
@pytest.mark.parametrize("question", [PILLS, PULSE, STEP], ids=lambda question: str(question.name))
async def test_no_value_in_a_frame_closes_the_socket(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, question: ToolUse
) -> None:
    practice.script([Reply.of(question)])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Hello")
        await client.until("done")
        for odd in ODD:
            values = (odd, [odd], {"accept": True, "input": {"title": odd}}, {"ratings": {"career": odd}})
            for frame in (
                *({"type": "message", "text": "Hi", name: odd} for name in ("text", "id", "documents")),
                *({"type": "answer", "toolUseId": question.id, "value": value} for value in values),
                {"type": "answer", "toolUseId": odd, "value": "Fine"},
                {"type": "step", "id": odd, "action": "edit", "input": odd},
                {"type": "step", "id": 1, "action": odd},
                {"type": "choose", "turn": odd},
                {"type": odd},
            ):
                await asyncio.sleep(1 / FRAMES_PER_SECOND)
                await client.send(**frame)
                assert "error" in (await client.until("error"))[-1], frame
