"""Days, times and names of files on pages, in the language that is active."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from django.utils.translation import override

from coaching.calendar.selectors import ALL_DAY, LATE_SPAN, UNTIL, DayEvent
from coaching.clock.moments import day_in_words, moment_in_words
from coaching.transcript.names import shown_name
from coaching.views.sidebar import group_name

TODAY = date(2026, 11, 23)
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("language", "day", "words"),
    [
        ("en", date(2026, 11, 18), "Wednesday, 18 November"),
        ("de", date(2026, 11, 18), "Mittwoch, 18. November"),
        ("es", date(2026, 11, 18), "miércoles, 18 de noviembre"),
        ("de", date(2025, 1, 2), "Donnerstag, 2. Januar 2025"),
    ],
)
def test_a_day_is_written_as_its_language_writes_days(language: str, day: date, words: str) -> None:
    with override(language):
        assert day_in_words(day, today=TODAY) == words


def test_a_moment_has_its_day_unless_that_is_today() -> None:
    with override("de"):
        earlier = datetime(2026, 11, 18, 9, 5, tzinfo=UTC)
        assert moment_in_words(earlier, today=TODAY, zone=BERLIN) == "Mittwoch, 18. November, 10:05"
        assert moment_in_words(earlier, today=date(2026, 11, 18), zone=BERLIN) == "10:05"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("daily-logs/2026-11-18.md", "Mittwoch, 18. November 2026"),
        ("captures/2026-11-18-221503.md", "Mittwoch, 18. November 2026, 22:15:03"),
        ("captures/2026-11-18-221503-2.md", "Mittwoch, 18. November 2026, 22:15:03 (2)"),
        ("captures/2026-11-18-013000.md", "Mittwoch, 18. November 2026, 01:30:00"),
        ("reflections/2026-11-18-rest.md", "Rest (18. November 2026)"),
        ("captures/2026-11-18-996199.md", "996199 (18. November 2026)"),
    ],
)
def test_a_file_named_by_its_day_has_the_day_in_words(path: str, name: str) -> None:
    with override("de"):
        assert shown_name(path) == name


def test_captures_of_one_minute_and_of_one_second_have_names_that_tell_them_apart() -> None:
    names = {
        shown_name(f"captures/2026-11-18-{end}.md")
        for end in ("221503", "221504", "221504-2", "221504-3", "221603")
    }
    assert len(names) == 5


def test_a_name_begins_with_a_capital_where_days_and_months_have_none() -> None:
    with override("es"):
        assert shown_name("daily-logs/2026-11-18.md") == "Miércoles, 18 de noviembre de 2026"
        assert group_name(is_pinned=False, day=date(2026, 5, 1), today=TODAY) == "Mayo de 2026"


def test_models_read_the_times_of_events_in_english() -> None:
    starts, ends = datetime(2026, 11, 24, 0, 30, tzinfo=BERLIN), datetime(2026, 11, 24, 2, tzinfo=BERLIN)
    events = [
        DayEvent(uid="1", title="", location="", calendar="", form=form, starts=starts, ends=ends)
        for form in (UNTIL, LATE_SPAN)
    ]
    all_day = DayEvent(uid="2", title="", location="", calendar="", form=ALL_DAY)
    with override("de"):
        said = [event.when for event in (*events, all_day)]
    assert said == ["until 02:00", "00:30–02:00 (past midnight)", "all day"]
    assert [event.shown_when for event in (*events, all_day)] == said
