"""Home, captures and the map in a real browser: shortcut, quick ticks, and without JavaScript."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, Route, expect

from coaching.clock.days import local_day
from coaching.models import Capture, DayPlan, FileType, LifeDomain, Profile, PulseRating, ReflectionPrompt
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Message, Session
from tests.browser.fixtures import WAIT_MS, OpenContext, Watcher
from tests.browser.test_accessibility import serious_findings
from tests.browsers import browser_of
from tests.life.conftest import KeepFile, keep_file

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

__all__ = ["keep_file"]


@pytest.fixture
def person(user: User, keep_file: KeepFile) -> User:
    """Somebody with a plan, a question, a capture and a map."""
    profile = Profile.unscoped.create(user=user, name="Ada", timezone="Europe/Berlin")
    now = datetime.now(UTC)
    keep_file(user, FileType.OVERVIEW, "It hangs together.", now=now)
    keep_file(user, FileType.CAPTURE, "An older thought", now=now - timedelta(hours=1))
    keep_file(user, FileType.REFLECTION_PROMPT, "What would rest be?", name="rest", now=now)
    for domain in LifeDomain:
        keep_file(user, FileType.DOMAIN, name=domain.value, status="okay", preview_line="A line.", now=now)
        for rating in (2, 3, 4):
            PulseRating.unscoped.create(user=user, domain=domain, rating=rating, rated_at=now)
    day = str(local_day(now, profile.zone))
    keep_file(
        user, FileType.DAY_PLAN, name=day, intention="Unhurried", priorities=["Call Mia", "Swim"], now=now
    )
    return user


async def texts_kept() -> list[str]:
    def read() -> list[str]:
        captures = Capture.unscoped.order_by("id").select_related("file")
        return [capture.file.versions.first().content.split("\n\n", 1)[1].strip() for capture in captures]  # type: ignore[union-attr]

    return await in_database(read)


async def ticks() -> list[bool]:
    plan = await in_database(DayPlan.unscoped.get)
    return [priority["is_done"] for priority in plan.priorities]


async def test_one_key_keeps_a_thought_on_any_page(person: User, page: Page, watcher: Watcher) -> None:
    dialog = page.locator("#capture-dialog")
    field = dialog.get_by_role("textbox")
    await page.goto("/files/")
    await page.keyboard.press("c")
    await expect(field).to_be_focused()
    await page.keyboard.type("cut the call")
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await page.goto("/map/")
    await page.keyboard.press("c")
    await expect(field).to_have_value("cut the call")
    await page.keyboard.press("Enter")
    await expect(dialog).to_be_hidden()
    await expect(page.locator("#toast")).to_have_text("Saved to your captures.")
    assert await texts_kept() == ["An older thought", "cut the call"]

    await page.goto("/")
    await expect(page.locator("#captures .thought")).to_have_count(2)
    await page.get_by_role("link", name="Capture a thought").click()
    await page.keyboard.type("and one from home")
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.locator("#captures .thought").first).to_contain_text("and one from home")

    await page.locator("#main").focus()
    await page.keyboard.press("c")
    await expect(field).to_be_focused()
    # The key that comes before the browser has taken the focus out of what was closed.
    await dialog.evaluate(
        """(dialog) => {
            const field = document.activeElement;
            dialog.close();
            field.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }));
        }"""
    )
    await expect(page.locator("#keys-dialog")).to_be_visible()
    await page.keyboard.press("Escape")

    await page.get_by_label("What’s on your mind?").focus()
    await page.keyboard.type("c?")
    await expect(page.get_by_label("What’s on your mind?")).to_have_value("c?")
    await page.locator("#main").focus()
    await page.keyboard.press("?")
    close = page.get_by_role("button", name="Close", exact=True)
    await expect(close).to_be_focused()
    await page.get_by_label("Turn on single-key shortcuts").uncheck()
    await close.click()
    await page.locator("#main").focus()
    await page.keyboard.press("c")
    await expect(dialog).to_be_hidden()
    assert watcher.faults == []


async def test_a_thought_that_doesnt_arrive_stays_and_is_kept_once(person: User, page: Page) -> None:
    await page.goto("/")
    quick = page.locator("#capture-text")
    await page.context.set_offline(True)
    await quick.fill("Offline")
    await page.keyboard.press("Enter")
    await expect(page.locator(".quick .notice")).to_contain_text("didn’t go through")
    await expect(quick).to_have_value("Offline")
    await page.context.set_offline(False)
    await page.keyboard.press("Enter")
    await expect(page.locator("#captures .thought")).to_have_count(2)
    await expect(quick).to_have_value("")
    assert await texts_kept() == ["An older thought", "Offline"]
    first = page.locator("#captures .thought").first
    await first.get_by_role("button", name="Archive").click()
    await expect(page.locator("#captures .thought")).to_have_count(1)
    await page.get_by_role("button", name="Restore").click()
    await expect(page.locator("#captures .thought")).to_have_count(2)


async def test_a_refused_thought_and_one_of_a_session_that_ended_stay(person: User, page: Page) -> None:
    await page.goto("/")
    quick = page.locator("#capture-text")
    await quick.fill("Refused at first")
    await page.locator(".quick [name=id]").evaluate("(field) => (field.value = 'x'.repeat(1000))")
    await page.keyboard.press("Enter")
    await expect(page.locator(".quick .notice")).to_contain_text("Please send it again.")
    await expect(quick).to_have_value("Refused at first")
    cookies = await page.context.cookies()
    await page.context.clear_cookies(name="sessionid")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    await page.context.add_cookies(cookies)  # type: ignore[arg-type]  # what was read may be written
    await page.goto("/")
    await expect(quick).to_have_value("Refused at first")
    await quick.press("Enter")
    await expect(page.locator("#captures .thought")).to_have_count(2)
    assert await texts_kept() == ["An older thought", "Refused at first"]


async def test_a_thought_that_is_written_on_after_a_lost_answer_is_kept_too(person: User, page: Page) -> None:
    async def lose(route: Route) -> None:
        await route.fetch()
        await route.abort()

    await page.goto("/")
    quick = page.locator("#capture-text")
    await page.route("**/capture/", lose)
    await quick.fill("Buy bread")
    for _ in range(2):
        await page.keyboard.press("Enter")
        await expect(page.locator(".quick .notice")).to_be_visible()
        await page.locator(".quick .form-notice").evaluate("(place) => place.replaceChildren()")
    await page.unroute("**/capture/")
    await expect(quick).to_have_value("Buy bread")
    await quick.fill("Buy bread, and call the landlord")
    await quick.press("Enter")
    await expect(page.locator("#toast")).to_have_text("Saved to your captures.")
    await expect(page.locator("#captures .thought")).to_have_count(3)
    assert await texts_kept() == ["An older thought", "Buy bread", "Buy bread, and call the landlord"]


async def test_too_many_requests_at_once_leave_the_page_and_the_thought(person: User, page: Page) -> None:
    async def refuse(route: Route) -> None:
        await route.fulfill(status=429, content_type="text/html", body="<main><h1>One moment</h1></main>")

    await page.goto("/")
    quick = page.locator("#capture-text")
    await page.route("**/capture/", refuse)
    await quick.fill("Still here")
    await quick.press("Enter")
    await expect(page.locator(".quick .notice")).to_contain_text("Try again in a moment.")
    await expect(quick).to_have_value("Still here")
    await page.unroute("**/capture/")
    await quick.press("Enter")
    await expect(page.locator("#captures .thought")).to_have_count(2)
    assert await texts_kept() == ["An older thought", "Still here"]


async def test_a_tick_is_there_at_once_and_after_a_reload(person: User, page: Page, watcher: Watcher) -> None:
    await page.goto("/")
    mia, swim = (page.get_by_role("checkbox", name=name) for name in ("Call Mia", "Swim"))
    await mia.click()
    await swim.focus()
    await page.keyboard.press("Space")
    await expect(page.locator(".plan-count")).to_have_text("All done.")
    await expect(swim).to_be_focused()
    for count in ("1 of 2 done", "All done.", "1 of 2 done"):
        await mia.click()
        await expect(page.locator(".plan-count")).to_have_text(count)
    await page.reload()
    await expect(mia).not_to_be_checked()
    await expect(swim).to_be_checked()
    assert await ticks() == [False, True]
    assert watcher.faults == []


async def test_a_tick_counts_though_an_answer_comes_while_it_is_pressed(
    person: User, page: Page, watcher: Watcher
) -> None:
    let_through = asyncio.Semaphore(0)

    async def hold(route: Route) -> None:
        await let_through.acquire()
        await route.continue_()

    await page.route("**/plan/**", hold)
    await page.goto("/")
    mia, swim = (page.get_by_role("checkbox", name=name) for name in ("Call Mia", "Swim"))
    for is_mouse, count in ((True, "All done."), (False, "")):
        await mia.click()
        await swim.hover()
        await swim.focus()
        await (page.mouse.down() if is_mouse else page.keyboard.down("Space"))
        async with page.expect_event("requestfinished"):
            let_through.release()
        await page.evaluate("() => new Promise((done) => setTimeout(done, 50))")
        await (page.mouse.up() if is_mouse else page.keyboard.up("Space"))
        let_through.release()
        await expect(page.locator(".plan-count")).to_have_text(count)
    assert await ticks() == [False, False]
    assert watcher.faults == []


async def test_ticks_are_kept_though_the_page_is_left_at_once(
    person: User, page: Page, watcher: Watcher
) -> None:
    await page.goto("/")
    mia, swim = (page.get_by_role("checkbox", name=name) for name in ("Call Mia", "Swim"))
    await page.evaluate(
        """() => {
            const [mia, swim] = document.querySelectorAll(".tick");
            for (const tick of [mia, swim, swim, swim]) tick.click();
            location.assign("about:blank");
        }"""
    )
    await page.wait_for_url("about:blank")
    async with asyncio.timeout(WAIT_MS / 1000):
        while await ticks() != [True, True]:
            await page.wait_for_timeout(50)
    await page.goto("/")
    await expect(mia).to_be_checked()
    await expect(swim).to_be_checked()
    await page.context.set_offline(True)
    await mia.click()
    await expect(page.locator("#toast")).to_contain_text("didn’t go through")
    await expect(mia).to_be_checked()
    await page.context.set_offline(False)
    await mia.click()
    await expect(page.locator(".plan-count")).to_have_text("1 of 2 done")
    assert await ticks() == [False, True]


async def test_a_question_and_a_part_of_the_map_lead_into_conversations(
    person: User, page: Page, practice: PracticeServer, watcher: Watcher
) -> None:
    practice.script(["A walk is a good answer.", "Tell me about play."])
    await page.goto("/")
    await page.get_by_label("Your answer").fill("A walk.")
    await page.get_by_role("button", name="Talk about it").click()
    await expect(page.locator("#messages .said-text")).to_have_text(
        "You left me a question: “What would rest be?”\n\nA walk."
    )
    await expect(page.locator("#messages")).to_contain_text("A walk is a good answer.")
    prompt = await in_database(ReflectionPrompt.unscoped.get)
    assert prompt.answered_at is not None
    await page.goto("/map/")
    await page.get_by_role("button", name="Talk about it: Play").click()
    await expect(page.locator("#messages")).to_contain_text("Tell me about play.")
    assert await in_database(Session.unscoped.count) == 2
    assert await in_database(Message.unscoped.filter(role="user").count) == 2
    assert watcher.faults == []


async def test_home_begins_with_the_composer_and_takes_few_bytes(
    person: User, other_user: User, open_context: OpenContext, cookie: str, watcher: Watcher
) -> None:
    context = await open_context(cookie, is_new=True)
    page = await context.new_page()
    network = await context.new_cdp_session(page)
    received: list[float] = []
    network.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    await network.send("Network.enable")
    await page.goto("/", wait_until="networkidle")
    first = sum(received)
    received.clear()
    await page.goto("/", wait_until="networkidle")
    second = sum(received)
    assert 50_000 < first <= 350_000, "with fonts"
    assert 1_000 < second <= 30_000
    theirs = await (await open_context(await in_database(cookie_of, other_user))).new_page()
    for width, height in ((360, 740), (1440, 900)):
        for each in (page, theirs):
            await each.set_viewport_size({"width": width, "height": height})
            await each.goto("/")
            await expect(each.get_by_role("button", name="Send")).to_be_in_viewport(ratio=1)
            await expect(each.locator(".composer-hint a")).to_be_in_viewport(ratio=1)
    assert watcher.faults == []


def cookie_of(user: User) -> str:
    """Sign somebody in."""
    return browser_of(user).cookies["sessionid"].value


async def test_all_of_it_works_without_a_script(
    person: User, open_context: OpenContext, cookie: str, watcher: Watcher
) -> None:
    page = await (
        await open_context(cookie, java_script_enabled=False, viewport={"width": 360, "height": 800})
    ).new_page()
    await page.goto("/")
    await page.get_by_role("checkbox", name="Swim").click()
    await expect(page.get_by_role("checkbox", name="Swim")).to_be_checked()
    await page.get_by_role("link", name="Capture a thought").click()
    await page.locator("#capture-text").fill("By hand")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.locator(".flash")).to_contain_text("Saved to your captures.")
    await page.locator(".thought").first.get_by_role("button", name="Archive").click()
    await page.get_by_role("button", name="Restore").click()
    await expect(page.locator(".thought")).to_have_count(2)
    await page.get_by_label("Pages").first.click()
    await page.get_by_role("link", name="Life map").click()
    await page.get_by_text("All trends as a table").click()
    await expect(page.get_by_role("row", name="Play")).to_contain_text("4")
    await page.goto("/")
    await page.get_by_label("Your answer").fill("A walk.")
    await page.get_by_role("button", name="Save my answer").click()
    await expect(page.locator(".flash")).to_contain_text("with the question")
    assert (await texts_kept())[-1] == "> What would rest be?\n\nA walk."


async def test_axe_finds_nothing_serious_where_a_life_is_full(
    person: User, open_context: OpenContext, cookie: str
) -> None:
    context = await open_context(cookie, viewport={"width": 360, "height": 800})
    page = await context.new_page()
    await page.goto("/")
    findings = await serious_findings(page)
    for key, name in (("c", "#capture-dialog"), ("?", "#keys-dialog")):
        await page.keyboard.press(key)
        await expect(page.locator(name)).to_be_visible()
        findings += await serious_findings(page)
        await page.keyboard.press("Escape")
        await expect(page.locator(name)).to_be_hidden()
    await page.get_by_label("Pages").first.click()
    findings += await serious_findings(page)
    for address in (
        "/map/",
        "/capture/",
        "/capture/folded/",
        "/files/?folder=captures",
        "/chat/?show=archive",
        f"/reflections/{(await in_database(ReflectionPrompt.unscoped.get)).pk}/",
    ):
        await page.goto(address)
        for summary in await page.locator(".as-table > summary").all():
            await summary.click()
        findings += await serious_findings(page)
        wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not wide, f"{address} is wider than the screen"
    assert findings == []
