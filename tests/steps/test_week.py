"""A promise of Monday comes back through its week, in three time zones: from a real runner, and on pages.

The model is scripted; everything else is Sage's own: what the model is sent, when a step is written at once,
what the pages show and which day it is for the person. The week is the one in which Berlin's clocks go back.
"""

import re
from collections.abc import AsyncIterator
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.contrib.auth.models import User

from coaching.live.runner import Runner
from coaching.models import ActionItem, Profile, StepChange, UserFileVersion
from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from coaching.turns.request import TurnRequest
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind, Turn, TurnStatus
from tests.browsers import browser_of
from tests.live.conftest import practice

__all__ = ["practice"]

pytestmark = pytest.mark.django_db(transaction=True)

MONDAY = date(2026, 10, 19)
THURSDAY, SATURDAY, SUNDAY = (MONDAY + timedelta(days=days) for days in (3, 5, 6))
PROMISE = "I'll call Mum on Thursday."
SAID = f"Long day, too many meetings. {PROMISE} Now I only want to sleep."
MOVED = "Not yet, Saturday."
DONE = "I called Mum yesterday and we laughed a lot."


class Week:
    """A person's week: what they write, what the model is sent, and what their pages show."""

    def __init__(self, user: User, zone: str, practice: PracticeServer, runner: Runner) -> None:
        self.user = user
        self.zone = ZoneInfo(zone)
        self.practice = practice
        self.runner = runner

    def at(self, day: date, hour: int) -> time_machine.travel:
        """Let it be an hour of the person's day."""
        moment = datetime(day.year, day.month, day.day, hour, 10, tzinfo=self.zone)
        return time_machine.travel(moment, tick=True)

    async def opened(self, kind: str, reply: str = "Hello.") -> tuple[Session, str]:
        """Begin a conversation, in which Sage speaks first; return it with what the model was sent."""
        self.practice.script([reply])
        session = await in_database(session_services.open_session, user_id=self.user.pk, kind=kind)
        return session, await self._answered(session, kind="opening")

    async def says(self, session: Session, text: str, *replies: Reply | str) -> str:
        """Write a message; return what the model was sent of it."""
        self.practice.script(replies)
        return await self._answered(session, kind="message", text=text)

    async def _answered(self, session: Session, **request: Any) -> str:
        first = len(self.practice.requests)
        await self.runner.open_turn(TurnRequest(user_id=self.user.pk, session_id=session.id, **request))
        assert await self.runner.wait_until_idle(session.id, seconds=90)
        turn = await in_database(Turn.within(session).order_by("-started_at").first)
        assert turn is not None
        assert turn.status == TurnStatus.COMPLETED
        last = self.practice.requests[first].body["messages"][-1]["content"]
        return "\n".join(block["text"] for block in last if block["type"] == "text")

    async def page(self, address: str) -> str:
        """Return a page as the person's browser gets it."""
        browser = await in_database(browser_of, self.user)
        response = await in_database(browser.get, address)
        return response.content.decode()

    async def step(self) -> ActionItem:
        return await in_database(ActionItem.of(self.user.pk).get)


@pytest.fixture(params=["Pacific/Auckland", "Europe/Berlin", "America/Los_Angeles"])
async def week(user: User, practice: PracticeServer, request: pytest.FixtureRequest) -> AsyncIterator[Week]:
    with time_machine.travel(datetime(2026, 10, 18, 12, tzinfo=ZoneInfo("UTC")), tick=True):
        await in_database(Profile.of(user.pk).create, name="Ada", timezone=request.param)
        runner = Runner()
        await runner.warm()
    yield Week(user, request.param, practice, runner)
    await runner.drain(2)


async def test_a_promise_in_passing_comes_back_on_its_days(week: Week) -> None:
    await promised_on_monday(week)
    await due_on_thursday(week)
    await asked_on_thursday_evening(week)
    await done_on_sunday(week)


async def promised_on_monday(week: Week) -> None:
    """Said in passing, it is written at once and stands there as a chip with its sentence."""
    call = ToolUse(
        "create_action_item",
        {"title": "Call Mum", "quote": "I'll call Mum on Thursday", "due_date": THURSDAY.isoformat()},
        id="toolu_promise",
    )
    with week.at(MONDAY, 22):
        session, _ = await week.opened(SessionKind.OPEN_CONVERSATION)
        await week.says(session, SAID, Reply.of("That was a lot.", call), "Sleep well.")
        step = await week.step()
        page = await week.page(f"/chat/{session.id}/")
    assert (step.state, step.due_date, step.quote, step.session_id) == ("open", THURSDAY, PROMISE, session.id)
    chip = page.split('class="step-chip ')[1].split("</div>")[0]
    assert "Call Mum" in chip
    assert 'datetime="2026-10-22"' in chip
    assert "Undo" in chip


async def due_on_thursday(week: Week) -> None:
    """In the morning it stands on Home, and Sage knows of it when it begins to speak."""
    with week.at(THURSDAY, 7):
        home = await week.page("/")
        _, opening = await week.opened(SessionKind.OPEN_DAY)
    due = home.split('class="home-steps"')[1].split("</section>")[0]
    assert "Call Mum" in due
    assert "Due today" in due
    assert "I&#x27;ll call Mum on Thursday." in due
    step = await week.step()
    assert f'<step id="{step.pk}" due="Thursday 2026-10-22" is="today">' in opening
    assert f"Call Mum; they said on Monday 2026-10-19: “{PROMISE}”" in opening
    assert "<steps_due>" not in opening


async def asked_on_thursday_evening(week: Week) -> None:
    """Closing the day asks about it once, and "not yet, Saturday" moves it."""
    step = await week.step()
    with week.at(THURSDAY, 21):
        asking = "Good evening. You wanted to call Mum today: what happened?"
        session, opening = await week.opened(SessionKind.CLOSE_DAY, asking)
        moving = ToolUse(
            "resolve_action_item",
            {"id": step.pk, "state": "open", "quote": "Not yet, Saturday", "due_date": SATURDAY.isoformat()},
            id="toolu_moved",
        )
        later = await week.says(session, MOVED, Reply.of(moving), "Saturday it is.")
        again = await week.says(session, "And the rest was fine.", "Good.")
    assert asked_about(opening) == str(step.pk)
    assert (asked_about(later), asked_about(again)) == ("", "")
    step = await week.step()
    assert (step.state, step.due_date, step.quote) == ("open", SATURDAY, PROMISE)
    with week.at(THURSDAY, 22):
        _, opening = await week.opened(SessionKind.CLOSE_DAY)
        assert asked_about(opening) == ""
    with week.at(SATURDAY, 8):
        home, listed = await week.page("/"), await week.page("/library/actions/")
    assert "Due today" in home
    for page in (home, listed):
        assert f'Moved: <q dir="auto">{MOVED}</q>' in page


async def done_on_sunday(week: Week) -> None:
    """The check-in hears that it was moved, asks again, and keeps the person's words of how it went."""
    step = await week.step()
    with week.at(SUNDAY, 18):
        assert 'Was due <time datetime="2026-10-24">' in await week.page("/")
        asking = "How was the week? And Mum: what came of the call?"
        session, opening = await week.opened(SessionKind.WEEKLY_CHECKIN, asking)
        done = ToolUse(
            "resolve_action_item", {"id": step.pk, "state": "done", "quote": DONE}, id="toolu_done"
        )
        kept = ToolUse(
            "save_file",
            {
                "file_type": "check-in",
                "content": f"# The week\n\nYou called Mum: “{DONE}”",
                "attributes": {"themes": ["family"]},
            },
            id="toolu_kept",
        )
        await week.says(session, DONE, Reply.of(done), Reply.of(kept), "Lovely.")
        page = await week.page(f"/chat/{session.id}/")
        home = await week.page("/")
    assert asked_about(opening) == str(step.pk)
    assert f"- moved Thursday 2026-10-22: Call Mum; their words: {MOVED}" in opening
    assert f"“{PROMISE}”; moved on Thursday 2026-10-22: “{MOVED}”" in opening
    step = await week.step()
    assert (step.state, step.outcome) == ("done", DONE)
    changes = await in_database(list, StepChange.of(week.user.pk).order_by("at"))
    assert [(each.kind, each.due_date, each.quote) for each in changes] == [
        ("moved", THURSDAY, MOVED),
        ("done", SATURDAY, DONE),
    ]
    versions = UserFileVersion.unscoped.filter(file__user=week.user, file__path="check-ins/2026-10-25.md")
    assert DONE in (await in_database(versions.get)).content
    assert "step-chip" in page
    assert "Call Mum" not in home


def asked_about(sent: str) -> str:
    """Return the ids of the steps that a request says to ask about."""
    found = re.search(r"<steps_due>\nDue, and not asked about yet: ([\d, ]+)\.", sent)
    return found[1] if found else ""
