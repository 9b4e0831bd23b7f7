"""The letter of a month: written once, from the person's own words, and not for everybody."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import override_settings
from django.utils import timezone
from procrastinate.contrib.django import app

from coaching.job_queue.letters import enqueue_letter
from coaching.job_queue.names import LETTER_JOB
from coaching.letters.choice import switch_letters
from coaching.library.clients import own_client
from coaching.models import ActionItem, ActionState, CareEnd, Letter, Profile, UserFile, UserFileVersion
from coaching.practice import PracticeServer
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Reply
from sessions_app.database import in_database
from sessions_app.models import ModelUsage, Session, UsagePurpose
from sessions_app.organising import delete_session
from tests.jobs.conftest import WorkOff, jobs_named
from tests.letters.months import FIRST, OCTOBER, TOLD, add, at, october, talk, wanting

PATH = "letters/2026-10.md"

pytestmark = pytest.mark.django_db(transaction=True)


def answer(*quoted: tuple[int, str], text: str = "You wrote about the nights.") -> Reply:
    quotes = [{"words": words, "day": f"2026-10-{day:02d}"} for day, words in quoted]
    paragraphs = [{"kind": "recurs", "text": text, "quotes": [quote]} for quote in quotes]
    return Reply.of(json.dumps({"paragraphs": paragraphs}))


async def run(work_off: WorkOff, *, now: datetime = FIRST) -> None:
    """Let the periodic job run at a moment, and what it queues."""
    with time_machine.travel(now, tick=True):
        await in_database(app.configure_task("find_due_letters", allow_unknown=False).defer, timestamp=0)
        await work_off()


async def letters(user: User) -> Sequence[str]:
    versions = UserFileVersion.of(user.pk).filter(file__file_type="letter")
    return await in_database(lambda: list(versions.values_list("content", flat=True)))


async def row(user: User) -> Letter:
    return await in_database(lambda: Letter.of(user.pk).get(month=OCTOBER))


async def test_the_tour_writes_a_letter_from_the_persons_own_sentences(user: User, work_off: WorkOff) -> None:
    await in_database(october, user)
    await run(work_off)
    (body,) = await letters(user)
    assert "Dear Ada," in body
    assert "October 2026" in body
    assert f"> “{TOLD[0][1]}”  \n> 3 October" in body
    assert f"> “{TOLD[2][1]}”  \n> 28 October" in body
    letter = await row(user)
    assert letter.ended_at
    file = await in_database(lambda: UserFile.of(user.pk).get(path=PATH))
    assert letter.file_id == file.pk
    assert file.frontmatter == {
        "type": "letter",
        "date": "2026-10-01",
        "preview_line": f"“{TOLD[0][1]}”",
    }


async def test_a_letter_is_written_once_however_often_its_job_runs(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    await in_database(october, user)
    for day in range(3):
        await run(work_off, now=FIRST + timedelta(days=day))
    await in_database(enqueue_letter, user.pk, OCTOBER)
    with time_machine.travel(FIRST, tick=True):
        await work_off()
    assert len(practice.requests) == 1
    assert len(await letters(user)) == 1


async def test_a_letter_that_its_person_deletes_isnt_written_again(user: User, work_off: WorkOff) -> None:
    await in_database(october, user)
    await run(work_off)
    await in_database(lambda: UserFile.of(user.pk).filter(path=PATH).update(deleted_at=FIRST))
    await run(work_off, now=FIRST + timedelta(days=1))
    assert await letters(user) == []


async def test_what_it_costs_counts_for_its_person_under_a_purpose_of_its_own(
    user: User, work_off: WorkOff
) -> None:
    await in_database(october, user)
    await run(work_off)
    usage = await in_database(lambda: ModelUsage.of(user.pk).get())
    assert (usage.purpose, usage.session_id) == (UsagePurpose.LETTER, None)
    assert usage.input_tokens > 0


async def test_over_the_budget_it_waits_for_another_day(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    await in_database(october, user)
    spent = {"user": user, "model": "m", "input_tokens": 1_000, "purpose": UsagePurpose.TURN}
    usage = await in_database(lambda: ModelUsage.unscoped.create(**spent))
    await in_database(lambda: ModelUsage.unscoped.filter(pk=usage.pk).update(created_at=FIRST))
    with override_settings(SAGE_DAILY_TOKENS=1_000):
        await run(work_off)
        assert not practice.requests
        await run(work_off, now=FIRST + timedelta(days=1, hours=1))
    assert len(await letters(user)) == 1


@pytest.mark.parametrize("wants", [None, False])
async def test_nobody_gets_one_who_didnt_say_yes(
    user: User, practice: PracticeServer, work_off: WorkOff, wants: bool | None
) -> None:
    await in_database(october, user)
    await in_database(lambda: Profile.of(user.pk).update(wants_letters=wants))
    await run(work_off)
    await in_database(enqueue_letter, user.pk, OCTOBER)
    await work_off()
    assert not practice.requests


async def test_a_month_of_two_conversations_gets_none(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    await in_database(wanting, user)
    first = await in_database(talk, user, at(3), TOLD[0][1], TOLD[1][1])
    await in_database(talk, user, at(12), TOLD[2][1])
    await in_database(talk, user, at(1, month=11), "This is November.")
    await in_database(add, first, at(20), "And one more thing about the flat.")
    await run(work_off)
    assert not practice.requests
    assert (await row(user)).ended_at


async def test_a_month_with_little_gets_a_short_letter_that_says_so(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    await in_database(october, user)
    practice.script([answer((3, TOLD[0][1]), (3, "I am the happiest person alive."))])
    await run(work_off)
    (body,) = await letters(user)
    assert body.count("> “") == 1
    assert "It’s a short letter" in body


async def test_where_nothing_can_be_said_there_is_no_letter_and_no_second_try(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    await in_database(october, user)
    practice.script([answer((3, "I am the happiest person alive."))])
    await run(work_off)
    await run(work_off, now=FIRST + timedelta(days=1))
    assert await letters(user) == []
    assert len(practice.requests) == 1


async def test_in_care_nothing_is_written_and_once_it_ends_the_letter_comes(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    await in_database(october, user)
    await in_database(talk, user, at(31), "I want to kill myself.")
    await run(work_off)
    assert not practice.requests
    ended = {"user": user, "ended_at": FIRST, "how": "pressed"}
    await in_database(lambda: CareEnd.unscoped.create(**ended))
    await run(work_off, now=FIRST + timedelta(days=1))
    (body,) = await letters(user)
    assert "kill" not in body
    assert "kill" not in str(practice.requests[0].body)


@pytest.mark.parametrize("text", ["I want to kill myself.", ""])
async def test_what_changes_while_the_model_writes_counts(
    user: User, practice: PracticeServer, work_off: WorkOff, text: str
) -> None:
    """Danger holds the letter back; a deleted conversation takes its words along."""
    sessions = await in_database(october, user)
    whole = answer((3, TOLD[0][1])).blocks[0]
    practice.script([Reply((Hold("writing"), whole))])
    running = asyncio.create_task(run(work_off))
    await practice.reached("writing")
    if text:
        await in_database(add, sessions[1], FIRST, text)
    else:
        await in_database(delete_session, user_id=user.pk, session_id=sessions[0].pk)
    practice.release("writing")
    await running
    assert await letters(user) == []


async def test_a_failed_attempt_is_made_again_some_hours_later_and_not_for_ever(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    await in_database(october, user)
    practice.script([Reply.of("Dear Ada, it was a good month."), Reply.of("A good month, I said.")])
    await run(work_off)
    await run(work_off, now=FIRST + timedelta(hours=1))
    assert len(practice.requests) == 2  # for prose, it is asked once more in the same attempt
    assert await letters(user) == []
    await run(work_off, now=FIRST + timedelta(hours=7))
    assert len(await letters(user)) == 1


async def test_nothing_is_tried_after_the_first_days(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    await in_database(october, user)
    await run(work_off, now=datetime(2026, 11, 9, tzinfo=UTC))
    assert not practice.requests


async def test_the_letter_is_in_the_language_of_its_persons_pages(user: User, work_off: WorkOff) -> None:
    await in_database(october, user)
    await in_database(lambda: Profile.of(user.pk).update(language="de"))
    await run(work_off)
    (body,) = await letters(user)
    assert "Oktober 2026" in body
    assert "> 3. Oktober" in body


async def test_saying_yes_brings_the_letter_about_the_last_month_at_once(
    user: User, work_off: WorkOff
) -> None:
    await in_database(october, user)
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    with time_machine.travel(now, tick=True):
        await in_database(switch_letters, user_id=user.pk, is_on=True, now=timezone.now())
        assert len(await jobs_named(LETTER_JOB)) == 1
        await work_off()
    assert len(await letters(user)) == 1


async def test_what_was_done_of_what_was_said_is_in_the_request_and_the_letter(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    await in_database(october, user)
    await in_database(keep_step, user)
    await run(work_off)
    assert "Ask for Fridays off" in str(practice.requests[0].body)
    assert "It took five minutes." in str(practice.requests[0].body)
    (body,) = await letters(user)
    assert "You did what you had said." in body


def keep_step(user: User) -> None:
    step = ActionItem.unscoped.create(
        user=user,
        client=own_client(user.pk),
        title="Ask for Fridays off",
        quote=TOLD[1][1],
        session=Session.of(user.pk).earliest("started_at"),
        state=ActionState.DONE,
        outcome="It took five minutes.",
        done_at=at(14),
    )
    ActionItem.unscoped.filter(pk=step.pk).update(created_at=at(12))


async def test_a_model_that_is_down_leaves_the_letter_for_later(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    await in_database(october, user)
    practice.faults.push(Fault(kind="status", status=500, times=99))
    await run(work_off)
    assert not (await row(user)).ended_at
    assert await letters(user) == []
