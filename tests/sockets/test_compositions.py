"""The four combinations of arcs and approaches, and a refused offer, through the whole application.

Where the guided tour has no such shift, the practice model is scripted. No shift is announced; the turn's
trace shows the skills in use.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.clock.days import local_day
from coaching.models import DayPlan, Profile, UserFile
from coaching.practice.coach import texts
from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind, ToolCallRecord, Turn
from tests.context.conftest import put_file
from tests.context.five_people import spoke_before
from tests.live_sage import Frame, LiveSage, SocketClient, open_socket

pytestmark = pytest.mark.django_db(transaction=True)

ANNOUNCED = re.compile(
    r"deep[- ]dive|crisis[- ]support|decision[- ]helper|pattern[- ]review|plan[- ]revision|\bskill|approach",
    re.IGNORECASE,
)
MAP = "# The map\n\nWork is heavy, home is light."
PULSE = ToolUse("show_pulse_check", {"context": "How was it?"})
PLAN = "# Where I want to go\n\n## Direction\n\n- Become a manager at my company within a year.\n"


@dataclass
class Talker:
    """A person in one session. `frames` are those of the newest part."""

    client: SocketClient
    session: Session
    frames: list[Frame] = field(default_factory=list)

    async def say(self, text: str) -> str:
        """Send a message; return what Sage says and asks."""
        return await self._part(type="message", text=text)

    async def tap(self, value: str) -> str:
        """Tap one of the answers that are shown."""
        shown = self._frame("showOptions")
        assert value in [option["value"] for option in shown["options"]], shown
        return await self._part(type="answer", toolUseId=shown["toolUseId"], value=value)

    async def rate(self, **ratings: int) -> str:
        """Answer the pulse check."""
        shown = self._frame("showPulseCheck")
        return await self._part(type="answer", toolUseId=shown["toolUseId"], value={"ratings": ratings})

    async def _part(self, **frame: object) -> str:
        await self.client.send(**frame)
        self.frames = await self.client.until("done")
        said = "".join(each.get("text", "") + each.get("note", "") for each in self.frames)
        asked = [each["showOptions"]["prompt"] for each in self.frames if "showOptions" in each]
        asked += [each["showPulseCheck"]["context"] for each in self.frames if "showPulseCheck" in each]
        words = " ".join([said, *asked])
        assert not ANNOUNCED.search(words), words
        return words

    def _frame(self, name: str) -> dict[str, Any]:
        found: list[dict[str, Any]] = [each[name] for each in self.frames if name in each]
        assert found, f"no {name} in {self.frames}"
        return found[-1]

    async def loaded(self) -> list[str]:
        """Return the approaches loaded by a call."""
        calls = ToolCallRecord.unscoped.filter(turn__session=self.session, name="load_skill", is_error=False)
        return [call.input["name"] for call in await in_database(list, calls.order_by("id"))]

    async def in_play(self) -> dict[str, str]:
        """Return the skills in the newest turn's prompt with their callers.

        Without those that only the calendar triggers: the suite runs in every week of the year.
        """
        found = await self.all_in_play()
        return {skill: caller for skill, caller in found.items() if caller != "quarter_end"}

    async def all_in_play(self) -> dict[str, str]:
        """Return the skills in the newest turn's prompt, with their callers."""
        turn = await in_database(
            lambda: Turn.unscoped.filter(session=self.session).order_by("-started_at").first()
        )
        assert turn is not None
        return {each["skill"]: each["caller"] for each in turn.metadata["skills"]["in_play"]}

    async def files(self) -> dict[str, dict[str, Any]]:
        """Return the frontmatter of the person's files by path."""
        rows = UserFile.unscoped.filter(user_id=self.session.user_id).values_list("path", "frontmatter")
        return dict(await in_database(list, rows))


@asynccontextmanager
async def talking(
    sage: LiveSage, user: User, cookie: str, kind: SessionKind = SessionKind.OPEN_CONVERSATION
) -> AsyncIterator[Talker]:
    session = await in_database(session_services.open_session, user_id=user.pk, kind=kind)
    async with open_socket(sage, session.id, cookie) as client:
        await client.until("sync")
        yield Talker(client=client, session=session)


@pytest.fixture
def known(user: User) -> User:
    """A person with a life map, for whom nothing is due."""
    Profile.unscoped.create(user=user, name="Ada", timezone="UTC", next_checkin_on="2099-01-01")
    spoke_before(user, SessionKind.OPEN_CONVERSATION, at=timezone.now() - timedelta(days=3), summary="")
    put_file(user, "life-map/_overview.md", MAP)
    return user


async def test_a_check_in_that_meets_a_domain_in_crisis_stays_with_it(
    live_sage: LiveSage, practice: PracticeServer, known: User, cookie: str
) -> None:
    await in_database(put_file, known, "life-map/health.md", "# Health\n\nTired.", status="good")
    practice.script(
        ["How was the week?", Reply.of(PULSE), Reply.of(_load("domain-deep-dive")), "Stay there.", "And?"]
    )
    async with talking(live_sage, known, cookie, SessionKind.WEEKLY_CHECKIN) as talker:
        await talker.say("hi")
        await talker.say("Deadlines every day.")
        assert await talker.loaded() == []
        await talker.rate(career=3, health=1)
        assert await talker.loaded() == ["domain-deep-dive"]
        await talker.say("On Tuesday I couldn't get up.")
        assert await talker.in_play() == {"weekly-checkin": "arc", "domain-deep-dive": "model"}


async def test_a_check_in_knows_a_pages_crisis(
    live_sage: LiveSage, practice: PracticeServer, known: User, cookie: str
) -> None:
    await in_database(put_file, known, "life-map/health.md", "# Health\n\nTired.", status="in_crisis")
    async with talking(live_sage, known, cookie, SessionKind.WEEKLY_CHECKIN) as talker:
        await talker.say("hi")
        assert await talker.in_play() == {"weekly-checkin": "arc", "domain-deep-dive": "domain_flagged"}
        assert await talker.loaded() == []


@pytest.mark.slow
@pytest.mark.parametrize("is_said", [True, False])
async def test_a_morning_of_overwhelm_becomes_steady_ground(
    live_sage: LiveSage, practice: PracticeServer, known: User, cookie: str, is_said: bool
) -> None:
    async with talking(live_sage, known, cookie, SessionKind.OPEN_DAY) as talker:
        await talker.say("I woke up in a panic, I'm completely overwhelmed." if is_said else "hi")
        if is_said:
            assert await talker.in_play() == {"open-day": "arc", "crisis-support": "high_intensity"}
        await talker.tap("too much")
        assert await talker.loaded() == ([] if is_said else ["crisis-support"]), "nothing is loaded twice"
        assert not [path for path in await talker.files() if path.startswith("day-plans/")]
        await talker.tap("small")
        await talker.say("A walk around the block")
        await talker.tap("Kind to myself")
        await talker.tap("yes")
        assert {"sessionCompleted": True} in talker.frames
        [plan] = [values for path, values in (await talker.files()).items() if path.startswith("day-plans/")]
    assert plan["priorities"] == ["A walk around the block"]


async def test_a_decision_is_weighed_and_not_made(
    live_sage: LiveSage, practice: PracticeServer, known: User, cookie: str
) -> None:
    async with talking(live_sage, known, cookie) as talker:
        await talker.say("Help me decide if I take the post in Porto")
        assert await talker.loaded() == ["decision-helper"]
        await talker.say("Whether we move, and they want to hear by Friday.")
        assert await talker.in_play() == {"decision-helper": "model"}
        await talker.say("More money there, but my parents are here. I could ask for two days from home.")
        await talker.say("That they are old is a fact, that I'd miss everything is a fear.")
        assert "choice stays yours" in await talker.tap("no")
        assert list(await talker.files()) == ["life-map/_overview.md"]


async def test_a_pattern_that_runs_against_the_plan_becomes_a_revision_of_the_plan(
    live_sage: LiveSage, practice: PracticeServer, known: User, cookie: str
) -> None:
    await in_database(put_file, known, "life-plan/current.md", PLAN)
    practice.script(
        [Reply.of(_load("pattern-review")), "When?", Reply.of(_load("life-plan-revision")), "Still true?"]
    )
    async with talking(live_sage, known, cookie) as talker:
        await talker.say("I always say yes to more work, and every time I end up ill.")
        assert await talker.loaded() == ["pattern-review"]
        await talker.say("In March with the audit, and last autumn with the new office.")
        loaded = await talker.loaded()
        assert {*await talker.all_in_play(), *loaded} == {"pattern-review", "life-plan-revision"}


async def test_an_arc_that_is_offered_and_refused_is_left_alone(
    live_sage: LiveSage, practice: PracticeServer, user: User, cookie: str
) -> None:
    offer = texts.offers()["life_mapping"]
    await in_database(nothing_else_is_due, user)
    async with talking(live_sage, user, cookie) as talker:
        assert offer in await talker.say("hi"), "there is no map yet"
        first = await in_database(Turn.unscoped.get)
        assert first.metadata["skills"]["offered"] == "life_mapping"
        assert texts.said("declined") in await talker.say("no")
        for words in ("hello again", "My boss wants more hours of me.", "What a week it was.", "hi"):
            assert offer not in await talker.say(words)
            assert not [frame for frame in talker.frames if "modeChange" in frame]
        traces = [turn.metadata["skills"] for turn in await in_database(list, Turn.unscoped.all())]
        assert sum(trace["offered"] == "life_mapping" for trace in traces) == 1
        assert [*await talker.files()] == [f"daily-logs/{local_day(timezone.now(), ZoneInfo('UTC'))}.md"]
        await talker.say("ok, let's map my life after all")
        assert {"modeChange": "life_mapping"} in talker.frames, "a wish of their own still counts"


def nothing_else_is_due(user: User) -> None:
    """Let somebody have spoken before, and have a plan and a log of the day."""
    now = timezone.now()
    Profile.unscoped.create(user=user, timezone="UTC", next_checkin_on="2099-01-01")
    spoke_before(user, SessionKind.OPEN_CONVERSATION, at=now - timedelta(days=3), summary="")
    day = local_day(now, ZoneInfo("UTC"))
    DayPlan.unscoped.create(user=user, date=day, intention="Unhurried")
    put_file(user, f"daily-logs/{day}.md", "Done.")


def _load(name: str) -> ToolUse:
    return ToolUse("load_skill", {"name": name})
