"""Summaries of sessions that go on: written once their person is silent, and taken back."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.context.brief_lines import corrected_text
from coaching.job_queue.names import SUMMARY_JOB
from coaching.job_queue.sessions import SUMMARY_WAIT_SECONDS, enqueue_open_summary
from coaching.jobs.summaries import REQUEST, cleaned_summary
from coaching.live.runner import Runner
from coaching.practice import PracticeServer
from coaching.safety.card import metadata_of
from coaching.turns.request import TurnRequest
from coaching.turns.second_looks import note_danger
from sessions_app import services
from sessions_app.brief_corrections import correct_brief
from sessions_app.database import in_database
from sessions_app.models import BriefCorrection, Session, SessionStatus
from sessions_app.summaries import give_summary
from sessions_app.verdicts import NewVerdict
from tests.jobs.conftest import WorkOff, add_turn, jobs_named, make_due, opened_session
from tests.stored_turns import new_turn

pytestmark = pytest.mark.django_db(transaction=True)

TOLD = ("My wife wants a divorce.", "When?", "On Sunday she told me.", "And you?", "I'll call her.", "Good.")
SUMMARY = "You talked about your divorce. You will call her on 2026-11-29."


async def told(user: User, *texts: str) -> Session:
    return await in_database(opened_session, user, *(texts or TOLD))


async def summarised(session: Session, work_off: WorkOff) -> Session:
    """Let the person be silent and the job run; return the session."""

    def be_silent() -> None:
        long_ago = timezone.now() - timedelta(seconds=SUMMARY_WAIT_SECONDS + 1)
        Session.unscoped.filter(id=session.id).update(last_active_at=long_ago)
        enqueue_open_summary(session.id)
        make_due()

    await in_database(be_silent)
    await work_off()
    return await in_database(Session.unscoped.get, id=session.id)


def asked(practice: PracticeServer) -> list[str]:
    """Return the texts of the requests for a summary."""
    contents = [each.body["messages"][-1]["content"] for each in practice.requests]
    return [str(content[0]["text"]) for content in contents if content[-1].get("text") == REQUEST]


async def test_three_messages_make_a_summary_and_later_ones_a_new_one(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    session = await told(user, *TOLD[:4])
    assert (await summarised(session, work_off)).summary == ""
    await in_database(add_turn, session, *TOLD[4:])
    practice.script([SUMMARY], key=REQUEST)
    now = await summarised(session, work_off)
    assert (now.summary, now.summary_covers, now.status) == (SUMMARY, 6, SessionStatus.ACTIVE)
    assert (await summarised(session, work_off)).summary_covers == 6
    assert len(asked(practice)) == 1, "nothing was said since"
    await in_database(add_turn, session, "She hung up.", "That hurts.")
    practice.script(["She hung up."], key=REQUEST)
    now = await summarised(session, work_off)
    assert (now.summary, now.summary_covers) == ("She hung up.", 8)


async def test_a_turn_queues_it_and_it_waits_while_the_person_talks(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    session = await told(user)
    runner = Runner()
    await runner.open_turn(
        TurnRequest(kind="message", user_id=user.pk, session_id=session.id, text="And one more thing.")
    )
    assert await runner.wait_until_idle(session.id, seconds=90)
    await runner.follow_ups.finish()
    assert len(await jobs_named(SUMMARY_JOB)) == 1
    await in_database(make_due)
    await work_off()
    jobs = await jobs_named(SUMMARY_JOB)
    assert [job.status for job in jobs] == ["succeeded", "todo"]
    assert asked(practice) == []
    await runner.drain(0)


async def test_turns_in_danger_are_left_out_and_danger_that_is_seen_late_takes_it_back(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    dark = ("I want to die.", "Are you safe now?", "They'd be fine.", "I worry.")
    session = await told(user, *TOLD, *dark)

    def screen() -> Any:
        row = session.messages.get(content="I want to die.")
        row.metadata = metadata_of(row.content)
        row.save()
        return session.messages.get(content="They'd be fine.")

    late = await in_database(screen)
    practice.script([f"{SUMMARY} You want to kill yourself."], key=REQUEST)
    now = await summarised(session, work_off)
    assert (now.summary, now.summary_covers) == (SUMMARY, 10)
    (text,) = asked(practice)
    assert "want to die" not in text
    assert "Are you safe now?" not in text
    assert "They'd be fine." in text
    await in_database(note_danger, late.pk, NewVerdict(level="concern", looked="concern"))
    assert (await in_database(Session.unscoped.get)).summary == ""
    assert (await summarised(session, work_off)).summary_covers == 10
    assert "They'd be fine." not in asked(practice)[-1]


async def test_an_edit_and_a_correction_take_it_back(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    session = await told(user)
    practice.script([SUMMARY, SUMMARY], key=REQUEST)
    await summarised(session, work_off)
    of: Any = {"user_id": user.pk, "session_id": session.id}
    struck = "You will call her on 2026-11-29"
    await in_database(correct_brief, **of, words="", line=struck, is_strike=True, finish=corrected_text)
    assert (await in_database(Session.unscoped.get)).summary == ""
    now = await summarised(session, work_off)
    assert now.summary == "You talked about your divorce."
    assert f"<struck>\n- {struck}\n</struck>" in asked(practice)[-1]
    await in_database(services.edit_message, new_turn(session), text="Never mind.", client_id=None)
    assert (await in_database(Session.unscoped.get)).summary == ""


async def test_a_summary_that_sage_gave_stays(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    session = await told(user)
    await in_database(give_summary, session, "You want quiet.")
    assert (await summarised(session, work_off)).summary == "You want quiet."
    assert asked(practice) == []


def test_a_struck_line_and_danger_are_no_part_of_a_summary() -> None:
    struck = BriefCorrection(kind="strike", line="Hannah is your sister [1]")
    text = "You rest at 3.5 hours. Your sister is Hannah! **You** want to kill yourself. You sleep."
    assert cleaned_summary(text, [struck]) == "You rest at 3.5 hours. You sleep."
