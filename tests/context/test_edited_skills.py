"""An operator edits skills in the admin: later sessions use them, a running one keeps its prefix."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.models import Skill
from coaching.practice.script import Reply, ToolUse
from coaching.skills.reader import read_skills, skills_root
from coaching.skills.store import sync_skills
from sessions_app.database import in_database
from tests.browsers import browser_of
from tests.context.conftest import Talk
from tests.context.test_prefix import shared, units
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db(transaction=True)

EDITED = ("open-conversation", "open-day", "crisis-support", "decision-helper")
HEAVY = "I can't cope any more, I'm completely overwhelmed"
MARK = "Goal\n\nBy Olive. "


@pytest.fixture
def edit_skills(operator: User) -> Callable[[], None]:
    """Let an operator edit some skills on their pages."""

    def edit() -> None:
        browser = browser_of(operator)
        for skill in Skill.objects.filter(name__in=EDITED):
            text = skill.text.replace("Goal\n\n", MARK)
            page = browser.post(f"/admin/coaching/skill/{skill.pk}/change/", {"override": text})
            assert page.status_code == 302, page.content.decode()

    return edit


def script(talk: Talk) -> None:
    talk.practice.script(
        [
            "One.",
            Reply.of(ToolUse("load_skill", {"name": "decision-helper"})), "Two.",
            Reply.of(ToolUse("enter_structured_arc", {"arc": "open_day"})), "Three.",
        ]
    )  # fmt: skip


async def talk_it_through(talk: Talk) -> list[dict[str, Any]]:
    """Run a turn for each way in which a skill's text is added; return what was sent."""
    before = len(talk.bodies)
    for words in (HEAVY, "Should I?", "Let's plan the day"):
        done = await talk.say(words)
        assert done.status == "completed"
    return talk.bodies[before:]


async def test_sessions_that_start_after_an_edit_use_it_and_a_running_one_keeps_its_prefix(
    talk: Talk, person: User, edit_skills: Callable[[], None]
) -> None:
    await in_database(sync_skills, files=read_skills(skills_root()))
    talk.session = await in_database(open_conversation, person)
    talk.practice.script(["Hello."])
    await talk.say("Good morning")
    began_with = talk.bodies[0]

    await in_database(edit_skills)
    script(talk)
    running = await talk_it_through(talk)
    assert "By Olive" not in str(running)
    assert all(shared(began_with, body) == len(units(began_with)) for body in running)

    talk.session = await in_database(open_conversation, person)
    script(talk)
    new = await talk_it_through(talk)
    assert "By Olive" in new[0]["system"][0]["text"]
    last = new[-1]["messages"]
    assert str(last).count("By Olive") == 3, "the signal's, the loaded one and the arc's"
