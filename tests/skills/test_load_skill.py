"""`load_skill` from the model's side."""

import json
import uuid

import pytest
from django.contrib.auth.models import User

from coaching.engine.errors import ToolError, ToolInputError
from coaching.skills.store import store_override
from coaching.tools.load_skill import LOAD_SKILL
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.skills.conftest import APPROACHES, SKILL_TEXT
from tests.tools.committing_context import CommittingContext

in_a_database = pytest.mark.django_db(transaction=True)
MINE = SKILL_TEXT.replace("Words.", "My own words.")


async def load(user: User, name: str, session_id: uuid.UUID | None = None) -> str:
    context = CommittingContext(user_id=user.pk, session_id=session_id)
    result = await LOAD_SKILL.run(context, LOAD_SKILL.parse(json.dumps({"name": name})))
    assert not result.is_error
    return result.content


@in_a_database
async def test_an_approach_is_loaded_whole_and_a_file_in_its_folder_by_path(
    synced_skills: None, user: User
) -> None:
    text = await load(user, "decision-helper")
    assert text.startswith('<skill name="decision-helper">\n## Goal\n\nA choice made by what matters to them')
    assert text.endswith("\n</skill>")
    for written in (" decision_helper ", "Decision helper", "decision  Helper"):
        assert await load(user, written) == text
    found = await load(user, "domain-deep-dive/questions.md")
    assert found.startswith('<skill name="domain-deep-dive/questions.md">\n# Questions for each domain')


@in_a_database
async def test_what_is_not_there_names_what_is(synced_skills: None, user: User) -> None:
    for path in ("nothing.md", "../open-day/SKILL.md", "/etc/hostname"):
        with pytest.raises(ToolError, match=r"Its files: domain-deep-dive/questions\.md\."):
            await load(user, f"domain-deep-dive/{path}")
    for name in ("horoscope", "open-conversation", "../skills", "/", "Decision help"):
        with pytest.raises(ToolError) as unknown:
            await load(user, name)
        assert str(unknown.value) == (
            f"There is no approach of that name. The approaches: {', '.join(sorted(APPROACHES))}."
        )


@in_a_database
async def test_an_arc_is_entered_not_loaded(synced_skills: None, user: User) -> None:
    for name in ("open_day", "open-day"):
        with pytest.raises(ToolError, match="open_day is an arc: enter it with enter_structured_arc"):
            await load(user, name)


@pytest.mark.parametrize("name", ["", "x" * 201, None, "a\x00"])
def test_a_name_that_cannot_be_one_is_refused(name: object) -> None:
    with pytest.raises(ToolInputError, match="name: "):
        LOAD_SKILL.parse(json.dumps({"name": name}))


@in_a_database
async def test_a_session_gets_the_text_that_held_when_it_began(
    synced_skills: None, user: User, other_user: User
) -> None:
    before = await in_database(Session.unscoped.create, user=user)
    await in_database(store_override, name="pattern-review", text=MINE, editor=None)
    after = await in_database(Session.unscoped.create, user=user)
    assert "My own words" not in await load(user, "pattern-review", before.id)
    assert "My own words" in await load(user, "pattern-review", after.id)
    with pytest.raises(Session.DoesNotExist):
        await load(other_user, "pattern-review", after.id)
