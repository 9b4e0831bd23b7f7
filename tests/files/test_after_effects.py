"""The side effects of writing files, in the same transaction."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User

from coaching.files.attributes import FileAttributes
from coaching.files.drafts import build_draft
from coaching.files.objects import StoredObject
from coaching.files.store import StoredFile, restore_version, store_version
from coaching.models import (
    Capture,
    DayPlan,
    FileSource,
    FileType,
    Profile,
    PulseRating,
    ReflectionPrompt,
    UserFile,
)
from sessions_app.database import in_database
from tests.files.storing import store_file

# Saturday, ten in the morning in Berlin.
NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
TODAY = date(2026, 11, 21)
ZONE = ZoneInfo("Europe/Berlin")

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("disk_storage")]


async def store(
    user: User,
    file_type: FileType,
    content: str = "Text",
    *,
    name: str | None = None,
    now: datetime = NOW,
    **attributes: object,
) -> StoredFile:
    draft = build_draft(
        file_type=file_type,
        file_name=name,
        content=content,
        attributes=FileAttributes.model_validate(attributes),
        now=now,
        timezone=ZONE,
    )
    return await store_file(user_id=user.pk, draft=draft, source=FileSource.TOOL)


async def test_a_day_plan_fills_the_day_and_keeps_what_is_ticked_off(user: User) -> None:
    await store(user, FileType.DAY_PLAN, intention="Slow", priorities=["Walk", "Write"])
    plan = await in_database(DayPlan.unscoped.get)
    assert (plan.user_id, plan.date, plan.intention) == (user.pk, TODAY, "Slow")
    assert plan.priorities == [{"text": "Walk", "is_done": False}, {"text": "Write", "is_done": False}]
    plan.priorities[0]["is_done"] = True
    await in_database(plan.save)
    await store(user, FileType.DAY_PLAN, "New", intention="Slower", priorities=["Write", "Walk", "Rest"])
    plan = await in_database(DayPlan.unscoped.get)
    assert plan.intention == "Slower"
    assert [(one["text"], one["is_done"]) for one in plan.priorities] == [
        ("Write", False),
        ("Walk", True),
        ("Rest", False),
    ]
    # Attributes that aren't given stay.
    await store(user, FileType.DAY_PLAN, "Only words")
    plan = await in_database(DayPlan.unscoped.get)
    assert (plan.intention, len(plan.priorities)) == ("Slower", 3)


async def test_a_day_plan_for_tomorrow_is_of_tomorrow_and_a_restore_brings_the_plan_back(user: User) -> None:
    for intention in ("First", "Second"):
        stored = await store(
            user, FileType.DAY_PLAN, name="2026-11-22", intention=intention, priorities=["A"]
        )
    plan = await in_database(DayPlan.unscoped.get)
    assert (plan.date, plan.intention) == (TODAY + timedelta(days=1), "Second")
    await in_database(restore_version, user_id=user.pk, path=stored.path, number=1, now=NOW, timezone=ZONE)
    assert (await in_database(DayPlan.unscoped.get)).intention == "First"


async def test_a_daily_log_folds_the_captures_of_its_day_only(user: User, other_user: User) -> None:
    night = datetime(2026, 11, 22, 1, 0, tzinfo=UTC)
    yesterday = NOW - timedelta(days=1)
    for moment in (NOW, night, yesterday):
        await store(user, FileType.CAPTURE, f"Thought at {moment}", now=moment)
    await store(other_user, FileType.CAPTURE)
    await store(user, FileType.DAILY_LOG, now=night, energy="low")
    captures = Capture.unscoped.filter(user=user)
    folded = await in_database(lambda: dict(captures.values_list("captured_at", "folded_on")))
    assert folded == {NOW: TODAY, night: TODAY, yesterday: None}
    assert await in_database(Capture.unscoped.filter(user=other_user, folded_on=None).count) == 1
    # Saving the same log again takes in a later capture.
    await store(user, FileType.CAPTURE, "Later", now=night + timedelta(minutes=5))
    again = await store(user, FileType.DAILY_LOG, now=night, energy="low")
    assert again.is_new_version, "the thought stands in it now"
    assert await in_database(Capture.unscoped.filter(user=user, folded_on=TODAY).count) == 3


async def test_a_rating_of_a_domain_is_written_once_for_each_version(user: User) -> None:
    await store(user, FileType.DOMAIN, name="career", updated_rating=2, status="needs_attention")
    await store(user, FileType.DOMAIN, name="career", updated_rating=2, status="needs_attention")
    await store(user, FileType.DOMAIN, name="career", status="good")
    await store(user, FileType.DOMAIN, name="play", updated_rating=5)
    later = NOW + timedelta(days=2)
    stored = await store(user, FileType.DOMAIN, name="career", now=later, updated_rating=4, status="good")
    await in_database(restore_version, user_id=user.pk, path=stored.path, number=1, now=later, timezone=ZONE)
    ratings = await in_database(
        lambda: list(PulseRating.unscoped.order_by("pk").values_list("domain", "rating", "rated_at"))
    )
    assert ratings == [("career", 2, NOW), ("play", 5, NOW), ("career", 4, later)]
    file = await in_database(UserFile.unscoped.get, path="life-map/career.md")
    assert file.frontmatter["status"] == "needs_attention"


async def test_a_reflection_prompt_is_kept_and_a_new_text_asks_again(user: User) -> None:
    await store(user, FileType.REFLECTION_PROMPT, "What would be enough?", name="Enough")
    prompt = await in_database(ReflectionPrompt.unscoped.get)
    assert (prompt.user_id, prompt.text) == (user.pk, "What would be enough?")
    prompt.answered_at = NOW
    await in_database(prompt.save)
    await store(user, FileType.REFLECTION_PROMPT, "What would be enough?", name="Enough")
    assert (await in_database(ReflectionPrompt.unscoped.get)).answered_at == NOW
    await store(user, FileType.REFLECTION_PROMPT, "What is enough?", name="Enough")
    prompt = await in_database(ReflectionPrompt.unscoped.get)
    assert (prompt.text, prompt.answered_at) == ("What is enough?", None)


@pytest.mark.parametrize(
    ("weekday", "next_checkin"),
    [(5, "2026-11-28"), (6, "2026-11-22"), (0, "2026-11-23"), (4, "2026-11-27")],
)
async def test_a_check_in_moves_the_next_one_to_the_next_chosen_weekday(
    user: User, weekday: int, next_checkin: str
) -> None:
    await in_database(Profile.unscoped.update_or_create, user=user, defaults={"checkin_weekday": weekday})
    await store(user, FileType.CHECK_IN, themes=["Rest"])
    profile = await in_database(Profile.unscoped.get, user=user)
    assert profile.next_checkin_on == date.fromisoformat(next_checkin)


async def test_somebody_without_a_profile_gets_one_with_the_first_check_in(user: User) -> None:
    await in_database(Profile.unscoped.filter(user=user).delete)
    await store(user, FileType.CHECK_IN)
    assert (await in_database(Profile.unscoped.get, user=user)).next_checkin_on == date(2026, 11, 22)


async def test_an_effect_that_fails_takes_the_version_with_it(user: User) -> None:
    draft = build_draft(file_type=FileType.DAY_PLAN, content="x", now=NOW, timezone=ZONE)
    broken = [{"text": "no is_done"}]
    await in_database(DayPlan.unscoped.create, user=user, date=TODAY, priorities=broken)
    given = FileAttributes(priorities=["A"])
    with pytest.raises(KeyError):
        await in_database(
            store_version,
            user_id=user.pk,
            draft=build_draft(
                file_type=FileType.DAY_PLAN, content="x", attributes=given, now=NOW, timezone=ZONE
            ),
            stored=StoredObject(key="users/1/x", size=len(draft.data), sha256="0" * 64),
            source=FileSource.TOOL,
        )
    assert await in_database(UserFile.unscoped.count) == 0
