"""What people tap, rate and confirm goes into briefs, titles and summaries as their words."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import override

from coaching.job_queue.sessions import enqueue_brief, enqueue_summary
from coaching.jobs import briefs, summaries, titles
from coaching.live.runner import Runner
from coaching.models import Profile, PulseRating
from coaching.practice import PracticeServer
from coaching.practice.script import Reply, ToolUse
from coaching.turns.request import TurnRequest
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import Session, SessionBrief, SessionStatus, ToolCallRecord
from tests.jobs.conftest import WorkOff, add_turn, enqueue_title, make_due
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db(transaction=True)

OPTIONS = {
    "prompt": "How was the night?",
    "options": [{"label": "Short, again", "value": "short"}, {"label": "Fine", "value": "fine"}],
}
PULSE = {"context": "Where are you now?", "domains": ["health", "career", "finances"]}
STEP = {"title": "Call Mia", "quote": "Maybe I call Mia", "due_date": "2027-01-08"}


async def opened(user: User) -> Session:
    await in_database(Profile.unscoped.get_or_create, user=user)
    return await in_database(open_conversation, user)


async def say(runner: Runner, session: Session, text: str) -> None:
    await runner.open_turn(
        TurnRequest(kind="message", user_id=session.user_id, session_id=session.id, text=text)
    )
    assert await runner.wait_until_idle(session.id, seconds=90)


async def asked_with(
    runner: Runner, practice: PracticeServer, session: Session, name: str, given: Any, value: Any
) -> None:
    """Let Sage ask with a tool, and the user answer."""
    practice.script([Reply.of("Let me ask.", ToolUse(name, given, id=f"toolu_{name}")), "I see."])
    await say(runner, session, "Good morning.")
    await runner.answer_call(
        user_id=session.user_id, session_id=session.id, tool_use_id=f"toolu_{name}", value=value
    )
    assert await runner.wait_until_idle(session.id, seconds=90)
    await runner.follow_ups.finish()


def sent(practice: PracticeServer, request: str) -> list[str]:
    """Return the first text of each request that ends with these words."""
    contents = [each.body["messages"][-1]["content"] for each in practice.requests]
    return [str(content[0]["text"]) for content in contents if content[-1].get("text") == request]


@pytest.mark.parametrize(
    ("name", "given", "value", "words"),
    [
        ("show_options", OPTIONS, "short", "Tapped: Short, again"),
        (
            "show_pulse_check",
            PULSE,
            {"ratings": {"health": 2, "career": 4}, "note": "The nights decide it all."},
            "Health 2 (3 before), Career 4 (for the first time). Their note: The nights decide it all.",
        ),
        (
            "create_action_item",
            STEP,
            {"accept": True},
            "Said yes to “Shall I note this as your next step?”: Next step: Call Mia; Due: Friday, 8 January",
        ),
        (
            "create_action_item",
            STEP,
            {"accept": True, "input": {"title": "Write to Mia", "due_date": ""}},
            "Next step: Write to Mia (changed by them, it was: Call Mia); Due: empty (changed by them",
        ),
        ("create_action_item", STEP, {"accept": False}, "Said no to “"),
    ],
)
async def test_an_answer_is_the_persons_words_in_each_of_the_three(
    user: User, practice: PracticeServer, work_off: WorkOff, name: str, given: Any, value: Any, words: str
) -> None:
    session = await opened(user)
    rated = {"domain": "health", "rating": 3, "rated_at": timezone.now()}
    await in_database(PulseRating.unscoped.create, user=user, **rated)
    runner = Runner()
    with override("de"):  # what a model reads is English, whoever caused it
        await asked_with(runner, practice, session, name, given, value)
        await in_database(
            session_services.end_session,
            user_id=user.pk,
            session_id=session.id,
            status=SessionStatus.COMPLETED,
        )
        await in_database(enqueue_summary, session.id)
        await in_database(make_due)
        await work_off()
    for request, tag in (
        (briefs.REQUEST, ' as="answer">'),
        (titles.REQUEST, '<said by="person">'),
        (summaries.REQUEST, '<said by="person">'),
    ):
        (text,) = sent(practice, request)
        before, found, after = text.partition(words)
        assert found, text
        assert before.rsplit("\n", 2)[-2].endswith(tag)
        assert "Let me ask." in before
        assert "I see." in after
    if "prompt" in given:
        assert "Let me ask.\nHow was the night?\n</said>" in text
    await runner.drain(0)


async def test_an_opening_that_was_only_tapped_gets_a_title(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    session = await opened(user)
    runner = Runner()
    await asked_with(runner, practice, session, "show_options", OPTIONS, "short")
    await in_database(session.messages.filter(role="user").update, metadata={"is_hidden": True})
    await in_database(Session.unscoped.update, title="")
    practice.script(["Short nights"], key=titles.REQUEST)
    await in_database(enqueue_title, session)
    await work_off()
    assert (await in_database(Session.unscoped.get)).title == "Short nights"
    await runner.drain(0)


async def test_a_question_that_was_not_answered_is_no_answer(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    session = await opened(user)
    runner = Runner()
    practice.script([Reply.of("Let me ask.", ToolUse("show_options", OPTIONS)), "All right."])
    for text in ("Good morning.", "Something else."):
        await say(runner, session, text)
    await runner.follow_ups.finish()
    await in_database(make_due)
    await work_off()
    assert "Tapped" not in "".join(sent(practice, briefs.REQUEST))
    await runner.drain(0)


@pytest.mark.parametrize("has_answer", [True, False])
async def test_a_brief_that_was_written_without_answers_is_written_anew_once_its_person_writes(
    user: User, practice: PracticeServer, work_off: WorkOff, has_answer: bool
) -> None:
    session = await opened(user)
    runner = Runner()
    if has_answer:
        await asked_with(runner, practice, session, "show_options", OPTIONS, "short")
    else:
        await in_database(add_turn, session, "Good morning.", "I see.")
    old = {"version": 1, "text": "- You said good morning [1]", "covers_from": 1, "covers_until": 2}
    await in_database(SessionBrief.unscoped.create, session=session, **old)
    await in_database(Session.unscoped.update, brief_covers=2)
    for text in ("And now?", "And then?"):
        await in_database(add_turn, session, text, "Let us see.")
        await in_database(enqueue_brief, session)
        await in_database(make_due)
        await work_off()
    first, second = sent(practice, briefs.REQUEST)[-2:]
    assert ("Tapped: Short, again" in first) is has_answer
    assert ("You said good morning [1]" in first) is not has_answer
    assert "Tapped: Short, again\n</said>" not in second, "the next one starts from that version"
    newest = await in_database(SessionBrief.unscoped.order_by("-version").first)
    assert newest is not None
    assert newest.input_version == briefs.INPUT_VERSION
    if has_answer:
        assert await in_database(ToolCallRecord.unscoped.filter(value="short").exists)
        assert "- You answered: “Tapped: Short, again” [2]" in newest.text
    await runner.drain(0)
