"""Facts from the database, on the user's own day, in a constant number of queries."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from coaching.models import Capture, DayPlan, FileType, LifeDomain, Profile, UserFile
from coaching.safety.intensity import SaidWords
from coaching.skills.facts import build_life_facts, is_checkin_due, quarter_end
from coaching.skills.signals import call_skills

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)  # a Wednesday
TODAY = date(2026, 11, 18)


@pytest.fixture
def person(user: User) -> User:
    """Somebody in Lisbon who signed up in summer."""
    user.date_joined = datetime(2026, 7, 1, tzinfo=UTC)
    user.save()
    Profile.unscoped.create(user=user, timezone="Europe/Lisbon", next_checkin_on=date(2026, 11, 22))
    return user


def keep(user: User, path: str, file_type: FileType, **frontmatter: object) -> UserFile:
    return UserFile.unscoped.create(
        user=user, path=path, file_type=file_type, frontmatter=frontmatter, version_number=1
    )


def test_somebody_new_has_nothing_and_is_offered_a_map(user: User) -> None:
    facts = build_life_facts(user_id=user.pk, now=NOON)
    assert not any((facts.has_life_map, facts.has_plan_today, facts.has_log_today, facts.unfolded_captures))
    assert facts.domain_statuses == ()
    assert not facts.is_checkin_due
    assert call_skills(facts).arc == "life_mapping"
    assert not Profile.unscoped.exists(), "reading facts writes nothing"


def test_a_map_is_there_with_its_overview_or_with_all_its_domains(person: User) -> None:
    for domain in LifeDomain.values[:7]:
        keep(person, f"life-map/{domain}.md", FileType.DOMAIN, status="good")
    assert not build_life_facts(user_id=person.pk, now=NOON).has_life_map
    overview = keep(person, "life-map/_overview.md", FileType.OVERVIEW)
    assert build_life_facts(user_id=person.pk, now=NOON).has_life_map
    overview.delete()
    keep(person, "life-map/meaning.md", FileType.DOMAIN)
    facts = build_life_facts(user_id=person.pk, now=NOON)
    assert facts.has_life_map
    assert facts.domain_statuses == tuple((name, "good") for name in LifeDomain.values[:7])


def test_plan_and_log_are_those_of_the_users_own_day(person: User) -> None:
    DayPlan.unscoped.create(user=person, date=TODAY, intention="Unhurried")
    keep(person, "daily-logs/2026-11-18.md", FileType.DAILY_LOG)
    keep(person, "daily-logs/2026-11-17.md", FileType.DAILY_LOG)
    for now, is_today in (
        (NOON, True),
        (datetime(2026, 11, 19, 3, 59, tzinfo=UTC), True),
        (datetime(2026, 11, 19, 4, 0, tzinfo=UTC), False),
    ):
        facts = build_life_facts(user_id=person.pk, now=now)
        assert (facts.has_plan_today, facts.has_log_today) == (is_today, is_today)


def test_a_day_plan_that_says_nothing_is_none(person: User) -> None:
    plan = DayPlan.unscoped.create(user=person, date=TODAY)
    assert not build_life_facts(user_id=person.pk, now=NOON).has_plan_today
    plan.priorities = [{"text": "Call Mia", "is_done": False}]
    plan.save()
    assert build_life_facts(user_id=person.pk, now=NOON).has_plan_today


@pytest.mark.parametrize(
    ("zone", "moment", "bracket", "has_plan"),
    [
        ("Pacific/Auckland", "2026-11-18T19:00+00:00", "morning", False),  # the 19th, 08:00
        ("America/Los_Angeles", "2026-11-19T03:30+00:00", "evening", True),  # still the 18th, 19:30
        ("Europe/Berlin", "2026-10-25T01:30+00:00", "evening", False),  # 02:30 for the second time
        ("Europe/Berlin", "2026-03-29T01:30+00:00", "evening", False),  # 03:30, an hour that came early
        ("Europe/Berlin", "2026-03-29T02:00+00:00", "morning", False),
    ],
)
def test_the_clock_is_the_users_own_across_zones_and_daylight_saving(
    person: User, zone: str, moment: str, bracket: str, has_plan: bool
) -> None:
    Profile.unscoped.update(timezone=zone)
    DayPlan.unscoped.create(user=person, date=TODAY, intention="Unhurried")
    facts = build_life_facts(user_id=person.pk, now=datetime.fromisoformat(moment))
    assert (facts.time_bracket, facts.has_plan_today) == (bracket, has_plan)
    assert str(facts.local_time.tzinfo) == zone


@pytest.mark.parametrize(("ahead", "is_due"), [(1, False), (0, True), (-9, True)])
def test_a_checkin_is_due_on_its_day_and_after_it(person: User, ahead: int, is_due: bool) -> None:
    Profile.unscoped.update(next_checkin_on=TODAY + timedelta(days=ahead))
    assert build_life_facts(user_id=person.pk, now=NOON).is_checkin_due is is_due


def test_the_first_checkin_is_due_on_the_first_checkin_day_after_the_user_came(person: User) -> None:
    profile = Profile.unscoped.select_related("user").get()
    profile.next_checkin_on = None
    profile.user.date_joined = datetime(2026, 11, 22, 9, tzinfo=UTC)  # a Sunday, as the check-in day is
    assert not is_checkin_due(profile, date(2026, 11, 22))
    assert not is_checkin_due(profile, date(2026, 11, 28))
    assert is_checkin_due(profile, date(2026, 11, 29))


def test_captures_count_until_a_log_folds_them(person: User, other_user: User) -> None:
    for number in range(6):
        file = keep(person, f"captures/2026-11-18-12000{number}.md", FileType.CAPTURE)
        Capture.unscoped.create(
            user=person, file=file, captured_at=NOON, folded_on=TODAY if number == 0 else None
        )
    facts = build_life_facts(user_id=person.pk, now=NOON)
    assert facts.unfolded_captures == 5
    assert build_life_facts(user_id=other_user.pk, now=NOON).unfolded_captures == 0


@pytest.mark.parametrize(
    ("day", "end"),
    [
        (date(2026, 1, 1), date(2026, 3, 31)),
        (date(2026, 6, 30), date(2026, 6, 30)),
        (date(2026, 8, 15), date(2026, 9, 30)),
        (date(2026, 12, 31), date(2026, 12, 31)),
        (date(2028, 2, 29), date(2028, 3, 31)),
    ],
)
def test_a_quarter_ends_on_its_last_day(day: date, end: date) -> None:
    assert quarter_end(day) == end


def test_the_days_to_the_quarters_end_are_the_users_own(person: User) -> None:
    facts = build_life_facts(user_id=person.pk, now=datetime(2026, 12, 31, 12, tzinfo=UTC))
    assert facts.days_to_quarter_end == 0
    Profile.unscoped.update(timezone="Pacific/Auckland")
    facts = build_life_facts(user_id=person.pk, now=datetime(2026, 12, 31, 20, tzinfo=UTC))
    assert facts.local_time.tzinfo == ZoneInfo("Pacific/Auckland")
    assert facts.days_to_quarter_end == 89


def test_the_last_messages_are_weighed(person: User) -> None:
    facts = build_life_facts(
        user_id=person.pk, now=NOON, recent=[SaidWords("Hello."), SaidWords("I'm overwhelmed.")]
    )
    assert facts.intensity.is_high


def test_only_the_last_message_asks_for_a_safety_plan(person: User) -> None:
    words = [SaidWords("Shall we write a safety plan?"), SaidWords("Later.")]
    assert not build_life_facts(user_id=person.pk, now=NOON, recent=words).asks_for_plan
    assert build_life_facts(user_id=person.pk, now=NOON, recent=words[:1]).asks_for_plan


def test_another_persons_life_changes_nothing(person: User, other_user: User) -> None:
    before = build_life_facts(user_id=person.pk, now=NOON)
    keep(other_user, "life-map/_overview.md", FileType.OVERVIEW)
    keep(other_user, "life-map/play.md", FileType.DOMAIN, status="in_crisis")
    keep(other_user, "daily-logs/2026-11-18.md", FileType.DAILY_LOG)
    DayPlan.unscoped.create(user=other_user, date=TODAY, intention="Theirs")
    assert build_life_facts(user_id=person.pk, now=NOON) == before


def test_the_number_of_queries_is_constant(
    person: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(4):
        build_life_facts(user_id=person.pk, now=NOON)
    for number in range(50):
        keep(person, f"daily-logs/2026-09-{number:03}.md", FileType.DAILY_LOG)
        file = keep(person, f"captures/{number}.md", FileType.CAPTURE)
        Capture.unscoped.create(user=person, file=file, captured_at=NOON)
    for domain in LifeDomain.values:
        keep(person, f"life-map/{domain}.md", FileType.DOMAIN, status="okay")
    with django_assert_num_queries(4):
        build_life_facts(user_id=person.pk, now=NOON)
