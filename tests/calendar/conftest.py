"""Calendar texts, and a server for them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web
from django.contrib.auth.models import User

from coaching.calendar.fetch import FeedFetcher
from coaching.models import CalendarEvent, CalendarKind, CalendarSource

NOW = datetime(2026, 11, 18, 8, 0, tzinfo=UTC)
DAY = NOW.date()

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


def calendar_text(*events: str, head: str = "") -> str:
    """Return a calendar of events, each given by its lines without BEGIN and END."""
    blocks = "".join(f"BEGIN:VEVENT\n{event.strip()}\nEND:VEVENT\n" for event in events)
    return f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\n{head}{blocks}END:VCALENDAR\n"


def one_event(title: str = "Dentist", start: str = "20261118T150000Z", *more: str) -> str:
    """Return the lines of an event."""
    return "\n".join([f"UID:{title}@test", f"DTSTART:{start}", f"SUMMARY:{title}", *more])


@dataclass
class FeedServer:
    """A local server with responses set by the test."""

    port: int
    answers: dict[str, Answer | web.Response | str] = field(default_factory=dict)
    requests: list[web.Request] = field(default_factory=list)

    def url(self, path: str = "/feed.ics", host: str = "127.0.0.1") -> str:
        """Return an address of it."""
        return f"http://{host}:{self.port}{path}"

    def fetcher(self, **options: object) -> FeedFetcher:
        """Return a fetcher to which this server, and nothing else here, counts as public."""
        return FeedFetcher(allowed=frozenset({("127.0.0.1", self.port)}), **options)  # type: ignore[arg-type]


@asynccontextmanager
async def feed_server() -> AsyncIterator[FeedServer]:
    """Start a server on a free port."""
    server = FeedServer(port=0)

    async def answer(request: web.Request) -> web.StreamResponse:
        server.requests.append(request)
        given = server.answers.get(request.path, web.Response(status=404))
        if isinstance(given, str):
            return web.Response(text=given, content_type="text/calendar")
        if isinstance(given, web.Response):  # which can be sent only once
            return web.Response(status=given.status, body=given.body, headers=given.headers)
        return await given(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.port = runner.addresses[0][1]
    try:
        yield server
    finally:
        await runner.cleanup()


def source_of(user: User, name: str = "Work", **fields: Any) -> CalendarSource:
    """Keep a calendar of somebody, without events."""
    values = {
        "kind": CalendarKind.FILE, "origin": f"{name}.ics", "content": b"", "digest": "",
        "expanded_on": NOW.date(), "read_at": NOW, "tried_at": NOW, "next_try_at": NOW, **fields,
    }  # fmt: skip
    return CalendarSource.unscoped.create(user=user, name=name, **values)


def timed(source: CalendarSource, title: str, starts: str, ends: str, **fields: Any) -> CalendarEvent:
    """Put an event into a calendar; times are ISO."""
    return CalendarEvent.unscoped.create(
        source=source,
        uid=fields.pop("uid", title[:200]),
        title=title,
        starts_at=datetime.fromisoformat(starts),
        ends_at=datetime.fromisoformat(ends),
        **fields,
    )
