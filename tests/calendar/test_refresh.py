"""Feeds are refreshed on time, a failing one keeps its events, and files are expanded as weeks pass."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from aiohttp import web
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.calendar.fetch import FeedFetcher
from coaching.calendar.fetchers import Fetched, use_fetcher
from coaching.calendar.reading import read_calendar
from coaching.calendar.refresh import (
    FEED_INTERVAL,
    LONGEST_WAIT,
    Attempt,
    attempt_refresh,
    begin_refresh,
    enqueue_due,
    finish_refresh,
    wait_after,
)
from coaching.calendar.sources import keep_calendar
from coaching.job_queue.names import REFRESH_JOB
from coaching.models import CalendarEvent, CalendarKind, CalendarSource
from sessions_app.database import in_database
from tests.calendar.conftest import NOW, FeedServer, calendar_text, feed_server, one_event
from tests.jobs.conftest import WorkOff, jobs_named, practice, queue, work_off

__all__ = ["practice", "queue", "work_off"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def server() -> AsyncIterator[FeedServer]:
    """A server with a feed, which is this process's public internet."""
    async with feed_server() as server:
        server.answers["/feed.ics"] = calendar_text(one_event("Before"))
        with use_fetcher(server.fetcher()):
            yield server


def keep(user: User, origin: str, text: str, kind: CalendarKind = CalendarKind.FEED) -> CalendarSource:
    source, _ = keep_calendar(
        user_id=user.pk,
        kind=kind,
        origin=origin,
        name="Work",
        fetched=Fetched(body=text.encode(), etag="", last_modified=""),
        read=read_calendar(text.encode(), day=NOW.date()),
        now=NOW,
    )
    return source


async def follow(user: User, server: FeedServer) -> CalendarSource:
    text = server.answers["/feed.ics"]
    assert isinstance(text, str)
    return await in_database(keep, user, server.url(), text)


async def refresh(source: CalendarSource, fetcher: FeedFetcher, *, at: datetime) -> CalendarSource:
    attempt = await in_database(begin_refresh, source_id=source.pk, now=at)
    assert attempt is not None
    outcome = await attempt_refresh(attempt, fetcher=fetcher)
    await in_database(finish_refresh, attempt, outcome)
    return await in_database(CalendarSource.unscoped.get, id=source.pk)


async def titles() -> list[str]:
    return await in_database(
        lambda: list(CalendarEvent.unscoped.order_by("title").values_list("title", flat=True))
    )


@pytest.mark.slow
async def test_what_has_changed_replaces_what_was_there(user: User, server: FeedServer) -> None:
    source = await follow(user, server)
    assert await titles() == ["Before"]
    server.answers["/feed.ics"] = calendar_text(one_event("After"), one_event("Also"))
    later = NOW + timedelta(hours=1)
    source = await refresh(source, server.fetcher(), at=later)
    assert await titles() == ["After", "Also"]
    assert (source.read_at, source.next_try_at, source.failures) == (later, later + FEED_INTERVAL, 0)


async def test_what_hasn_t_changed_is_left_as_it_is(user: User, server: FeedServer) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.headers.get("If-None-Match"):
            return web.Response(status=304)
        return web.Response(text=calendar_text(one_event("Before")), headers={"ETag": '"1"'})

    source = await follow(user, server)
    (before,) = await in_database(lambda: list(CalendarEvent.unscoped.values_list("id", flat=True)))
    server.answers["/feed.ics"] = answer
    for hour in (1, 2):
        source = await refresh(source, server.fetcher(), at=NOW + timedelta(hours=hour))
        assert source.etag == ('"1"' if hour == 1 else "")
    (after,) = await in_database(lambda: list(CalendarEvent.unscoped.values_list("id", flat=True)))
    assert before == after
    assert source.read_at == NOW + timedelta(hours=2)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (web.Response(status=503), "a problem"),
        (web.Response(text="<html>Sign in</html>"), "isn’t a calendar"),
        (web.Response(text=calendar_text(one_event("Cut"))[:-20]), "incomplete"),
    ],
)
async def test_a_feed_that_fails_keeps_its_events_and_says_since_when(
    user: User, server: FeedServer, answer: web.Response, sentence: str
) -> None:
    source = await follow(user, server)
    text, server.answers["/feed.ics"] = server.answers["/feed.ics"], answer
    moments = [NOW + timedelta(hours=1), NOW + timedelta(hours=2)]
    for failures, moment in enumerate(moments, start=1):
        source = await refresh(source, server.fetcher(), at=moment)
        assert (source.failures, source.failing_since) == (failures, moments[0])
        assert source.next_try_at == moment + wait_after(failures)
    assert sentence in source.error
    assert source.read_at == NOW
    assert await titles() == ["Before"]
    server.answers["/feed.ics"] = text
    source = await refresh(source, server.fetcher(), at=NOW + timedelta(hours=3))
    assert (source.failures, source.failing_since, source.error) == (0, None, "")


def test_the_waits_grow_up_to_a_day() -> None:
    waits = [wait_after(failures) for failures in (1, 2, 3, 6, 9, 10_000)]
    assert waits == sorted(waits)
    assert waits[0] == timedelta(minutes=15)
    assert waits[-1] == LONGEST_WAIT


@pytest.mark.parametrize("is_failing", [False, True])
async def test_the_weeks_ahead_are_filled_in_from_what_is_there(
    user: User, server: FeedServer, is_failing: bool
) -> None:
    text = calendar_text(one_event("Weekly", "20261118T090000Z", "RRULE:FREQ=WEEKLY"))
    server.answers["/feed.ics"] = text
    sources = [await follow(user, server), await in_database(keep, user, "a.ics", text, CalendarKind.FILE)]
    if is_failing:
        server.answers["/feed.ics"] = web.Response(status=500)
    later = NOW + timedelta(days=200)
    for source in sources:
        found = await refresh(source, server.fetcher(), at=later)
        assert bool(found.failures) == (is_failing and source.kind == CalendarKind.FEED)
        newest = await in_database(
            source.events.order_by("-starts_at").values_list("starts_at", flat=True).first
        )
        assert newest is not None
        assert newest > later + timedelta(days=90)
        assert await in_database(source.events.filter(starts_at__lt=NOW).count) == 0


async def test_of_two_attempts_the_later_one_holds_and_a_removed_calendar_stays_gone(
    user: User, server: FeedServer
) -> None:
    source = await follow(user, server)
    first, second = [
        await in_database(begin_refresh, source_id=source.pk, now=NOW + timedelta(minutes=minutes))
        for minutes in (10, 11)
    ]
    assert isinstance(first, Attempt)
    assert isinstance(second, Attempt)
    old = await attempt_refresh(first, fetcher=server.fetcher())
    server.answers["/feed.ics"] = calendar_text(one_event("After"))
    new = await attempt_refresh(second, fetcher=server.fetcher())
    assert await in_database(finish_refresh, second, new)
    assert await in_database(finish_refresh, first, old) is None
    assert await titles() == ["After"]
    await in_database(CalendarSource.unscoped.all().delete)
    assert await in_database(finish_refresh, second, new) is None
    assert await titles() == []
    assert await in_database(begin_refresh, source_id=source.pk, now=NOW) is None


async def test_the_queue_gets_what_is_due_once_and_works_it_off(
    user: User, other_user: User, server: FeedServer, work_off: WorkOff
) -> None:
    due = await follow(user, server)
    moment = timezone.now()
    rest: dict[str, Any] = {"digest": "", "expanded_on": moment.date(), "read_at": moment, "tried_at": moment}
    rest |= {"content": b"", "kind": CalendarKind.FEED, "name": "x"}
    await in_database(
        lambda: (
            CalendarSource.unscoped.update(next_try_at=moment - timedelta(minutes=1)),
            CalendarSource.unscoped.create(
                user=user, origin=server.url("/later"), next_try_at=moment + timedelta(hours=1), **rest
            ),
            User.objects.filter(id=other_user.pk).update(is_active=False),
            CalendarSource.unscoped.create(
                user=other_user, origin=server.url("/gone"), next_try_at=moment, **rest
            ),
        )
    )
    server.answers["/feed.ics"] = calendar_text(one_event("After", f"{moment:%Y%m%d}T120000Z"))
    counts = await asyncio.gather(*(in_database(enqueue_due, now=moment) for _ in range(3)))
    assert sorted(counts) == [0, 0, 1]
    await work_off()
    assert [(job.status, job.args["source_id"]) for job in await jobs_named(REFRESH_JOB)] == [
        ("succeeded", due.pk)
    ]
    assert await titles() == ["After"]
    assert [request.path for request in server.requests] == ["/feed.ics"]


async def test_a_job_that_runs_again_asks_nobody(user: User, server: FeedServer, work_off: WorkOff) -> None:
    source = await follow(user, server)
    await in_database(CalendarSource.unscoped.update, next_try_at=timezone.now())
    await in_database(enqueue_due, now=timezone.now())
    await in_database(CalendarSource.unscoped.update, next_try_at=timezone.now() + timedelta(hours=1))
    await work_off()
    assert [job.status for job in await jobs_named(REFRESH_JOB)] == ["succeeded"]
    assert server.requests == []
    with time_machine.travel(NOW + timedelta(days=400), tick=True):
        assert await in_database(begin_refresh, source_id=source.pk, now=timezone.now(), is_due_only=True)
