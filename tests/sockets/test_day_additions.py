"""Adding to a day's plan in an open conversation: at once in the person's words, else after their yes."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.clock.days import local_day
from coaching.files.attributes import FileAttributes
from coaching.files.drafts import build_draft
from coaching.models import DayPlan, FileSource, FileType, Profile
from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.files.storing import store_file
from tests.live_sage import LiveSage, open_socket
from tests.sockets.questions import ask, results_in, rows

pytestmark = pytest.mark.django_db(transaction=True)

PLAN = "# Today\n\n- [ ] Swim"
BANK = "call the bank"


def save(content: str = f"{PLAN}\n- [ ] {BANK}", *, day: str = "", **attributes: Any) -> ToolUse:
    given = {"file_type": "day-plan", "content": content, "attributes": attributes}
    return ToolUse("save_file", {**given, **({"file_name": day} if day else {})}, id="toolu_plan")


@pytest.fixture
async def planned(user: User, session: Session) -> Session:
    """A conversation on a day that has a plan."""
    profile, _ = await in_database(Profile.of(user.pk).get_or_create)
    attributes = FileAttributes(intention="Unhurried", priorities=["Swim"])
    draft = build_draft(
        file_type=FileType.DAY_PLAN,
        content=PLAN,
        attributes=attributes,
        now=timezone.now(),
        timezone=profile.zone,
    )
    await store_file(user_id=user.pk, draft=draft, source=FileSource.TOOL)
    return session


async def priorities() -> list[str]:
    (plan,) = await rows(DayPlan.unscoped.all())
    return [priority["text"] for priority in plan.priorities]


@pytest.mark.parametrize(
    "text",
    ["I’ll call the bank.", "It went well. I'm going to call the bank today, before lunch."],
)
async def test_what_the_person_says_they_will_do_is_added_at_once(
    live_sage: LiveSage, practice: PracticeServer, planned: Session, cookie: str, text: str
) -> None:
    practice.script([Reply.of(save(priorities=["Swim", BANK])), "It is in your plan."])
    async with open_socket(live_sage, planned.id, cookie) as client:
        frames = await ask(client, text)
    assert not any("confirm" in frame for frame in frames)
    assert await priorities() == ["Swim", BANK]
    (plan,) = await rows(DayPlan.unscoped.select_related("file"))
    assert (plan.intention, plan.file.version_number) == ("Unhurried", 2)


SAID = "I'll call the bank."


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("Maybe I'll call the bank.", save(priorities=["Swim", BANK])),
        ("I won't call the bank.", save(priorities=["Swim", BANK])),
        ("I'll call the bank tomorrow.", save(priorities=["Swim", BANK])),
        (SAID, save(priorities=["Swim", BANK, "apologise to Tom"])),
        (SAID, save(priorities=[BANK])),
        (SAID, save(f"- [ ] {BANK}", priorities=["Swim", BANK])),
        (SAID, save(f"{PLAN}\n- [ ] {BANK}\n\nBe a better son.", priorities=["Swim", BANK])),
        (SAID, save(priorities=["Swim", BANK], intention="Hurry")),
        (SAID, save(priorities=["Swim"])),
    ],
)
async def test_anything_else_waits_for_their_yes(
    live_sage: LiveSage, practice: PracticeServer, planned: Session, cookie: str, text: str, call: ToolUse
) -> None:
    practice.script([Reply.of(call), "Done."])
    async with open_socket(live_sage, planned.id, cookie) as client:
        frames = await ask(client, text)
        assert [frame["confirm"]["toolUseId"] for frame in frames if "confirm" in frame] == ["toolu_plan"]
        assert await priorities() == ["Swim"]
        await client.send(type="answer", toolUseId="toolu_plan", value={"accept": True})
        await client.until("done")
    assert await priorities() == call.input["attributes"]["priorities"]


async def test_another_day_needs_that_day_in_their_words(
    live_sage: LiveSage, practice: PracticeServer, planned: Session, cookie: str, user: User
) -> None:
    profile = await in_database(Profile.of(user.pk).get)
    tomorrow = local_day(timezone.now(), profile.zone) + timedelta(days=1)
    call = save(f"- [ ] {BANK}", day=tomorrow.isoformat(), priorities=[BANK])
    practice.script([Reply.of(call)])
    async with open_socket(live_sage, planned.id, cookie) as client:
        assert any("confirm" in frame for frame in await ask(client, SAID))
    practice.script([Reply.of(call), "Done."])
    async with open_socket(live_sage, planned.id, cookie) as client:
        assert not any("confirm" in frame for frame in await ask(client, "I'll call the bank tomorrow."))
    assert await in_database(DayPlan.unscoped.filter(date=tomorrow).exists)


async def test_in_a_turn_with_a_card_nothing_is_added(
    live_sage: LiveSage, practice: PracticeServer, planned: Session, cookie: str
) -> None:
    practice.script([Reply.of(save(priorities=["Swim", BANK])), "I'm here."])
    async with open_socket(live_sage, planned.id, cookie) as client:
        frames = await ask(client, f"{SAID} I want to kill myself.")
    assert not any("confirm" in frame for frame in frames)
    assert await priorities() == ["Swim"]
    assert "help lines" in str(results_in(practice, 1))
