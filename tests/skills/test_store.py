"""Skills in the database: synced from files, overridden by operators, and read as of a time."""

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from coaching.models import Skill, SkillKind
from coaching.skills.loader import (
    MOMENT_KEY,
    read_library,
    skill_text,
    skills_moment,
)
from coaching.skills.reader import SkillError, list_skill_files, read_skill, read_skill_file, read_skills
from coaching.skills.rules import HEADINGS, budget_of
from coaching.skills.store import return_to_file, store_override, sync_skills
from coaching.tools import SKILL_TOOLS
from sage.startup import prepare_database
from sessions_app.errors import Refused
from sessions_app.models import Session
from tests.skills.conftest import SHIPPED, SKILL_TEXT, WriteSkill

pytestmark = pytest.mark.django_db

MINE = SKILL_TEXT.replace("Words.", "My own words.")


def run_sync() -> str:
    """Sync, and return what is said of the skills."""
    said = io.StringIO()
    call_command("sync_skills", stdout=said)
    skills, references = said.getvalue().splitlines(keepends=True)
    assert " references: " in references
    return skills


def test_a_sync_loads_all_and_a_second_one_writes_nothing() -> None:
    assert run_sync().startswith(f"{SHIPPED} skills: added capture-review, close-day, ")
    lines = Skill.history.count()
    before = list(Skill.objects.values())
    assert run_sync() == f"{SHIPPED} skills: nothing has changed.\n"
    assert list(Skill.objects.values()) == before
    assert Skill.history.count() == lines == SHIPPED
    skill = Skill.objects.get(name="crisis-support")
    assert (skill.kind, skill.signals) == ("approach", ["high_intensity"])
    assert skill.tools == ["show_help_lines", "show_options"]
    assert skill.text == skill.file_text
    assert not skill.is_overridden


def test_a_sync_follows_a_changed_a_lost_and_a_returned_file(write_skill: WriteSkill, root: Path) -> None:
    write_skill()
    quiet = write_skill("quiet")
    assert run_sync() == "2 skills: added calm, quiet.\n"
    write_skill(text=MINE, description="be calmer, when it is loud")
    (quiet / "SKILL.md").rename(root / "kept")
    quiet.rmdir()
    assert run_sync() == "1 skills: changed calm; retired quiet.\n"
    calm = Skill.objects.get(name="calm")
    assert (calm.text, calm.description) == (MINE, "be calmer, when it is loud")
    assert "quiet" not in read_library().skills
    with pytest.raises(SkillError, match="There is no skill quiet"):
        skill_text("quiet")
    write_skill("quiet")
    assert run_sync() == "2 skills: changed quiet.\n"
    assert skill_text("quiet") == SKILL_TEXT


def test_faults_in_the_files_leave_the_database_as_it_was(write_skill: WriteSkill) -> None:
    write_skill()
    run_sync()
    write_skill(text="Nothing.")
    with pytest.raises(SystemExit):
        call_command("sync_skills", stderr=io.StringIO())
    assert skill_text("calm") == SKILL_TEXT


def test_an_override_holds_until_it_is_returned_and_outlives_a_sync(
    synced_skills: None, operator: User
) -> None:
    original = skill_text("open-day")
    store_override(name="open-day", text=MINE.replace("\n", "\r\n"), editor=operator)
    assert skill_text("open-day") == skill_text("open_day") == MINE
    assert read_library()["open-day"].is_overridden
    run_sync()
    assert skill_text("open-day") == MINE
    return_to_file(name="open-day", editor=operator)
    assert skill_text("open-day") == original
    assert [
        (line.history_change_reason, line.history_user) for line in Skill.history.filter(name="open-day")
    ] == [
        ("Back to the file.", operator), ("An operator's text.", operator), (None, None),
    ]  # fmt: skip
    assert Skill.history.filter(name="open-day", override=MINE).exists()


@pytest.mark.parametrize("text", ["", "  \n", "same"])
def test_no_text_and_the_files_own_are_a_return_to_the_file(
    synced_skills: None, operator: User, text: str
) -> None:
    skill = Skill.objects.get(name="open-day")
    store_override(name="open-day", text=MINE, editor=operator)
    store_override(name="open-day", text=skill.file_text if text == "same" else text, editor=operator)
    skill.refresh_from_db()
    assert not skill.is_overridden
    assert skill.overridden_sha256 == ""


@pytest.mark.parametrize("heading", HEADINGS)
def test_an_override_without_a_heading_is_refused(synced_skills: None, operator: User, heading: str) -> None:
    with pytest.raises(Refused, match=f"open-day can't be used like this: missing heading “## {heading}”"):
        store_override(name="open-day", text=MINE.replace(f"## {heading}", "**There**"), editor=operator)
    assert not Skill.objects.get(name="open-day").is_overridden


def test_an_override_over_its_budget_is_refused(synced_skills: None, operator: User) -> None:
    budget = budget_of("close-day", SkillKind.ARC)
    assert budget == 300
    with pytest.raises(Refused, match=r"3\d\d tokens, the budget is 300"):
        store_override(name="close-day", text=MINE + "x" * 1100, editor=operator)
    assert not Skill.objects.get(name="close-day").is_overridden


def test_an_override_knows_when_its_file_has_moved_on(
    write_skill: WriteSkill, root: Path, operator: User
) -> None:
    write_skill()
    run_sync()
    store_override(name="calm", text=MINE, editor=operator)
    assert not Skill.objects.get().has_file_changed
    write_skill(text=SKILL_TEXT.replace("Words", "New words"))
    run_sync()
    assert Skill.objects.get().has_file_changed
    assert skill_text("calm") == MINE


def test_the_database_refuses_an_override_that_knows_no_file(synced_skills: None) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Skill.objects.filter(name="open-day").update(override=MINE)
    with pytest.raises(IntegrityError), transaction.atomic():
        Skill.objects.filter(name="open-day").update(kind="mood")


def test_a_running_session_goes_on_with_the_skills_that_it_began_with(
    synced_skills: None, operator: User, user: User
) -> None:
    before = Session.unscoped.create(user=user)
    original = skill_text("open-conversation", moment=skills_moment(before))
    store_override(name="open-conversation", text=MINE, editor=operator)
    after = Session.unscoped.create(user=user)
    assert skill_text("open-conversation", moment=skills_moment(before)) == original
    assert skill_text("open-conversation", moment=skills_moment(after)) == MINE
    assert read_library(moment=skills_moment(before)).base_prompt(SKILL_TOOLS).startswith(original)
    assert read_library(moment=skills_moment(after)).base_prompt(SKILL_TOOLS).startswith(MINE)
    return_to_file(name="open-conversation", editor=operator)
    assert skill_text("open-conversation", moment=skills_moment(after)) == MINE
    assert skill_text("open-conversation") == original


def test_a_new_release_reaches_the_sessions_that_start_after_it(
    write_skill: WriteSkill, root: Path, user: User
) -> None:
    write_skill()
    run_sync()
    session = Session.unscoped.create(user=user)
    write_skill(text=MINE, description="be calmer, when it is loud")
    run_sync()
    assert skill_text("calm", moment=skills_moment(session)) == SKILL_TEXT
    before = read_library(moment=skills_moment(session))
    assert before.directory(SKILL_TOOLS).endswith("- calm: be calm, when it is loud")
    assert read_library().directory(SKILL_TOOLS).endswith("- calm: be calmer, when it is loud")


def test_a_session_may_move_its_moment_on(synced_skills: None, operator: User, user: User) -> None:
    session = Session.unscoped.create(user=user)
    store_override(name="open-day", text=MINE, editor=operator)
    assert skill_text("open-day", moment=skills_moment(session)) != MINE
    session.metadata[MOMENT_KEY] = timezone.now().isoformat()
    session.save()
    session.refresh_from_db()
    assert skill_text("open-day", moment=skills_moment(session)) == MINE


def test_two_edits_at_the_same_instant_leave_the_later_one(synced_skills: None, operator: User) -> None:
    instant = timezone.now() + timedelta(days=1)
    with time_machine.travel(instant, tick=False):
        store_override(name="open-day", text=MINE, editor=operator)
        store_override(name="open-day", text=MINE.replace("My own", "Our own"), editor=operator)
    assert "Our own" in skill_text("open-day", moment=instant)
    assert "own words" not in skill_text("open-day", moment=instant - timedelta(microseconds=1))


def test_a_session_from_before_the_first_sync_reads_the_files(
    synced_skills: None, root: Path, write_skill: WriteSkill
) -> None:
    write_skill()
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    assert set(read_library(moment=long_ago).skills) == {"calm"}
    assert skill_text("calm", moment=long_ago) == SKILL_TEXT


def test_without_a_sync_the_files_hold(root: Path, write_skill: WriteSkill) -> None:
    folder = write_skill("open-day", kind="arc", description="begin, when it is early")
    (folder / "more.md").write_text("# More\n")
    assert skill_text("open_day") == SKILL_TEXT
    assert (
        read_library().directory(SKILL_TOOLS)
        == "Arcs (`enter_structured_arc`):\n- open_day: begin, when it is early"
    )
    assert list_skill_files("open-day") == ["more.md"]
    assert read_skill_file("open-day", "more.md") == "# More\n"


def test_the_library_is_one_query(
    synced_skills: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        read_library()
    with django_assert_num_queries(1):
        library = read_library(moment=timezone.now())
    assert len(library.skills) == SHIPPED
    assert len({skill.version for skill in library.skills.values()}) == SHIPPED
    assert library.names(SkillKind.ARC) == ("close-day", "life-mapping", "open-day", "weekly-checkin")


def test_reading_the_same_files_again_gives_the_same_skills(root: Path, write_skill: WriteSkill) -> None:
    folder = write_skill()
    assert read_skills(root) == (read_skill(folder),)
    sync_skills(files=read_skills(root))
    assert Skill.objects.get().file_sha256 == read_skill(folder).sha256


@pytest.mark.django_db(transaction=True)
def test_a_start_of_sage_syncs_the_skills() -> None:
    prepare_database()
    assert Skill.objects.count() == SHIPPED
