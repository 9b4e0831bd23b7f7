"""Each arc in a real browser, from the greeting to the card at its end, with the guided tour."""

from collections.abc import Awaitable, Callable
from itertools import cycle, islice
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, expect

from coaching.practice.script import Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind, SessionStatus, ToolCallRecord
from tests.browser.chat_page import messages_markup, path_of, say, until
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.test_accessibility import serious_findings
from tests.thoroughness import sample

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

STEPS = ".said:not(.is-sending), .call:is(.is-answered, .is-superseded)"
_IDLE = "#chat[data-phase=idle]:not(:has(#sending > li))"
RESTS = f"{_IDLE}:not(:has(.turn.is-open)), {_IDLE}:has(.call.is-pending)"
MAX_PAGES = 3
LEFT_FOR_LATER = ("learning", "creativity", "play")
"""The parts that `life_mapping` leaves open."""
SPOKEN = "() => document.querySelector('.turn .prose')?.textContent.includes(' ')"
SETTLED = """([steps, rests, count]) => document.querySelector(rests)
    && document.querySelectorAll(steps).length === count"""


class Walker:
    """A person on the chat page who answers one question after another, on any device."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.steps = 0

    async def listen(self) -> None:
        """Wait until Sage has spoken first."""
        await until(self.page, SPOKEN)
        await expect(self.page.locator(".turn .prose").first).to_contain_text(" ")
        await self._until_heard(0)

    async def say(self, text: str) -> None:
        """Send a message, also in place of a tap, and wait until Sage has answered or asks."""
        self.steps += await self.page.locator(".call.is-pending").count()
        await say(self.page, text)
        await self._until_heard()

    async def tap(self, value: str) -> None:
        """Tap an answer by what it stands for."""
        await self.page.locator(f'.call.is-pending .pill[value="{value}"]').click()
        await self._until_heard()

    async def rate(self, **ratings: int) -> None:
        """Rate domains and hand the ratings in."""
        for domain, rating in ratings.items():
            scale = self.page.get_by_role("group", name=domain.capitalize(), exact=True)
            await scale.get_by_text(str(rating), exact=True).click()
        await self.page.get_by_role("button", name="Save ratings").click()
        await self._until_heard()

    async def reload(self) -> None:
        """Load the page anew: all that was said is there."""
        before = await messages_markup(self.page)
        await self.page.reload()
        await expect(self.page.locator("#chat")).to_have_attribute("data-phase", "idle")
        assert await messages_markup(self.page) == before

    async def _until_heard(self, steps: int = 1) -> None:
        """Wait until as much was said and answered as this person has done, and nothing runs."""
        self.steps += steps
        await self._until_settled()

    async def _until_settled(self) -> None:
        await until(self.page, SETTLED, [STEPS, RESTS, self.steps])
        await expect(self.page.locator(STEPS)).to_have_count(self.steps)
        await expect(self.page.locator(RESTS)).to_be_visible()


class Leaver(Walker):
    """A person who leaves at every question in a different way, and continues elsewhere."""

    def __init__(self, page: Page, *, open_phone: Callable[[], Awaitable[Page]], first_way: int) -> None:
        super().__init__(page)
        self.pages = [page]
        self.left = 0
        self._open_phone = open_phone
        self._ways = islice(
            cycle((self.reload, self._to_another_tab, self._to_another_device)), first_way, None
        )

    async def _until_heard(self, steps: int = 1) -> None:
        await super()._until_heard(steps)
        if await self.page.locator(".call.is-pending").count():
            self.left += 1
            await next(self._ways)()
            await expect(self.page.locator(".call.is-pending")).to_have_count(1)

    async def _to_another_tab(self) -> None:
        await self._go_on_at(await self.page.context.new_page())

    async def _to_another_device(self) -> None:
        await self._go_on_at(await self._open_phone())

    async def _go_on_at(self, page: Page) -> None:
        """Find the same content there; the old page stays open, untouched, and so does the very first one."""
        left, self.page = self.page, page
        self.pages.append(page)
        if len(self.pages) > MAX_PAGES:
            await self.pages.pop(1).close()
        await page.goto(left.url)
        await self._until_settled()
        assert await messages_markup(page) == await messages_markup(left)


Walk = Callable[[Walker], Awaitable[None]]


async def open_day(walker: Walker) -> None:
    await walker.tap("tired")
    await walker.say("finish the report, call mum and go for a run")
    await walker.say("Unhurried")
    await walker.tap("yes")


async def close_day(walker: Walker, *, has_plan: bool = False) -> None:
    await walker.say("Work was long, my boss was nice for once. I went for a run.")
    if has_plan:
        await walker.tap("all")
    await walker.tap("little")
    await walker.tap("calm")
    await walker.tap("career")
    await walker.say("The run along the river")
    await expect(walker.page.locator("#messages .made")).to_contain_text("Daily logs")
    await walker.tap("yes")


async def weekly_checkin(walker: Walker) -> None:
    await walker.say("Deadlines every day, but my sister visited on Sunday.")
    await walker.rate(career=3, health=4, play=3)
    await walker.say("deadlines, my sister")
    await walker.say("Leave at five on Wednesday")
    await walker.tap("yes")


async def life_mapping(walker: Walker) -> None:
    await walker.say("My job is fine but dull")
    await walker.say("I see my sister too rarely")
    await walker.tap("good")
    await walker.tap("needs_attention")
    for _ in LEFT_FOR_LATER:
        await walker.tap("later")
    await walker.say("I miss a direction")
    await walker.rate(career=3, health=4, play=1)
    await walker.say("It all hangs on sleep")
    await walker.say("Calmer days")
    await walker.say("In bed by eleven on Monday")
    await walker.say("I have two kids and work nights")
    await walker.tap("yes")


async def begin(page: Page, label: str, walker: Walker | None = None) -> Walker:
    """Start a kind of conversation from the list on the home page: Sage speaks first."""
    if urlsplit(page.url).path != "/":
        await page.goto("/")
    await page.get_by_role("button", name=label).click()
    walker = walker or Walker(page)
    await walker.listen()
    return walker


ARCS = (
    ("Close the day", close_day, "Closing the day", "The day is closed.", "Daily logs", 1),
    ("Open the day", open_day, "Opening the day", "Your day is planned.", "Day plans", 0),
    ("Weekly check-in", weekly_checkin, "Weekly check-in", "The check-in is done.", "Weekly check-ins", 2),
)


@pytest.mark.parametrize(
    ("label", "walk", "head", "title", "written", "first_way"), sample(ARCS, of_each=len(ARCS))
)
async def test_an_arc_is_walked_to_the_card_at_its_end_though_it_is_left_at_every_question(
    label: str,
    walk: Walk,
    head: str,
    title: str,
    written: str,
    first_way: int,
    practice: PracticeServer,
    page: Page,
    cookie: str,
    open_context: OpenContext,
    watcher: Watcher,
) -> None:
    phone = await open_context(cookie, viewport={"width": 360, "height": 740})
    walker = Leaver(page, open_phone=phone.new_page, first_way=first_way)
    await begin(page, label, walker)
    await expect(page.locator("#arc")).to_contain_text(head)
    await walk(walker)
    for left in walker.pages:  # also those that nobody has touched since
        await expect(left.get_by_role("region", name=title)).to_be_visible()
        assert await messages_markup(left) == await messages_markup(walker.page)
    asked = ToolCallRecord.unscoped.filter(name__in=("show_options", "show_pulse_check"))
    assert walker.left == await in_database(asked.count) > 0

    ending = page.get_by_role("region", name=title)
    await expect(ending.get_by_role("button", name="Start another conversation")).to_be_in_viewport()
    await expect(ending).to_contain_text(written)
    await expect(ending).to_contain_text("Next weekly check-in:")
    await expect(page.locator("#arc")).to_be_empty()
    await expect(page.locator("#chat-status")).to_have_text("Completed")
    card = await ending.inner_text()
    assert await serious_findings(page) == []
    walker.page = page
    await walker.reload()
    assert await ending.inner_text() == card
    await page.goto("/chat/")
    await expect(page.locator(".ledger-row").first).to_contain_text("Completed")
    assert watcher.faults == []


async def test_an_arc_inside_a_conversation_begins_and_ends_and_the_conversation_goes_on(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    await page.goto(path_of(session))
    walker = Walker(page)
    await expect(page.locator("#arc")).to_be_empty()
    await walker.say("let's open my day")
    await expect(page.locator("#arc")).to_contain_text("Opening the day")
    await expect(page.locator('.mark[data-mark="begin-open_day"]')).to_have_count(1)
    await walker.reload()
    await expect(page.locator("#arc")).to_contain_text("Opening the day")
    await expect(page.locator('.mark[data-mark="begin-open_day"]')).to_have_count(1)
    assert await serious_findings(page) == []
    await open_day(walker)
    await expect(page.locator("#arc")).to_be_empty()
    await expect(page.locator('.mark[data-mark="end-open_day"]')).to_have_text("Your day is planned.")
    await expect(page.locator("#ending")).to_be_empty()
    assert await serious_findings(page) == []
    await walker.reload()
    await walker.say("My boss called again and I said yes to more hours.")
    assert watcher.faults == []


async def test_a_message_to_an_ended_conversation_goes_on_in_a_new_one(
    practice: PracticeServer, page: Page, user: User, session: Session, watcher: Watcher
) -> None:
    end = ToolUse("complete_session", {"type": "session", "summary": "You said hello."})
    practice.script(
        [Reply.of(Text("Then goodbye."), end), "Farewell.", "Here we are again.", "And once more."]
    )
    await page.goto(path_of(session))
    await Walker(page).say("Bye")
    ending = page.get_by_role("region", name="This conversation is complete.")
    await expect(ending).to_contain_text("You said hello.")
    await expect(page.get_by_label("Your message")).to_have_attribute(
        "placeholder", "Start a new conversation…"
    )
    await expect(page.get_by_role("link", name="Edit")).to_have_count(0)
    await say(page, "One more thing")  # over the socket that is still open
    await expect(page.locator("#messages .turn")).to_contain_text("Here we are again.")
    assert str(session.id) not in page.url
    successor = await in_database(lambda: Session.unscoped.exclude(id=session.id).get())
    assert successor.continues_id == session.id
    await page.goto(path_of(session))
    await expect(ending).to_be_visible()
    await say(page, "Another thing")  # by form: an ended conversation has no socket
    await expect(page.locator("#messages .turn").last).to_contain_text("And once more.")
    assert str(successor.id) in page.url
    await page.goto(path_of(session))
    await page.get_by_role("button", name="Start another conversation").click()
    await expect(page.locator(".chat-empty")).to_contain_text("What’s on your mind?")
    left = await in_database(session_services.open_session, user_id=user.pk, kind=SessionKind.CLOSE_DAY)
    await in_database(
        session_services.end_session, user_id=user.pk, session_id=left.id, status=SessionStatus.EXPIRED
    )
    await page.goto(path_of(left))
    await expect(page.locator(".ending")).to_contain_text("a day without activity")
    assert await serious_findings(page) == []
    assert watcher.faults == []
