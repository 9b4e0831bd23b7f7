"""The second look: a card from a model that reads in parallel, which changes nothing else."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest
from django.utils import timezone

from coaching.model_client.patience import LOOK_SECONDS
from coaching.models import CaptureVerdict
from coaching.practice.faults.fault import Fault
from coaching.practice.judge import judge_by_labels
from coaching.practice.script import Hold, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from coaching.transcript.names import dom_id_of
from sessions_app.database import in_database
from sessions_app.leases import read_beats
from sessions_app.models import Message, ModelUsage, SafetyVerdict, Session, ToolCallRecord, UsagePurpose
from tests.live_sage import (
    FRAME_SECONDS,
    Frame,
    LiveSage,
    SharedSage,
    open_socket,
    start_web_process,
    stop_web_process,
)
from tests.sockets.test_safety import counted

pytestmark = pytest.mark.django_db(transaction=True)

HINT = "Ma ei tea, kas ma homme enam siin olen."
"""Danger without a word that the rules know: Estonian for "I don't know if I'll still be here tomorrow"."""
MODEL = "claude-haiku-5-5"
DOM_ID = dom_id_of("toolu_1")
CSRF = "c" * 32


@pytest.fixture(scope="module")
def shared_sage(django_db_setup: None) -> Iterator[SharedSage]:
    """A web process that takes second looks."""
    shared = SharedSage(SAGE_SAFETY_MODEL=MODEL)
    yield shared
    shared.stop()


async def verdicts() -> list[tuple[int, str, str]]:
    rows = SafetyVerdict.unscoped.order_by("message__number")
    return await in_database(lambda: list(rows.values_list("message__number", "level", "looked")))


async def until_judged(count: int = 1) -> list[tuple[int, str, str]]:
    """Wait until so many verdicts are stored; return them."""
    async with asyncio.timeout(FRAME_SECONDS):
        while len(stored := await verdicts()) < count:  # noqa: ASYNC110 - another process stores them
            await asyncio.sleep(0.02)
    return stored


def request_text(practice: PracticeServer, place: int) -> str:
    """Return what a turn's request holds in its newest message."""
    turns = [seen.body for seen in practice.requests if seen.body.get("tools")]
    content: Any = turns[place]["messages"][-1]["content"]
    return "\n".join(block.get("text", "") for block in content)


@pytest.mark.slow
async def test_a_hint_gets_its_card_in_every_tab_while_the_answer_waits(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, in_germany: None
) -> None:
    practice.judge = judge_by_labels({HINT: "immediate"})
    practice.script([Reply.of(Hold("before"), Text("I'm here."))])
    async with (
        open_socket(live_sage, session.id, cookie) as writer,
        open_socket(live_sage, session.id, cookie) as reader,
        open_socket(live_sage, session.id, cookie, subprotocols=()) as page,
    ):
        await page.html_of_sync()
        await writer.until("sync")
        await reader.until("sync")
        await writer.send(type="message", text=HINT)
        card = (await writer.until("safety"))[-1]["safety"]
        assert (await reader.until("safety"))[-1]["safety"] == card
        html = await page.html_until('id="card-message-1"')
        assert 'hx-swap-oob="afterend:#message-1"' in html
        practice.release("before")
        frames = await writer.until("done")
        await page.html_until("Immediate danger noticed in your message (")
    assert not any("safety" in frame for frame in frames)
    assert (card["level"], card["message"], card["country"]) == ("immediate", 1, "DE")
    assert await verdicts() == [(1, "immediate", "immediate")]
    assert await counted() == [("immediate", 1)]
    usage = await in_database(ModelUsage.unscoped.get, purpose=UsagePurpose.SAFETY)
    verdict = await in_database(SafetyVerdict.unscoped.get)
    assert (usage.model, verdict.model, verdict.usage_id) == (MODEL, MODEL, usage.pk)
    assert (await in_database(Message.unscoped.earliest, "id")).metadata.get("safety") is None


async def test_it_may_follow_the_end_and_comes_a_second_after_the_message_at_most(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.judge = judge_by_labels({HINT: "concern"}, seconds=0.6)
    practice.script(["A short answer."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        sent = time.monotonic()
        await client.send(type="message", text=HINT)
        frames = await client.until("done")
        assert not any("safety" in frame for frame in frames)
        await client.until("safety")
        waited = time.monotonic() - sent
    assert waited >= 0.6
    assert waited < FRAME_SECONDS / 10, "the bench has the second of the specification"
    assert await verdicts() == [(1, "concern", "concern")]


@pytest.mark.slow
async def test_what_came_too_late_for_the_request_is_told_with_the_next_message_and_only_once(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, in_germany: None
) -> None:
    practice.judge = judge_by_labels({HINT: "immediate"})
    practice.script(["Hello.", "I'm glad you're here.", "Good."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text=HINT)
        await until_judged(1)
        await client.until("done")
        await client.send(type="message", text="Anyway, how do I plan tomorrow?")
        await client.until("done")
        await client.send(type="message", text="And the day after?")
        await client.until("done")
    await until_judged(3)  # the next test's faults are for its own looks
    first, second, third = (request_text(practice, place) for place in range(3))
    assert "<help_lines" not in first
    assert '<help_lines country="DE" shown="yes">' in second
    assert '<skill name="crisis-support">' in second
    assert "<offer" not in second
    newest = third.rpartition("And the day after?")[0].rpartition("\n\n")[2]
    assert "<help_lines" not in newest


@pytest.mark.parametrize("kind", ["status", "broken_json", "cut"])
async def test_an_outage_of_it_changes_nothing_else(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, kind: Any
) -> None:
    practice.look_faults.push(Fault(kind=kind))
    practice.script(["Good."])
    frames = await _said(live_sage, session, cookie, practice, HINT)
    assert frames[-1]["done"]["stopReason"] == "end_turn"
    assert await until_judged() == [(1, "none", "failed")]
    assert await counted() == []


@pytest.mark.parametrize("text", ["", "maybe?", '{"level": "lots"}', "[]", '{"level": ["none"]}'])
async def test_a_nonsense_answer_changes_nothing_else(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, text: str
) -> None:
    practice.judge = lambda _: Reply.of(Text(text or " "))
    practice.script(["Good."])
    frames = await _said(live_sage, session, cookie, practice, HINT)
    assert frames[-1]["done"]["stopReason"] == "end_turn"
    assert await until_judged() == [(1, "none", "nonsense")]
    assert practice.judged == [HINT, HINT], "it is asked for once more"


async def test_a_look_that_is_understood_the_second_time_counts(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    answers = iter(["I think it is serious.", '```json\n{"level": "immediate", "about": "self"}\n```'])
    practice.judge = lambda _: Reply.of(Text(next(answers)))
    practice.script(["Good."])
    await _said(live_sage, session, cookie, practice, HINT)
    assert await until_judged() == [(1, "immediate", "immediate")]
    usage = await in_database(lambda: ModelUsage.unscoped.get(purpose=UsagePurpose.SAFETY))
    assert usage.output_tokens > 10, "both answers are paid for"


@pytest.mark.slow
async def test_a_look_that_hangs_is_given_up_and_the_trace_says_so(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.judge = lambda _: Reply.of(Hold("never"), Text("{}"))
    practice.script([Reply.of(Hold("before"), Text("Good."))])
    async with (
        open_socket(live_sage, session.id, cookie) as client,
        open_socket(live_sage, session.id, cookie, subprotocols=()) as page,
    ):
        await page.html_of_sync()
        await client.until("sync")
        await client.send(type="message", text=HINT)
        assert await until_judged() == [(1, "none", "given_up")]
        owners = await in_database(read_beats)
        assert {owner.split(":")[1] for owner in owners} == {str(live_sage.process.pid)}
        practice.release("before")
        await page.html_until("Given up because it took too long (")
    verdict = await in_database(SafetyVerdict.unscoped.get)
    assert verdict.milliseconds >= LOOK_SECONDS * 1000 - 100


async def test_a_drain_doesn_t_wait_for_a_look(
    practice: PracticeServer, live_sage: LiveSage, session: Session, cookie: str, shared_sage: SharedSage
) -> None:
    practice.judge = lambda _: Reply.of(Hold("never"), Text("{}"))
    practice.script(["Good."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text=HINT)
        await client.until("done")
        await practice.reached("never")
        began = time.monotonic()
        await asyncio.to_thread(stop_web_process, live_sage)
        assert live_sage.process.poll() is not None
        assert time.monotonic() - began < 10
    shared_sage.stop()
    assert await verdicts() == []
    assert LOOK_SECONDS < 5


@pytest.mark.slow
async def test_what_the_rules_took_for_a_concern_is_raised_in_place_and_counted_once(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    words = "I wish I could disappear."
    practice.judge = judge_by_labels({words: "immediate"})
    practice.script(["I'm here."])
    async with (
        open_socket(live_sage, session.id, cookie) as client,
        open_socket(live_sage, session.id, cookie, subprotocols=()) as page,
    ):
        await page.html_of_sync()
        await client.until("sync")
        await client.send(type="message", text=words)
        assert (await client.until("safety"))[-1]["safety"]["level"] == "concern"
        assert (await client.until("safety"))[-1]["safety"]["level"] == "immediate"
        await page.html_until('hx-swap-oob="innerHTML:#card-message-1"')
    assert await counted() == [("concern", 1)]


@pytest.mark.slow
async def test_clear_danger_and_a_message_that_was_looked_at_ask_nobody(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.faults.push(Fault(kind="status", status=400))
    practice.script(["Good.", "I'm here."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Good morning.")
        await client.until("done")
        await until_judged(1)
        await client.send(type="retry")
        await client.until("done")
        await client.send(type="message", text="I want to die.")
        await client.until("done")
        await client.send(type="message", text="Thank you.")
        await client.until("done")
        async with asyncio.timeout(FRAME_SECONDS):
            while "Thank you." not in practice.judged:  # noqa: ASYNC110 - another process asks
                await asyncio.sleep(0.02)
    assert practice.judged == ["Good morning.", "Thank you."]


@pytest.mark.slow
async def test_sage_s_own_tool_shows_the_card_beside_the_message_and_returns_the_lines(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, in_germany: None
) -> None:
    practice.judge = judge_by_labels({})
    call = ToolUse("show_help_lines", {"reason": "immediate"}, id="toolu_help")
    practice.script([Reply.of(call), "Please call 112 now.", "Good."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text=HINT)
        card = (await client.until("safety"))[-1]["safety"]
        await client.until("done")
        await client.send(type="message", text="Thanks.")
        await client.until("done")
    assert (card["level"], card["message"]) == ("immediate", 1)
    turns = [seen.body for seen in practice.requests if seen.body.get("tools")]
    result = str(turns[1]["messages"][-1]["content"])
    assert "0800 1110111" in result
    assert "<help_lines" not in str(turns[2]["messages"][-1]["content"]), "Sage knows: it called the tool"
    assert await counted() == [("immediate", 1)]


async def _said(
    sage: LiveSage, session: Session, cookie: str, practice: PracticeServer, words: str
) -> list[Frame]:
    """Send a message, wait until it was answered and looked at, and return the frames of its turn."""
    async with open_socket(sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text=words)
        frames = await client.until("done")
        await practice.wait_until(
            lambda seen: any(not each.body.get("tools") and each.finished_at is not None for each in seen)
        )
        assert not any("safety" in frame for frame in frames)
        return frames


async def test_words_in_an_answer_are_looked_at_with_the_question_and_the_card_follows_them(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    practice.judge = judge_by_labels({HINT: "immediate"})
    asked = ToolUse("show_pulse_check", {"context": "How is work?", "domains": ["career"]}, id="toolu_1")
    practice.script([Reply.of(asked), Reply.of(Hold("before"), Text("I'm here."))])
    async with (
        open_socket(live_sage, session.id, cookie) as client,
        open_socket(live_sage, session.id, cookie, subprotocols=()) as page,
    ):
        await client.until("sync")
        await page.html_of_sync()
        await client.send(type="message", text="Hello")
        await client.until("done")
        value = {"ratings": {"career": 1}, "note": HINT}
        await client.send(type="answer", toolUseId="toolu_1", value=value)
        card = (await client.until("safety"))[-1]["safety"]
        html = await page.html_until(f'id="safety-{DOM_ID}"')
        practice.release("before")
        await client.until("done")
    assert (card["level"], card["toolUseId"], card["message"]) == ("immediate", "toolu_1", None)
    assert html.count(f'hx-swap-oob="beforeend:#{DOM_ID}"') == 1
    call = await in_database(ToolCallRecord.unscoped.get)
    assert call.metadata["safety"]["level"] == "immediate"
    assert (call.metadata["second_look"]["level"], call.metadata["second_look"]["rules"]) == (
        "immediate", "none",
    )  # fmt: skip
    questions = [
        seen.body["messages"][-1]["content"] for seen in practice.requests if "tools" not in seen.body
    ]
    assert any("<sage>\nHow is work?\n</sage>" in str(text) for text in questions)
    assert await counted() == [("immediate", 1)]


async def test_the_page_of_a_capture_fetches_the_card_that_a_look_has_made(
    live_sage: LiveSage, practice: PracticeServer, cookie: str, in_germany: None
) -> None:
    practice.judge = judge_by_labels({HINT: "immediate"})
    form = {"text": HINT, "id": "c1", "then": "", "csrfmiddlewaretoken": CSRF}
    headers = {"Cookie": f"{cookie}; csrftoken={CSRF}", "HX-Request": "true"}
    async with aiohttp.ClientSession(base_url=live_sage.origin, headers=headers) as web:
        async with web.post("/capture/", data=form) as part:
            assert part.status == 200
            shown = await part.text()
        assert "safety-card" not in shown
        async with asyncio.timeout(FRAME_SECONDS):
            while "safety-card" not in shown:
                assert 'hx-get="/capture/look/"' in shown, "it goes on asking while the look goes on"
                async with web.get("/capture/look/") as answer:
                    shown = await answer.text()
        assert 'hx-get="/capture/look/"' not in shown
        assert "112" in shown
        async with web.get("/capture/look/") as answer:
            assert "safety-card" not in await answer.text(), "it is shown once"


@pytest.mark.slow
async def test_a_capture_whose_process_is_killed_is_looked_at_by_the_next_one(
    practice: PracticeServer, live_sage: LiveSage, cookie: str
) -> None:
    practice.judge = lambda _: Reply.of(Hold("never"), Text("{}"))
    form = {"text": HINT, "id": "c1", "then": "", "csrfmiddlewaretoken": CSRF}
    headers = {"Cookie": f"{cookie}; csrftoken={CSRF}", "HX-Request": "true"}
    async with (
        aiohttp.ClientSession(base_url=live_sage.origin, headers=headers) as web,
        web.post("/capture/", data=form) as part,
    ):
        assert part.status == 200
    await practice.reached("never")
    live_sage.process.kill()
    await asyncio.to_thread(live_sage.process.wait)
    lost = await in_database(CaptureVerdict.unscoped.get)
    assert (lost.level, lost.looked) == ("none", "")
    practice.judge = judge_by_labels({HINT: "immediate"})
    await in_database(CaptureVerdict.unscoped.filter(pk=lost.pk).update, look_due_at=timezone.now())
    successor = await asyncio.to_thread(
        lambda: start_web_process(practice_port=live_sage.practice_port, SAGE_SAFETY_MODEL=MODEL)
    )
    try:
        async with asyncio.timeout(FRAME_SECONDS):
            while not (row := await in_database(CaptureVerdict.unscoped.get)).looked:  # noqa: ASYNC110 - it stores it
                await asyncio.sleep(0.05)
        assert (row.level, row.looked) == ("immediate", "immediate")
        async with (
            aiohttp.ClientSession(base_url=successor.origin, headers=headers) as web,
            web.get("/capture/look/") as answer,
        ):
            assert "safety-card" in await answer.text()
    finally:
        await asyncio.to_thread(stop_web_process, successor)
