"""A year ago today, or a month ago: the person's own words of that day, unless there was danger."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.contrib.auth.models import User

from coaching.letters.look_back import LookBack, read_look_back
from coaching.life.captures import keep_capture
from coaching.models import CaptureVerdict, FileSource, FileType, UserFile, UserFileVersion
from coaching.safety.card import METADATA_KEY, metadata_of
from sessions_app.models import Session, ToolCallRecord, ToolCallState
from sessions_app.organising import delete_session
from sessions_app.verdicts import NewVerdict, store_verdict
from tests.letters.months import at, keep, talk

TODAY, YEAR_AGO, MONTH_AGO = date(2026, 11, 20), date(2025, 11, 20), date(2026, 10, 20)
NOON_THEN = datetime(2025, 11, 20, 12, tzinfo=UTC)
UTC_ZONE = ZoneInfo("UTC")

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def now() -> Iterator[None]:
    with time_machine.travel(datetime(2026, 11, 20, 9, tzinfo=UTC), tick=False):
        yield


def seen(user: User, today: date = TODAY, zone: ZoneInfo = UTC_ZONE) -> LookBack | None:
    return read_look_back(user_id=user.pk, today=today, zone=zone)


def capture(user: User, text: str, moment: datetime = NOON_THEN, zone: ZoneInfo = UTC_ZONE) -> None:
    keep_capture(user_id=user.pk, text=text, client_id=text, now=moment, timezone=zone)


def test_the_captures_of_a_year_ago_come_before_everything_else(user: User) -> None:
    capture(user, "The first snow fell while I walked home.")
    session = Session.unscoped.create(user=user)
    keep(user, FileType.DAILY_LOG, "2025-11-20", preview_line="You walked home.", session=session)
    capture(user, "Something else.", datetime(2026, 10, 20, 12, tzinfo=UTC))
    found = seen(user)
    assert found
    assert (found.day, found.is_year) == (YEAR_AGO, True)
    assert found.text == "The first snow fell while I walked home."


def test_without_anything_a_year_ago_it_is_the_day_a_month_ago(user: User) -> None:
    capture(user, "I signed the contract.", datetime(2026, 10, 20, 12, tzinfo=UTC))
    found = seen(user)
    assert found
    assert (found.day, found.is_year, found.text) == (MONTH_AGO, False, "I signed the contract.")


def test_without_either_there_is_nothing(user: User) -> None:
    capture(user, "Of another day.", datetime(2025, 11, 21, 12, tzinfo=UTC))
    assert seen(user) is None


def test_the_day_is_the_persons_own_until_four_in_the_morning(user: User) -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    capture(user, "Late at night.", datetime(2025, 11, 20, 18, 30, tzinfo=UTC), tokyo)  # 03:30 in Tokyo
    found = seen(user, zone=tokyo)
    assert found
    assert found.text == "Late at night."


@pytest.mark.parametrize(
    ("today", "day"),
    [
        (date(2028, 2, 29), date(2027, 2, 28)),
        (date(2027, 3, 31), date(2027, 2, 28)),
        (date(2027, 1, 15), date(2026, 12, 15)),
    ],
)
def test_a_day_that_the_month_lacks_is_its_last(user: User, today: date, day: date) -> None:
    capture(user, "Here.", datetime(day.year, day.month, day.day, 12, tzinfo=UTC))
    found = seen(user, today)
    assert found
    assert found.day == day


def test_plans_logs_and_letters_come_by_the_line_that_tells_of_them(user: User) -> None:
    session = Session.unscoped.create(user=user)
    keep(user, FileType.LETTER, "2025-10", preview_line="“I slept.”", source=FileSource.JOB)
    UserFile.of(user.pk).update(created_at=NOON_THEN)
    assert text_of(user) == "“I slept.”"
    keep(user, FileType.DAILY_LOG, "2025-11-20", preview_line="You walked home.", session=session)
    assert text_of(user) == "You walked home."
    keep(user, FileType.DAY_PLAN, "2025-11-20", intention="Walk home slowly.", session=session)
    assert text_of(user) == "Walk home slowly."


def text_of(user: User) -> str:
    found = seen(user)
    return found.text if found else ""


def test_what_a_deleted_conversation_wrote_doesnt_come_back(user: User) -> None:
    session = Session.unscoped.create(user=user)
    keep(user, FileType.DAY_PLAN, "2025-11-20", intention="Walk home slowly.", session=session)
    assert text_of(user)
    delete_session(user_id=user.pk, session_id=session.pk)
    assert text_of(user) == ""
    UserFileVersion.of(user.pk).update(session=None)  # its rows are gone
    assert text_of(user) == ""


def test_a_day_with_danger_in_a_message_doesnt_come_back(user: User) -> None:
    capture(user, "The first snow fell.")
    talk(user, datetime(2025, 11, 20, 22, tzinfo=UTC), "I want to kill myself.")
    assert seen(user) is None


def test_a_day_with_danger_by_a_verdict_doesnt_come_back(user: User) -> None:
    capture(user, "The first snow fell.")
    session = talk(user, datetime(2025, 11, 20, 22, tzinfo=UTC), "The bridge is quiet.")
    store_verdict(session.messages.get(number=1).pk, NewVerdict(level="concern", looked="concern"))
    assert seen(user) is None


def test_a_day_with_danger_in_an_answer_doesnt_come_back(user: User) -> None:
    capture(user, "The first snow fell.")
    session = talk(user, datetime(2025, 11, 20, 22, tzinfo=UTC), "Hello.")
    ToolCallRecord.unscoped.create(
        turn=session.turns.get(), round_number=1, position=0, tool_use_id="toolu_1", name="show_pulse_check",
        state=ToolCallState.ANSWERED, finished_at=datetime(2025, 11, 20, 22, tzinfo=UTC),
        metadata={METADATA_KEY: metadata_of("I want to kill myself.")[METADATA_KEY]},
    )  # fmt: skip
    assert seen(user) is None


def test_a_day_with_danger_in_a_capture_doesnt_come_back(user: User) -> None:
    capture(user, "The first snow fell.")
    capture(user, "I want to kill myself.")
    assert seen(user) is None


def test_a_day_whose_capture_a_look_found_dangerous_doesnt_come_back(user: User) -> None:
    capture(user, "The bridge is quiet.")
    version = UserFileVersion.of(user.pk).get()
    CaptureVerdict.unscoped.update_or_create(version=version, defaults={"level": "concern"})
    assert seen(user) is None


def test_after_danger_a_year_ago_the_month_comes_back(user: User) -> None:
    capture(user, "I want to kill myself.")
    capture(user, "I signed the contract.", at(20))
    assert text_of(user) == "I signed the contract."


def test_nothing_of_somebody_else_comes_back(user: User, other_user: User) -> None:
    capture(other_user, "This is mine.")
    assert seen(user) is None
    assert seen(other_user)
