"""Parsing calendars in any form, valid or hostile.

Over 300 lines, because most of them are calendars.
"""

import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, date, datetime

import pytest

from coaching.calendar import reading
from coaching.calendar.reading import MAX_BYTES, Overloaded, ReadCalendar, ReadEvent, digest_of, read_calendar
from sessions_app.errors import Refused
from tests.calendar.conftest import DAY, calendar_text, one_event
from tests.patience import patience

SIXTY = ",".join(map(str, range(60)))
CUSTOM_ZONE = """BEGIN:VTIMEZONE
TZID:Our Office
BEGIN:STANDARD
DTSTART:19701025T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:19700329T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
END:DAYLIGHT
END:VTIMEZONE
"""


def read(*events: str, head: str = "", day: date = DAY) -> ReadCalendar:
    return read_calendar(calendar_text(*events, head=head).encode(), day=day)


def moments(read: ReadCalendar) -> list[str]:
    """Return when each event starts, in UTC, in order."""
    return sorted(f"{event.starts_at:%m-%d %H:%M}" for event in read.events if event.starts_at)


def only(read: ReadCalendar) -> ReadEvent:
    (event,) = read.events
    return event


def test_an_event_has_its_words_its_place_and_its_moments() -> None:
    found = read(
        one_event("Dentist", "20261118T150000Z", "DTEND:20261118T153000Z", r"LOCATION:12 High St\, Leeds"),
        head="X-WR-CALNAME:Home\\, sweet\n",
    )
    assert found.name == "Home, sweet"
    assert only(found) == ReadEvent(
        uid="Dentist@test",
        title="Dentist",
        location="12 High St, Leeds",
        timezone="UTC",
        starts_at=datetime(2026, 11, 18, 15, tzinfo=UTC),
        ends_at=datetime(2026, 11, 18, 15, 30, tzinfo=UTC),
    )


def test_a_weekly_meeting_keeps_its_hour_over_both_changes_of_the_clocks() -> None:
    meeting = "UID:1\nSUMMARY:Team\nDTSTART;TZID={}:20250106T090000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY"
    spring = moments(read(meeting.format("Europe/Berlin"), day=date(2026, 3, 29)))
    assert {moment for moment in spring if "03-16" <= moment < "04-12"} == {
        "03-16 08:00", "03-23 08:00", "03-30 07:00", "04-06 07:00",
    }  # fmt: skip
    autumn = moments(read(meeting.format("America/New_York"), day=date(2026, 11, 1)))
    assert {moment for moment in autumn if "10-19" <= moment < "11-14"} == {
        "10-19 13:00", "10-26 13:00", "11-02 14:00", "11-09 14:00",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("zone", "head", "hour"),
    [
        ("Asia/Kolkata", "", "03:30"),
        ("W. Europe Standard Time", "", "08:00"),
        ("/freeassociation.sourceforge.net/Europe/Berlin", "", "08:00"),
        ("Our Office", CUSTOM_ZONE, "08:00"),
        ("Pacific/Chatham", "", "19:15"),
    ],
)
def test_time_zones_are_understood_as_programs_name_them(zone: str, head: str, hour: str) -> None:
    event = only(read(f"UID:1\nSUMMARY:x\nDTSTART;TZID={zone}:20261118T090000", head=head))
    assert f"{event.starts_at:%H:%M}" == hour
    assert not event.is_floating


@pytest.mark.parametrize("zone", ["", ";TZID=Nowhere/Known", ";TZID=../../etc/passwd", ";TZID="])
def test_a_time_without_a_known_zone_is_the_clock_on_the_wall(zone: str) -> None:
    event = only(read(f"UID:1\nSUMMARY:Yoga\nDTSTART{zone}:20261118T070000\nDTEND{zone}:20261118T080000"))
    assert event.is_floating
    assert (event.starts_at, event.ends_at) == (
        datetime(2026, 11, 18, 7, tzinfo=UTC),
        datetime(2026, 11, 18, 8, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("zone", "hour"),
    [
        ("America/New_York", "14:00"),
        ("W. Europe Standard Time", "08:00"),
        ("Nowhere", "09:00"),
        ("Europe", "09:00"),
    ],
)
def test_a_calendar_may_have_a_zone_of_its_own(zone: str, hour: str) -> None:
    found = read(
        "UID:1\nSUMMARY:x\nDTSTART:20261118T090000",
        "UID:2\nSUMMARY:y\nDTSTART:20261118T100000Z",
        head=f"X-WR-TIMEZONE:{zone}\n",
    )
    assert sorted(f"{event.title} {event.starts_at:%H:%M}" for event in found.events) == [
        f"x {hour}", "y 10:00",
    ]  # fmt: skip


def test_whole_days_are_days_and_lead_through_no_time_zone() -> None:
    found = read(
        "UID:1\nSUMMARY:Holiday\nDTSTART;VALUE=DATE:20261118\nDTEND;VALUE=DATE:20261121",
        "UID:2\nSUMMARY:Birthday\nDTSTART;VALUE=DATE:19900101\nRRULE:FREQ=YEARLY",
        "UID:3\nSUMMARY:Backwards\nDTSTART;VALUE=DATE:20261120\nDTEND;VALUE=DATE:20261110",
        head="X-WR-TIMEZONE:Pacific/Kiritimati\n",
    )
    assert {(event.title, event.starts_on, event.ends_on) for event in found.events} == {
        ("Holiday", date(2026, 11, 18), date(2026, 11, 21)),
        ("Birthday", date(2027, 1, 1), date(2027, 1, 2)),
        ("Backwards", date(2026, 11, 10), date(2026, 11, 20)),
    }
    assert all(event.starts_at is None and not event.is_floating for event in found.events)


def test_single_times_of_a_series_are_moved_left_out_added_and_cancelled() -> None:
    found = read(
        "UID:s\nSUMMARY:Run\nDTSTART:20261116T060000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=6\n"
        "EXDATE:20261117T060000Z\nRDATE:20261201T060000Z",
        "UID:s\nRECURRENCE-ID:20261118T060000Z\nSUMMARY:Late run\nDTSTART:20261118T170000Z\nDURATION:PT1H",
        "UID:s\nRECURRENCE-ID:20261119T060000Z\nSUMMARY:Run\nDTSTART:20261119T060000Z\nSTATUS:CANCELLED",
        "UID:gone\nSUMMARY:Gone\nDTSTART:20261118T060000Z\nSTATUS:CANCELLED",
    )
    assert moments(found) == ["11-16 06:00", "11-18 17:00", "11-20 06:00", "11-21 06:00", "12-01 06:00"]
    assert {event.title for event in found.events if event.starts_at and event.starts_at.day == 18} == {
        "Late run"
    }


def test_a_time_moved_into_these_weeks_from_long_ago_is_found_and_one_moved_away_is_not() -> None:
    found = read(
        "UID:s\nSUMMARY:Old\nDTSTART:20200106T060000Z\nRRULE:FREQ=MONTHLY;UNTIL=20200601T060000Z",
        "UID:s\nSUMMARY:Found\nRECURRENCE-ID:20200206T060000Z\nDTSTART:20261120T060000Z",
        "UID:t\nSUMMARY:Series\nDTSTART:20261120T070000Z\nRRULE:FREQ=DAILY;COUNT=1",
        "UID:t\nSUMMARY:Away\nRECURRENCE-ID:20261120T070000Z\nDTSTART:20300101T070000Z",
    )
    assert [(event.title, f"{event.starts_at:%Y-%m-%d}") for event in found.events] == [
        ("Found", "2026-11-20")
    ]


def test_the_last_version_of_an_event_holds_and_events_that_share_a_name_are_kept_apart() -> None:
    versions = read(
        "UID:1\nSEQUENCE:0\nSUMMARY:Before\nDTSTART:20261118T060000Z",
        "UID:1\nSEQUENCE:3\nSUMMARY:After\nDTSTART:20261119T060000Z",
    )
    assert only(versions).title == "After"
    shared = read(*(f"UID:0\nSUMMARY:{n}\nDTSTART:202611{n}T060000Z" for n in (18, 19, 20)))
    assert sorted(event.title for event in shared.events) == ["18", "19", "20"]
    assert len(read(*(f"SUMMARY:{n}\nDTSTART:202611{n}T060000Z" for n in (18, 19, 20))).events) == 3


DAYS = ("20261001", "20261020", "20270220", "20270401")


def test_only_the_weeks_around_the_day_are_written_out() -> None:
    found = read(*(one_event(day, f"{day}T090000Z") for day in DAYS))
    assert sorted(event.title for event in found.events) == ["20261020", "20270220"]
    daily = read(one_event("Daily", "19990101T090000Z", "RRULE:FREQ=DAILY"))
    assert 125 < len(daily.events) < 140


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SECONDLY",
        "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;INTERVAL=0;BYHOUR=0;BYDAY=MO;BYMONTHDAY=1",
        "FREQ=HOURLY",
        f"FREQ=YEARLY;BYSECOND={SIXTY};BYMINUTE={SIXTY};BYHOUR=1,2,3,4,5,6,7,8,9",
        "FREQ=DAILY;INTERVAL=99999999999999999999",
        "FREQ=NONSENSE",
    ],
)
def test_a_bomb_is_left_out_and_takes_no_other_event_with_it(rule: str) -> None:
    started = time.monotonic()
    found = read(one_event("Bomb", "19700101T000000Z", f"RRULE:{rule}"), one_event("Good"))
    assert time.monotonic() - started < 4 * patience()
    assert [event.title for event in found.events] == ["Good"]
    assert found.left_out == 1


@pytest.mark.parametrize(
    "lines",
    [
        "UID:1\nSUMMARY:no start",
        "UID:1\nDTSTART:yesterday",
        "UID:1\nDTSTART;TZID=Europe:20261118T090000",
        "UID:1\nDTSTART;VALUE=DATE:20261399",
        "UID:1\nDTSTART:20261118T090000Z\nDURATION:P99999999999D",
        "UID:1\nDTSTART:20261118T090000Z\nRRULE:FREQ=DAILY\nEXDATE:nonsense",
        "UID:1\nDTSTART:20261118T090000Z\nRECURRENCE-ID:nonsense",
    ],
)
def test_a_broken_event_is_counted_and_left_out(lines: str) -> None:
    found = read(lines, one_event("Good"))
    assert "Good" in [event.title for event in found.events]
    assert found.left_out + len(found.events) == 2


def test_a_zone_that_never_ends_harms_only_its_own_events() -> None:
    zone = CUSTOM_ZONE.replace("FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU", "FREQ=SECONDLY")
    found = read("UID:1\nSUMMARY:x\nDTSTART;TZID=Our Office:20261118T090000", one_event("Good"), head=zone)
    assert "Good" in [event.title for event in found.events]


def test_moments_at_the_ends_of_time_are_moved_nearer() -> None:
    found = read("UID:1\nSUMMARY:Always\nDTSTART:19500101T000000Z\nDTEND:20991231T235959Z")
    event = only(found)
    assert event.starts_at is not None
    assert event.ends_at is not None
    assert event.starts_at.year > 2020
    assert event.ends_at.year < 2035


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_any_encoding_and_any_line_ends_are_read(encoding: str, newline: str) -> None:
    text = calendar_text(one_event("Café")).replace("\n", newline)
    assert only(read_calendar(text.encode(encoding), day=DAY)).title == "Café"


def test_odd_characters_are_taken_out_and_long_words_cut() -> None:
    raw = calendar_text(one_event("X")).encode()
    raw = raw.replace(b"SUMMARY:X", b"SUMMARY:a\x00b\x07c\xe2\x80\xae\\nd \xc3\xbf" + b"y" * 100_000)
    title = only(read_calendar(raw, day=DAY)).title
    assert title.startswith("ab c d ÿyyy")
    assert len(title) == 300
    folded = b"SUMMARY:caf\xc3\r\n \xa9 \r\n\tau lait"
    raw = calendar_text(one_event("X")).encode().replace(b"SUMMARY:X", folded)
    assert only(read_calendar(raw, day=DAY)).title == "café au lait"


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"", "isn’t a calendar"),
        (b"<!doctype html><title>Sign in</title>", "isn’t a calendar"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "isn’t a calendar"),
        (calendar_text(one_event()).encode()[:-20], "incomplete"),
        (b"BEGIN:VCALENDAR\n" + b"BEGIN:X\n" * 100_000, "incomplete"),
        (b"BEGIN:VCALENDAR\nX:" + b"y" * MAX_BYTES, "larger than 5 MB"),
        (
            calendar_text(
                *(one_event(f"{n}", "20261101T000000Z", "RRULE:FREQ=HOURLY;COUNT=900") for n in range(7))
            ).encode(),
            "more than 5,000 events",
        ),
    ],
)
def test_what_can_t_be_read_is_refused_with_a_sentence(raw: bytes, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        read_calendar(raw, day=DAY)


def test_a_calendar_that_takes_too_long_is_given_up() -> None:
    bombs = (one_event(f"{n}", "19700101T000000Z", "RRULE:FREQ=SECONDLY") for n in range(100))
    started = time.monotonic()
    with pytest.raises(Refused, match="takes too long"):
        read_calendar(calendar_text(*bombs).encode(), day=DAY, seconds=2)
    assert time.monotonic() - started < 2 + patience()


def test_where_others_are_read_for_too_long_it_may_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "WAIT_SECONDS", 0.01)
    with ExitStack() as others:
        for _ in range(reading.WORKER_COUNT):
            others.enter_context(reading._host.open(others.enter_context(tempfile.TemporaryFile()), b""))
        with pytest.raises(Overloaded, match="try again in a minute"):
            read(one_event())
    assert only(read(one_event())).title == "Dentist"


def test_a_time_stamp_alone_is_no_change() -> None:
    stamped = [
        calendar_text(one_event(title, "20261118T150000Z", f"DTSTAMP:{stamp}T000000Z")).encode()
        for title, stamp in (("A", "20261117"), ("A", "20261118"), ("B", "20261118"))
    ]
    first, second, other = map(digest_of, stamped)
    assert first == second != other
