"""The calendar page without JavaScript."""

import re
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

import pytest
import time_machine
from aiohttp import web
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from coaching.calendar.fetch import FeedFetcher
from coaching.calendar.fetchers import use_fetcher
from coaching.calendar.reading import MAX_BYTES
from coaching.calendar.sources import MAX_SOURCES, attempts
from coaching.models import CalendarEvent, CalendarSource, Profile
from coaching.people.attempts import AttemptLimit
from sessions_app.database import in_database
from sessions_app.errors import Refused
from tests.browsers import browser_of
from tests.calendar.conftest import NOW, FeedServer, calendar_text, feed_server, one_event, source_of, timed
from tests.conftest import MakeUser

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/settings/calendar/"


@pytest.fixture(autouse=True)
def _on_that_day() -> Iterator[None]:
    with time_machine.travel(NOW, tick=True):
        yield


@pytest.fixture
def signed_in(client: Client, user: User) -> Client:
    """The person's browser, in Lisbon."""
    Profile.unscoped.create(user=user, timezone="Europe/Lisbon")
    client.force_login(user)
    return client


async def post(client: Client, path: str, **fields: str) -> Any:
    """Send a form from a thread, since the feed's server is in the test's own loop."""
    return await in_database(client.post, f"{PAGE}{path}", fields, follow=True)


@pytest.fixture
async def server() -> AsyncIterator[FeedServer]:
    """A server with a feed, which is this process's public internet."""
    async with feed_server() as server:
        server.answers["/feed.ics"] = calendar_text(one_event("Dentist"), head="X-WR-CALNAME:Ada's days\n")
        with use_fetcher(server.fetcher()):
            yield server


def upload(client: Client, text: str | bytes, file_name: str = "work.ics", **fields: str) -> Any:
    raw = text.encode() if isinstance(text, str) else text
    file = SimpleUploadedFile(file_name, raw, content_type="text/calendar")
    return client.post(f"{PAGE}upload/", {"file": file, **fields}, follow=True)


def page_of(response: Any) -> str:
    page: str = response.content.decode()
    return page


def test_an_empty_page_says_what_to_do(signed_in: Client) -> None:
    page = page_of(signed_in.get(PAGE))
    assert "Subscribe to a feed" in page
    assert "Upload a file" in page
    assert "Your calendars" not in page
    assert f'href="{PAGE}"' in page_of(signed_in.get("/settings/"))


def test_an_uploaded_file_shows_todays_events_at_the_persons_hours(signed_in: Client) -> None:
    text = calendar_text(
        one_event("Dentist", "20261118T150000Z", "DTEND:20261118T153000Z", "LOCATION:High St"),
        one_event("Birthday", "20261118", "RRULE:FREQ=YEARLY").replace("DTSTART:", "DTSTART;VALUE=DATE:"),
        one_event("Tomorrow", "20261119T150000Z"),
        "UID:broken\nDTSTART:never",
    )
    page = page_of(upload(signed_in, text))
    assert "work.ics was added: 3 events around today." in page
    assert "1 event couldn’t be read" in page
    today = page[page.index("What Sage sees today") :]
    assert "Wednesday, 18 November" in today
    assert (
        today.index("all day") < today.index("Birthday") < today.index("15:00–15:30") < today.index("High St")
    )
    assert "Tomorrow" not in today


def test_a_newer_file_of_the_same_name_takes_the_old_ones_place(signed_in: Client) -> None:
    upload(signed_in, calendar_text(one_event("Before")), name="Work")
    page = page_of(upload(signed_in, calendar_text(one_event("After"))))
    assert "Work was replaced" in page
    assert CalendarEvent.unscoped.get().title == "After"
    upload(signed_in, calendar_text(one_event("Also")), "other.ics")
    assert CalendarSource.unscoped.count() == 2


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"", "isn’t a calendar"),
        (b"%PDF-1.7", "isn’t a calendar"),
        (calendar_text(one_event()).encode()[:-9], "incomplete"),
        (b"BEGIN:VCALENDAR\n" + b"x" * MAX_BYTES, "larger than 5 MB"),
    ],
)
def test_an_unreadable_file_is_refused_at_its_field(signed_in: Client, raw: bytes, sentence: str) -> None:
    response = upload(signed_in, raw, name="Kept as typed")
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    page = page_of(response)
    assert sentence in page[page.index('id="upload_file_error"') :]
    assert 'value="Kept as typed"' in page
    assert not CalendarSource.unscoped.exists()


def test_a_form_without_a_file_or_with_odd_names_changes_nothing(signed_in: Client) -> None:
    assert "choose an .ics file" in page_of(signed_in.post(f"{PAGE}upload/", {"name": "x"}))
    assert "starts with https://" in page_of(signed_in.post(f"{PAGE}subscribe/", {"name": "x"}))
    for name in ("x" * 101, "a\x00b"):
        assert upload(signed_in, calendar_text(one_event()), name=name).status_code == 422
    assert not CalendarSource.unscoped.exists()
    upload(signed_in, calendar_text(one_event()), "../../\u202ee\x07vil/../<b>.ics")
    assert CalendarSource.unscoped.get().origin == "<b>.ics"
    assert "&lt;b&gt;.ics" in page_of(signed_in.get(PAGE))


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:{port}/feed.ics", "http://localhost:{port}/feed.ics", "http://2130706433:{port}/feed.ics",
        "webcal://[::1]:{port}/feed.ics", "http://169.254.169.254/latest/meta-data/", "file:///etc/passwd",
    ],
)  # fmt: skip
async def test_an_inner_address_is_refused_and_never_asked(
    signed_in: Client, server: FeedServer, address: str
) -> None:
    typed = address.format(port=server.port)
    with use_fetcher(FeedFetcher()):
        response = await post(signed_in, "subscribe/", address=typed)
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    page = page_of(response)
    assert "private network" in page or "Use an address that" in page
    assert f'value="{typed}"' in page
    assert server.requests == []


async def test_a_feed_is_followed_and_its_address_never_shown_again(
    signed_in: Client, server: FeedServer
) -> None:
    secret = server.url("/feed.ics?key=hush")
    response = await post(signed_in, "subscribe/", address=f" {secret} ")
    page = page_of(response)
    assert "Ada&#x27;s days was added: 1 event around today." in page
    assert "Feed from <bdi>127.0.0.1</bdi>" in page
    assert "hush" not in page
    again = await post(signed_in, "subscribe/", address=secret)
    assert "You’ve already added this feed." in page_of(again)
    assert len(server.requests) == 1


async def test_a_feed_can_be_read_at_once_but_not_all_the_time(signed_in: Client, server: FeedServer) -> None:
    await post(signed_in, "subscribe/", address=server.url())
    source = await in_database(CalendarSource.unscoped.get)
    refresh = f"{source.pk}/refresh/"
    too_soon = page_of(await post(signed_in, refresh))
    assert "days wasn’t updated. It was updated less than a minute ago." in too_soon
    server.answers["/feed.ics"] = calendar_text(one_event("Doctor"))
    with time_machine.travel(NOW + timedelta(minutes=5), tick=True):
        page = page_of(await post(signed_in, refresh))
    assert "days was updated: 1 event around today." in page
    assert "Doctor" in page
    server.answers["/feed.ics"] = web.Response(status=500)
    with time_machine.travel(NOW + timedelta(minutes=10), tick=True):
        page = page_of(await post(signed_in, refresh))
    assert "Not updated since 18 November" in page
    assert re.search(r"days couldn’t be read\. [^<]*has a problem right now", page)
    assert "Doctor" in page
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ([one_event("Dentist")], "is up to date."),
        ([], "was updated: 0 events around today."),
        ([one_event("Odd", "nonsense")], "none of its events around today could be read."),
        ([one_event("Odd", "nonsense"), one_event("New")], "was updated: 1 event around today."),
    ],
)
async def test_reading_a_feed_says_in_a_sentence_what_came_of_it(
    signed_in: Client, server: FeedServer, events: list[str], says: str
) -> None:
    await post(signed_in, "subscribe/", address=server.url())
    source = await in_database(CalendarSource.unscoped.get)
    server.answers["/feed.ics"] = calendar_text(*events, head="X-WR-CALNAME:Ada's days\n")
    with time_machine.travel(NOW + timedelta(minutes=5), tick=True):
        assert says in page_of(await post(signed_in, f"{source.pk}/refresh/"))


async def test_a_feed_that_is_removed_while_it_is_asked_isn_t_said_to_be_read(
    signed_in: Client, server: FeedServer
) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        await in_database(CalendarSource.unscoped.all().delete)
        return web.Response(text=calendar_text(one_event("Late")))

    await post(signed_in, "subscribe/", address=server.url())
    source = await in_database(CalendarSource.unscoped.get)
    server.answers["/feed.ics"] = answer
    with time_machine.travel(NOW + timedelta(minutes=5), tick=True):
        page = page_of(await post(signed_in, f"{source.pk}/refresh/"))
    assert "was updated or removed at the same time." in page
    assert "was updated: " not in page


def test_a_calendar_is_removed_with_its_events_and_another_s_can_t_be(
    signed_in: Client, user: User, other_user: User
) -> None:
    mine, theirs = source_of(user), source_of(other_user, "Theirs")
    for source in (mine, theirs):
        timed(source, "Event", "2026-11-18T15:00Z", "2026-11-18T15:30Z")
    for source_id in (theirs.pk, mine.pk + 1_000, 10**30):
        for action in ("refresh", "remove"):
            assert signed_in.post(f"{PAGE}{source_id}/{action}/").status_code == HTTPStatus.NOT_FOUND
    assert signed_in.get(f"{PAGE}{mine.pk}/remove/").status_code == HTTPStatus.METHOD_NOT_ALLOWED
    assert "Uploaded calendars don’t update by themselves" in page_of(
        signed_in.post(f"{PAGE}{mine.pk}/refresh/", follow=True)
    )
    page = page_of(signed_in.post(f"{PAGE}{mine.pk}/remove/", follow=True))
    assert "Work was removed." in page
    assert CalendarSource.unscoped.get() == theirs
    assert signed_in.post(f"{PAGE}{mine.pk}/remove/").status_code == HTTPStatus.NOT_FOUND


def test_there_is_room_for_so_many_calendars(signed_in: Client, user: User) -> None:
    for number in range(MAX_SOURCES):
        source_of(user, f"Calendar {number}")
    page = page_of(upload(signed_in, calendar_text(one_event())))
    assert "which is the limit" in page
    assert CalendarSource.unscoped.count() == MAX_SOURCES
    assert "was replaced" in page_of(upload(signed_in, calendar_text(one_event()), "Calendar 3.ics"))


def test_too_many_attempts_have_to_wait_each_person_for_themselves() -> None:
    limit = AttemptLimit(attempts=3, seconds=600)
    for _ in range(3):
        limit.count(1)
    with pytest.raises(Refused, match="try again in 10 minutes"):
        limit.count(1)
    limit.count(2)
    past = AttemptLimit(attempts=1, seconds=0)
    for _ in range(3):
        past.count(1)
    assert attempts.count(-1) is None  # type: ignore[func-returns-value]


def test_hostile_words_stay_words(signed_in: Client) -> None:
    words = r"</bdi><script>alert(1)</script>\u202e<img src=x onerror=alert(1)>"
    upload(
        signed_in, calendar_text(one_event("x").replace("SUMMARY:x", f"SUMMARY:{words}\nLOCATION:{words}"))
    )
    page = page_of(signed_in.get(PAGE))
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_operators_see_how_calendars_stand_and_neither_words_nor_addresses(
    user: User, make_user: MakeUser
) -> None:
    operator = make_user("olive", is_staff=True, is_superuser=True)
    source = source_of(
        user, "hush name", kind="feed", origin="https://calendar.example/hush/feed.ics",
        failures=1, failing_since=datetime(2026, 11, 17, tzinfo=UTC), error="The server has trouble.",
    )  # fmt: skip
    timed(source, "hush title", "2026-11-18T15:00Z", "2026-11-18T15:30Z")
    client = browser_of(operator)
    for address in ("", f"{source.pk}/change/"):
        page = page_of(client.get(f"/admin/coaching/calendarsource/{address}"))
        assert "calendar.example" in page
        assert "The server has trouble." in page
        assert "hush" not in page
    assert client.post(f"/admin/coaching/calendarsource/{source.pk}/delete/").status_code == 403
