"""A week in a real browser: the web process's clock is set, the guided tour answers."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as BrowserSession
from playwright.async_api import Browser, Page, expect

from coaching.files.selectors import read_file
from coaching.models import Capture, LifeDomain, Profile, UserFile
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session, SessionStatus, Turn
from tests.browser.fixtures import WAIT_MS
from tests.browser.test_arcs import (
    LEFT_FOR_LATER,
    begin,
    close_day,
    life_mapping,
    open_day,
    weekly_checkin,
)
from tests.browsers import browser_of
from tests.live_sage import LiveSage, free_port, serve_practice, start_web_process, stop_web_process
from tests.thoroughness import IS_LONG

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

OpenPage = Callable[[str], Awaitable[Page]]

OFFERED = "form.next h2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """One day of the person's, in the zone they are in; its evening may end after midnight."""

    on: date
    zone: str
    bedtime: str = "21:30"
    is_past_midnight: bool = False

    def at(self, clock: str, *, later: int = 0, fold: int = 0) -> datetime:
        """Return a time in this day's zone, `later` days on."""
        return datetime.combine(
            self.on + timedelta(days=later), time.fromisoformat(clock).replace(fold=fold), ZoneInfo(self.zone)
        )

    @property
    def evening(self) -> datetime:
        """When the person closes the day; in a repeated hour, the second time."""
        if self.is_past_midnight:
            return self.at(self.bedtime, later=1, fold=1)
        return self.at(self.bedtime)


BERLIN, NEW_YORK, AUCKLAND = "Europe/Berlin", "America/New_York", "Pacific/Auckland"
# Berlin's clocks go forward and Auckland's back in the nights after these Saturdays. The first of April is
# skipped over the Pacific.
WEEK = (
    Day(on=date(2027, 3, 27), zone=BERLIN, bedtime="03:15", is_past_midnight=True),
    Day(on=date(2027, 3, 28), zone=BERLIN),
    Day(on=date(2027, 3, 30), zone=NEW_YORK),
    Day(on=date(2027, 3, 31), zone=NEW_YORK, bedtime="23:50"),
    Day(on=date(2027, 4, 2), zone=AUCKLAND),
    Day(on=date(2027, 4, 3), zone=AUCKLAND, bedtime="02:30", is_past_midnight=True),
    Day(on=date(2027, 4, 4), zone=AUCKLAND),
)
# Everyday without those that are like another.
DAYS = WEEK if IS_LONG else (*WEEK[:1], *WEEK[3:6])
CHECKIN_ON = date(2027, 4, 2)


class Clock:
    """The clock of the web process."""

    def __init__(self, sage: LiveSage, pipe: Path) -> None:
        self._sage = sage
        self._pipe = pipe

    async def set(self, moment: datetime) -> None:
        """Make it that moment, and wait until the process knows."""
        told = moment.astimezone(UTC).isoformat()
        logged = self._sage.log.stat().st_size
        await asyncio.to_thread(self._pipe.write_text, f"{told}\n")
        await asyncio.to_thread(self._wait_for, f"It is {told}", logged)

    def _wait_for(self, line: str, logged: int) -> None:
        deadline = monotonic() + WAIT_MS / 1000
        while line.encode() not in self._sage.log.read_bytes()[logged:]:
            assert monotonic() < deadline, f"the clock wasn't moved: {line}"
            sleep(0.01)


@pytest.fixture(scope="module")
def clock_pipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The named pipe that the clock reads."""
    pipe = tmp_path_factory.mktemp("clock") / "pipe"
    os.mkfifo(pipe)
    return pipe


@pytest.fixture(scope="module")
def travelling_sage(django_db_setup: None, clock_pipe: Path) -> Iterator[LiveSage]:
    """A web process with a settable clock, at the first morning."""
    start = DAYS[0].at("08:00").isoformat()
    program = ("-m", "tests.travelling_web", start, str(clock_pipe))
    sage = start_web_process(practice_port=free_port(), program=program)
    yield sage
    stop_web_process(sage)


@pytest_asyncio.fixture(loop_scope="session")
async def coach(travelling_sage: LiveSage) -> AsyncIterator[PracticeServer]:
    """The practice model behind it."""
    async with serve_practice(travelling_sage) as server:
        yield server


@dataclass(slots=True, kw_only=True)
class Life:
    """A person, their page and their clock."""

    user: User
    page: Page
    clock: Clock
    open_page: OpenPage

    async def go_home(self, moment: datetime) -> None:
        """Set the time and open the home page."""
        await self.clock.set(moment)
        await self.page.goto("/")

    async def offers(self, label: str | None) -> None:
        """See which arc home calls a good one now."""
        if label is None:
            await expect(self.page.locator(OFFERED)).to_have_count(0)
        else:
            await expect(self.page.locator(OFFERED)).to_contain_text(label)

    async def move_to(self, day: Day) -> None:
        """Move to another zone: the browser knows it, and the person confirms it."""
        await self.clock.set(day.at("08:00"))
        await self.page.context.close()
        self.page = await self.open_page(day.zone)
        await self.page.goto("/")
        await self.page.goto("/settings/")
        city = day.zone.rpartition("/")[2].replace("_", " ")
        await self.page.get_by_role("button", name=f"Use {city}").click()
        await expect(self.page.get_by_label("Time zone")).to_have_value(day.zone)

    async def capture(self, words: str) -> None:
        """Add a capture from the current page, by its shortcut."""
        await self.page.keyboard.press("c")
        dialog = self.page.get_by_role("dialog")
        await dialog.get_by_role("textbox").fill(words)
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog).to_be_hidden()

    async def file(self, path: str) -> UserFile:
        """Return one of the person's files; without it the test fails."""
        return await in_database(UserFile.unscoped.get, user=self.user, path=path)


@pytest_asyncio.fixture(loop_scope="session")
async def life(
    travelling_sage: LiveSage, clock_pipe: Path, browser: Browser, coach: PracticeServer, user: User
) -> AsyncIterator[Life]:
    """A person who has come this morning, at a browser of theirs."""
    clock = Clock(travelling_sage, clock_pipe)
    await clock.set(DAYS[0].at("08:00"))
    key = await in_database(_arrive, user)

    async def open_page(zone: str) -> Page:
        context = await browser.new_context(
            base_url=travelling_sage.origin, timezone_id=zone, reduced_motion="reduce"
        )
        context.set_default_timeout(WAIT_MS)
        await context.add_cookies([{"name": "sessionid", "value": key, "url": travelling_sage.origin}])
        return await context.new_page()

    life = Life(user=user, page=await open_page(DAYS[0].zone), clock=clock, open_page=open_page)
    yield life
    await life.page.context.close()


def _arrive(user: User) -> str:
    """Sign up that morning; return the key of a browser session that lasts the week."""
    user.date_joined = DAYS[0].at("08:00")
    user.save(update_fields=["date_joined"])
    Profile.unscoped.create(user=user, timezone=DAYS[0].zone, checkin_weekday=CHECKIN_ON.weekday())
    client = browser_of(user)
    BrowserSession.objects.update(expire_date=datetime(2099, 1, 1, tzinfo=UTC))
    return client.cookies["sessionid"].value


async def test_a_week_is_lived_in_three_time_zones_and_across_both_changes_of_the_clocks(life: Life) -> None:
    await life.go_home(DAYS[0].at("09:00"))
    await life.offers("Life mapping")
    await life_mapping(await begin(life.page, "Life mapping"))
    await _see_the_map(life)
    for before, day in pairwise((DAYS[0], *DAYS)):
        if day.zone != before.zone:
            await life.move_to(day)
        await _live_morning(life, day)
        await life.capture(f"An idea of {day.on}")
        if day.on == CHECKIN_ON:
            await _check_in(life, day)
        await _live_evening(life, day)
    captures = await in_database(_captures, life.user)
    assert captures == [(f"An idea of {day.on}", day.on) for day in DAYS]
    assert await in_database(_sessions_without_opening, life.user) == []


async def _see_the_map(life: Life) -> None:
    mapped = [domain for domain in LifeDomain.values if domain not in LEFT_FOR_LATER]
    pages = [await life.file(f"life-map/{domain}.md") for domain in mapped]
    assert [page.frontmatter.get("status") for page in pages].count("needs_attention") >= 1
    for path in ("life-map/_overview.md", "life-plan/current.md", "sage/context.md"):
        await life.file(path)
    await life.page.goto("/map/")
    for domain in LifeDomain:
        await expect(life.page.locator("main")).to_contain_text(str(domain.label))


async def _live_morning(life: Life, day: Day) -> None:
    await life.go_home(day.at("09:30"))
    await expect(life.page.get_by_role("heading", level=1)).to_contain_text("Good morning")
    await expect(life.page.locator(".today")).to_contain_text(f"{day.on:%A}, {day.on.day} {day.on:%B}")
    await life.offers("Open the day")
    await open_day(await begin(life.page, "Open the day"))
    plan = await life.file(f"day-plans/{day.on}.md")
    assert plan.frontmatter["intention"] == "Unhurried"
    assert len(plan.frontmatter["priorities"]) == 3
    await life.go_home(day.at("12:30"))
    await expect(life.page.locator("main")).to_contain_text("Unhurried")
    await expect(life.page.locator("main")).to_contain_text("Call mum")
    await life.offers("Weekly check-in" if day.on == CHECKIN_ON else None)


async def _check_in(life: Life, day: Day) -> None:
    await life.go_home(day.at("15:00"))
    await weekly_checkin(await begin(life.page, "Weekly check-in"))
    written = await life.file(f"check-ins/{day.on}.md")
    assert written.frontmatter["themes"]
    profile = await in_database(Profile.unscoped.get, user=life.user)
    assert profile.next_checkin_on == day.on + timedelta(days=7)
    await life.page.goto("/")
    await life.offers(None)


async def _live_evening(life: Life, day: Day) -> None:
    await life.go_home(day.evening)
    await expect(life.page.get_by_role("heading", level=1)).to_contain_text("Good evening")
    await expect(life.page.locator(".today")).to_contain_text(f"{day.on:%A}")
    await life.offers("Close the day")
    await close_day(await begin(life.page, "Close the day"), has_plan=True)
    log = await life.file(f"daily-logs/{day.on}.md")
    assert {"energy", "mood_signal", "domains_touched"} <= log.frontmatter.keys()
    assert not await in_database(_open_ends, life.user)
    await life.page.goto("/")
    await life.offers(None)


def _captures(user: User) -> list[tuple[str, date | None]]:
    """Return the captures, and the day whose log took each in."""
    rows = Capture.unscoped.filter(user=user).order_by("captured_at").select_related("file")
    texts = {row.pk: read_file(user_id=user.pk, path=row.file.path).text for row in rows}
    return [(texts[row.pk].rpartition("---")[2].strip(), row.folded_on) for row in rows]


def _sessions_without_opening(user: User) -> list[Session]:
    """Return the conversations that Sage didn't open."""
    opened = Turn.of(user.pk).filter(is_opening=True).values("session")
    return list(Session.of(user.pk).exclude(id__in=opened))


def _open_ends(user: User) -> list[Session]:
    """Return the conversations that aren't over."""
    return list(Session.unscoped.filter(user=user).exclude(status=SessionStatus.COMPLETED))
