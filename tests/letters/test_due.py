"""When letters are due: on the first of the month by the person's clock, each at its own time of the day."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User

from coaching.job_queue.queue import is_queued
from coaching.letters.due import SPREAD, due_at, queue_due
from coaching.models import Letter, Profile
from tests.conftest import MakeUser
from tests.letters.months import FIRST, OCTOBER, wanting

BERLIN, TOKYO = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Tokyo")


def test_letters_are_spread_over_the_first_day_and_always_due_at_the_same_time() -> None:
    begin = datetime(2026, 11, 1, 4, tzinfo=BERLIN)
    due = [due_at(number, OCTOBER, BERLIN) for number in range(1, 1_001)]
    assert due == [due_at(number, OCTOBER, BERLIN) for number in range(1, 1_001)]
    assert all(begin <= moment <= begin + SPREAD for moment in due)
    for quarter in range(4):
        within = [
            begin + SPREAD * quarter / 4 <= moment < begin + SPREAD * (quarter + 1) / 4 for moment in due
        ]
        assert 200 < sum(within) < 300


@pytest.mark.django_db
class TestQueue:
    """Of several people, whose letter a moment finds due."""

    @pytest.mark.parametrize(
        ("zone", "now", "month"),
        [
            ("UTC", FIRST, OCTOBER),
            ("UTC", datetime(2026, 11, 1, 3, 59, tzinfo=UTC), None),
            ("Asia/Tokyo", datetime(2026, 11, 1, 12, tzinfo=UTC), OCTOBER),
            ("America/Los_Angeles", datetime(2026, 11, 1, 11, tzinfo=UTC), None),
            ("America/Los_Angeles", datetime(2026, 11, 2, 5, tzinfo=UTC), OCTOBER),
            ("UTC", FIRST + timedelta(days=6), OCTOBER),
            ("UTC", FIRST + timedelta(days=7), None),
            ("UTC", datetime(2027, 1, 3, tzinfo=UTC), date(2026, 12, 1)),
        ],
    )
    def test_the_persons_own_clock_decides(
        self, user: User, zone: str, now: datetime, month: date | None
    ) -> None:
        wanting(user, timezone=zone)
        queue_due(now=now)
        assert is_queued(f"letter:{user.pk}:{month}") is (month is not None)

    def test_only_those_who_want_one_and_have_none_yet(self, make_user: MakeUser) -> None:
        wants, never_asked, has_one, gone, tried, failed = (make_user() for _ in range(6))
        for each in (wants, has_one, tried, failed):
            wanting(each)
        wanting(gone)
        gone.is_active = False
        gone.save()
        Profile.unscoped.create(user=never_asked)
        Letter.unscoped.create(user=has_one, month=OCTOBER, ended_at=FIRST)
        Letter.unscoped.create(user=tried, month=OCTOBER, attempts=1, tried_at=FIRST - timedelta(hours=1))
        Letter.unscoped.create(user=failed, month=OCTOBER, attempts=6, tried_at=FIRST - timedelta(days=1))
        assert queue_due(now=FIRST) == 1
        assert is_queued(f"letter:{wants.pk}:{OCTOBER}")
