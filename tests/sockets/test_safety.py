"""The safety card on the socket: immediately, in every tab, despite other failures."""

import asyncio
import json
import uuid
from html import escape

import aiohttp
import psycopg
import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.backends.cache import SessionStore
from django.db import connection
from django.utils import timezone

from coaching.events import ErrorShown, MessageStored, SafetyShown
from coaching.live.following import read_news
from coaching.live.hub import IDLE, SessionHub
from coaching.models import CardCount
from coaching.people.socket_access import FrameBudget
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from coaching.sockets import consumers
from sessions_app import services, session_services
from sessions_app.database import in_database
from sessions_app.limits import RateLimit
from sessions_app.models import Message, Session, SessionStatus, ToolCallRecord
from tests.live_sage import FRAME_SECONDS, Frame, LiveSage, asyncio_timeout, open_socket
from tests.stored_turns import new_turn, open_conversation

pytestmark = pytest.mark.django_db(transaction=True)

DANGER = "I want to die."
PULSE = ToolUse("show_pulse_check", {"domains": ["career"]}, id="toolu_pulse")


def card_in(frames: list[Frame]) -> Frame:
    cards = [frame["safety"] for frame in frames if "safety" in frame]
    assert len(cards) == 1
    card: Frame = cards[0]
    return card


async def counted() -> list[tuple[str, int]]:
    return await in_database(lambda: list(CardCount.objects.values_list("level", "shown")))


async def until_counted(*expected: tuple[str, int]) -> None:
    """Wait for the counts of refused messages, which are written after the response."""
    async with asyncio.timeout(FRAME_SECONDS):
        while await counted() != list(expected):  # noqa: ASYNC110  # another process counts
            await asyncio.sleep(0.02)


async def test_the_card_comes_before_the_model_says_a_word_and_in_every_tab(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, in_germany: User
) -> None:
    practice.script([Reply.of(Hold("before"), Text("I'm here."))])
    async with (
        open_socket(live_sage, session.id, cookie) as writer,
        open_socket(live_sage, session.id, cookie) as reader,
        open_socket(live_sage, session.id, cookie, subprotocols=()) as page,
    ):
        await page.html_of_sync()
        await writer.until("sync")
        await reader.until("sync")
        await writer.send(type="message", text=DANGER)
        card = card_in(await writer.until("safety"))
        assert card_in(await reader.until("safety")) == card
        html = await page.html_until('id="card-message-1"')
        practice.release("before")
        frames = await writer.until("done")
    assert not any("safety" in frame for frame in frames)
    assert (await in_database(Session.unscoped.get, id=session.id)).title == "", "danger on every list"
    lines = card.pop("lines")
    assert card == {
        "level": "immediate", "about": "self", "topic": "life", "message": 1, "toolUseId": None,
        "country": "DE", "page": "/safety/",
    }  # fmt: skip
    assert [line["phone"] for line in lines][:3] == ["112", "110", "0800 1110111"]
    assert 'role="alert"' in html
    assert 'href="tel:08001110111"' in html
    assert await counted() == [("immediate", 1)]


async def test_calm_words_get_no_card_and_count_nothing(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script(["Good."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="This deadline is killing me, I'd kill for a coffee.")
        frames = await client.until("done")
    assert not any("safety" in frame for frame in frames)
    assert (await in_database(Message.unscoped.earliest, "id")).metadata.get("safety") is None
    assert await counted() == []


async def test_it_is_there_when_the_model_can_t_be_reached_and_again_but_not_counted_twice_on_a_retry(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.faults.push(Fault(kind="status", status=400))
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text=DANGER)
        frames = await client.until("done")
        assert [next(iter(frame)) for frame in frames][:2] == ["message", "safety"]
        practice.script(["I'm here."])
        await client.send(type="retry")
        assert card_in(await client.until("done"))["message"] == 1
    assert await counted() == [("immediate", 1)]


async def test_refused_words_get_it_too_and_only_who_wrote_them_sees_it(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of("Let me ", Hold("middle"), "think.")])
    async with (
        open_socket(live_sage, session.id, cookie) as writer,
        open_socket(live_sage, session.id, cookie) as reader,
    ):
        await reader.until("sync")
        await writer.until("sync")
        await writer.send(type="message", text="Hello")
        await practice.reached("middle")
        await writer.send(type="message", text=DANGER)
        told = await writer.until("error")
        card = card_in(told)
        practice.release("middle")
        await writer.until("done")
        frames = await reader.until("done")
    assert (card["message"], card["toolUseId"]) == (None, None)
    assert "still answering" in told[-1]["error"]
    assert not any("safety" in frame for frame in frames)
    assert await in_database(Message.unscoped.filter(content=DANGER).count) == 0
    await until_counted(("immediate", 1))


async def test_words_under_the_id_of_another_message_are_refused_and_get_it_too(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script(["Hello."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Hello", id="same")
        await client.until("done")
        for text in (DANGER, f"{DANGER} {'x' * 2_000}"):
            await client.send(type="message", text=text, id="same")
            told = await client.until("error")
            assert card_in(told)["level"] == "immediate"
            assert "already sent, with other words" in told[-1]["error"]
    await until_counted(("immediate", 2))


async def test_without_a_script_they_stay_in_the_form_with_a_new_id(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script(["Rest, then.", "I'm here."])
    headers = {"Cookie": cookie, "Origin": live_sage.origin, "Referer": f"{live_sage.origin}/"}
    address = f"{live_sage.origin}/chat/{session.id}/"
    async with aiohttp.ClientSession(headers=headers) as browser:
        page = await (await browser.get(address)).text()
        form = {"csrfmiddlewaretoken": value_in(page, "csrfmiddlewaretoken"), "id": "same"}
        await browser.post(f"{address}message/", data=form | {"text": "I'm tired."})
        response = await browser.post(f"{address}message/", data=form | {"text": DANGER})
        refused = await response.text()
        assert response.status == 422
        assert "already sent, with other words" in refused
        assert 'class="safety-card' in refused
        composer = refused[refused.index('id="composer"') :]
        assert f"{escape(DANGER)}</textarea>" in composer
        form["id"] = value_in(composer, "id")
        assert form["id"] != "same"
        await browser.post(f"{address}message/", data=form | {"text": DANGER})
    assert await in_database(Message.unscoped.filter(content=DANGER).count) == 1


def value_in(page: str, name: str) -> str:
    return page.split(f'name="{name}" value="')[1].split('"', maxsplit=1)[0]


async def test_words_too_long_to_be_sent_are_read_all_the_same(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        for text in (f"{DANGER} {'x' * 30_000}", f"{'x ' * 15_000}. {DANGER}"):
            await client.send(type="message", text=text)
            assert card_in(await client.until("error"))["level"] == "immediate"
    await until_counted(("immediate", 2))  # otherwise the second is counted in the next test


async def test_a_note_with_ratings_and_an_edited_message_have_their_cards(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(PULSE), "Thank you.", "I'm here."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Hello")
        await client.until("done")
        await client.send(
            type="answer",
            toolUseId="toolu_pulse",
            value={"ratings": {"career": 1}, "note": "I wish I could disappear."},
        )
        frames = await client.until("done")
        assert next(iter(frames[0])) == "answered"
        assert frames[1]["safety"]["toolUseId"] == "toolu_pulse"
        assert frames[1]["safety"]["level"] == "concern"
        await client.send(type="edit", text="My brother said he wants to die.")
        card = card_in(await client.until("done"))
    assert (card["about"], card["message"]) == ("other", 3)
    call = await in_database(ToolCallRecord.unscoped.get)
    assert call.metadata == {"safety": {"level": "concern", "about": "self", "topic": "life"}}
    assert await counted() == [("concern", 2)]


async def test_who_writes_in_a_conversation_that_has_ended_has_it_too_once_and_counted_once(
    live_sage: LiveSage, practice: PracticeServer, user: User, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(Hold("before"), Text("I'm here."))])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await in_database(
            session_services.end_session,
            user_id=user.pk,
            session_id=session.id,
            status=SessionStatus.ABANDONED,
        )
        await client.send(type="message", text=DANGER)
        frames = await client.until("continued")
    elsewhere = frames[-1]["continued"]["session"]
    async with open_socket(live_sage, elsewhere, cookie) as client:
        await client.until("sync")
        practice.release("before")
        await client.until("done")
    assert (card_in(frames)["level"], card_in(frames)["message"]) == ("immediate", None)
    assert await counted() == [("immediate", 1)]


async def test_of_an_answer_to_tap_the_words_count_that_are_read(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    options = [{"label": "I don't want to be alive", "value": "c"}, {"label": "I'm all right"}]
    practice.script([Reply.of(ToolUse("show_options", {"options": options}, id="toolu_tap")), "I'm here."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Hello")
        await client.until("done")
        await client.send(type="answer", toolUseId="toolu_tap", value="c")
        assert card_in(await client.until("done"))["toolUseId"] == "toolu_tap"


async def test_without_a_database_it_is_there_at_once_with_the_lines_of_the_browsers_country(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def gone(**options: object) -> None:
        asked.append(options)
        raise psycopg.OperationalError("gone")

    monkeypatch.setattr(psycopg, "connect", gone)
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", {})  # and no pool with open connections
    consumer = consumers.SessionConsumer()
    consumer.scope = {"session": SessionStore(), "cookies": {"sage_timezone": "Europe/Paris"}}
    consumer.session_id, consumer.user_id = uuid.uuid4(), 1
    consumer.budget, consumer.subscription = FrameBudget(), SessionHub().subscribe()
    await asyncio_timeout(consumer.subscription.next_batch())
    await consumer.receive(text_data=json.dumps({"type": "message", "text": DANGER}))
    card, refusal = await asyncio_timeout(consumer.subscription.next_batch())
    assert isinstance(card, SafetyShown)
    assert (card.card.offer.country, card.card.offer.emergency[0].dialled) == ("FR", "112")
    assert refusal == ErrorShown(message=consumers.NO_ANSWER)
    assert len(asked) == 1, "nothing waits for a second answer"


async def test_the_page_without_a_script_shows_it_without_waiting_for_the_answer(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([Reply.of(Hold("before"), Text("I'm here."))])
    headers = {"Cookie": cookie, "Origin": live_sage.origin, "Referer": f"{live_sage.origin}/"}
    address = f"{live_sage.origin}/chat/{session.id}/"
    async with aiohttp.ClientSession(headers=headers) as browser:
        page = await (await browser.get(address)).text()
        token = page.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
        form = {"csrfmiddlewaretoken": token, "text": DANGER}
        response = await browser.post(f"{address}message/", data=form, allow_redirects=False)
        assert response.headers["Location"].endswith(f"{session.id}/#card-message-1")
        shown = await (await browser.get(address)).text()
    assert (
        shown.index('id="message-1"') < shown.index('id="safety-message-1"') < shown.index('id="open-turn"')
    )
    assert "This page reloads" in shown
    async with open_socket(live_sage, session.id, cookie) as reader:
        await reader.until("sync")
        practice.release("before")
        await reader.until("done")


@pytest.mark.parametrize("is_open", [True, False])
def test_tabs_of_another_process_read_it_from_the_database(user: User, is_open: bool) -> None:
    session = open_conversation(user)
    before = read_news(session.id, None, IDLE)
    opened = services.open_turn(
        new_turn(session, owner="elsewhere", rate_limit=RateLimit(turns=9, seconds=1)),
        text=DANGER,
        client_id=None,
        metadata={"safety": {"level": "immediate", "about": "self", "topic": "life"}},
    )
    if not is_open:
        type(opened.turn).unscoped.update(status="completed", ended_at=timezone.now())
    events = read_news(session.id, before.position.seq, before.sync).events
    assert [type(event) for event in events[:2]] == [MessageStored, SafetyShown]
    shown = events[1]
    assert isinstance(shown, SafetyShown)
    assert shown.number == 1


ASKED = "Are you thinking of killing yourself?"


async def test_a_yes_to_sage_s_question_is_immediate_and_a_no_is_none(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([ASKED, ASKED, "I'm here."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        for text, level in (("Hello", None), ("No. Only tired.", None), ("Yes. Every night.", "immediate")):
            await client.send(type="message", text=text)
            frames = await client.until("done")
            cards = [frame["safety"] for frame in frames if "safety" in frame]
            assert [card["level"] for card in cards] == ([level] if level else [])
    assert await counted() == [("immediate", 1)]


TONIGHT = "OK, I'll do it tonight"


@pytest.mark.parametrize(
    ("before", "said", "level"),
    [
        ("My tax letter is late", "You could open it and read one page. Shall we note that?", None),
        ("My tax letter is late", "How are you tonight?", "immediate"),
        ("I want to kill myself", "You could call a friend first. Shall we plan that?", "immediate"),
    ],
)
async def test_when_it_will_be_done_agrees_to_a_harmless_proposal_alone(
    live_sage: LiveSage,
    practice: PracticeServer,
    session: Session,
    cookie: str,
    before: str,
    said: str,
    level: str | None,
) -> None:
    practice.script([said, "I'm here."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text=before)
        await client.until("done")
        await client.send(type="message", text=TONIGHT)
        cards = [frame["safety"] for frame in await client.until("done") if "safety" in frame]
    assert [card["level"] for card in cards] == ([level] if level else [])


async def test_an_edited_answer_is_heard_with_the_question_before_it(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.script([ASKED, "Good.", "I'm here."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        for text in ("Hello", "No."):
            await client.send(type="message", text=text)
            await client.until("done")
        await client.send(type="edit", text="Yes.")
        assert card_in(await client.until("done"))["level"] == "immediate"


async def test_a_tapped_yes_is_heard_and_so_is_one_that_is_typed_instead(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    options = {"prompt": ASKED, "options": [{"label": "Yes"}, {"label": "No"}]}
    taps = [Reply.of(ToolUse("show_options", options, id=f"toolu_{number}")) for number in range(3)]
    practice.script([taps[0], taps[1], taps[2], "I'm here."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Hello")
        await client.until("done")
        await client.send(type="answer", toolUseId="toolu_0", value="No")
        assert not [frame for frame in await client.until("done") if "safety" in frame]
        await client.send(type="answer", toolUseId="toolu_1", value="Yes")
        card = card_in(await client.until("done"))
        assert (card["level"], card["toolUseId"]) == ("immediate", "toolu_1")
        await client.send(type="message", text="kind of")
        assert card_in(await client.until("done"))["level"] == "immediate"
