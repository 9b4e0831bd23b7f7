"""The first hour of somebody new, from sign-up to the app on their phone, in both schemes.

`--newcomer-pictures FOLDER` walks it on every kind of screen and keeps a picture of each step.
"""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from django.contrib.auth.models import User
from playwright.async_api import expect

from coaching.models import Capture, UserFile
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.app_server import until_controlled
from tests.browser.chat_page import until_done
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.newcomer import Connection, Newcomer
from tests.browser.test_arcs import LEFT_FOR_LATER, begin, life_mapping, open_day
from tests.browser.test_sidebar import choose
from tests.conftest import PASSWORD
from tests.live_sage import LiveSage
from tests.thoroughness import sample

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DESK = {"viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
EMAIL = "noor@example.org"
FIRST = """Those late hours are the only ones that are **yours**, so of course you stay up for them.

Two small things to try this week:

1. The phone sleeps in the kitchen from ten.
2. Something you love moves to before dinner, twice.

> An evening isn’t lost when it ends early.

Which one feels possible?"""
SECOND = "What would have to be true at ten o’clock for you to want to go to bed?"
COUNT_TRIES = """() => {
    window.tries = 0;
    document.addEventListener("htmx:wsClose", () => {
        window.tries += document.getElementById("connection").hidden;
    });
}"""
DRAFT = "Maybe it’s the phone that keeps me up."


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """On a phone everyday; in the long form also at a desk; for pictures in both schemes on both."""
    walks = sample([("dark", PHONE), ("light", DESK)], of_each=2)
    if metafunc.config.getoption("newcomer_pictures"):
        walks = [(scheme, screen) for scheme in ("dark", "light") for screen in (PHONE, DESK)]
    ids = [f"{scheme}-{'phone' if screen is PHONE else 'desk'}" for scheme, screen in walks]
    if "screen" in metafunc.fixturenames:
        metafunc.parametrize(("scheme", "screen"), walks, ids=ids)


@pytest_asyncio.fixture(loop_scope="session")
async def connection(live_sage: LiveSage) -> AsyncIterator[Connection]:
    """The way to the web process."""
    connection = Connection(live_sage.port)
    async with connection.proxy:
        yield connection


@pytest.fixture
def watcher(connection: Connection) -> Watcher:
    """The watcher of pages behind the connection."""
    return Watcher(f"localhost:{connection.proxy.port}")


@pytest.fixture
def newcomer_folder(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> Path | None:
    """Where the pictures go, if anywhere."""
    option: str | None = pytestconfig.getoption("newcomer_pictures")
    if not option:
        return None
    folder: Path = Path(option) / request.node.callspec.id
    folder.mkdir(parents=True, exist_ok=True)
    return folder


async def sign_up(newcomer: Newcomer) -> None:
    page = newcomer.page
    await page.goto("/accounts/signup/")
    await page.get_by_label("Email", exact=True).fill(EMAIL)
    await page.get_by_label(re.compile("call you")).fill("Noor")
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_label("Password again").fill(PASSWORD)
    await newcomer.look("sign-up")
    await page.get_by_role("button", name="Create account").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Welcome, Noor.")
    await newcomer.look("welcome", is_whole=True)


async def map_a_life(newcomer: Newcomer) -> None:
    page = newcomer.page
    await page.get_by_role("button", name="Map my life").click()
    await newcomer.listen()
    await newcomer.look("map-begins")
    await life_mapping(newcomer)
    ending = page.get_by_role("region", name="Your map is ready.")
    await expect(ending.get_by_role("link", name="Life map: Career")).to_be_visible()
    await expect(ending.get_by_role("link")).to_have_count(4)  # three files and Home
    await ending.get_by_text(re.compile(r"^\d more files$")).click()
    await expect(ending.get_by_role("list", name="Life map")).to_contain_text("Meaning")
    await newcomer.look("map-ends")
    await newcomer.follow("Life map")
    await expect(page.locator(".domain")).to_have_count(8)
    await newcomer.look("map", is_whole=True)


async def plan_a_day(newcomer: Newcomer) -> None:
    page = newcomer.page
    newcomer.steps = 0
    await begin(page, "Open the day", newcomer)
    await open_day(newcomer)
    await expect(page.get_by_role("region", name="Your day is planned.")).to_be_visible()
    await newcomer.look("day-ends")
    await newcomer.follow("Home")
    await page.get_by_role("checkbox").first.click()
    await expect(page.locator(".plan-count")).to_have_text("1 of 3 done")
    await newcomer.look("home", is_whole=True)


async def edit_a_file(newcomer: Newcomer) -> None:
    page = newcomer.page
    await newcomer.follow("Files")
    await newcomer.look("files", is_whole=True)
    await page.get_by_role("link", name=re.compile("Overview")).first.click()
    await page.get_by_role("link", name="Edit").click()
    text = page.get_by_label("Text")
    await text.fill(f"{await text.input_value()}\n\n- [ ] Ask Ines about Sundays\n")
    await expect(page.locator("#preview")).to_contain_text("Sundays")
    await newcomer.look("edit")
    await page.get_by_role("button", name="Save").click()
    await page.get_by_role("checkbox", name="Ask Ines").click()
    await expect(page.locator("#version-list")).to_contain_text("Version 3")
    await newcomer.look("file", is_whole=True)


async def search_for_it(newcomer: Newcomer) -> None:
    page = newcomer.page
    await newcomer.follow("Search")
    await page.get_by_role("searchbox").fill("Ines")
    await page.keyboard.press("Enter")
    await expect(page.locator(".hit mark").first).to_have_text("Ines")
    await newcomer.look("search")


async def keep_conversations_in_order(newcomer: Newcomer) -> None:
    page = newcomer.page
    await newcomer.follow("Conversations")
    await newcomer.look("conversations", is_whole=True)
    await page.locator(".ledger-row").first.click()
    await newcomer.open_list()
    await choose(page, "Opening the day", "Rename")
    await page.get_by_label("Title of this conversation").fill("Monday morning")
    await newcomer.look("rename")
    await page.keyboard.press("Enter")
    await expect(page.locator(".sidebar-row").filter(has_text="Monday morning")).to_have_count(1)
    await choose(page, "Mapping your life", "Delete")
    await expect(page.locator(".sidebar-row.is-gone")).to_contain_text("Deleted.")
    await newcomer.look("deleted")
    await page.locator(".sidebar-row.is-gone button").click()
    await expect(page.locator(".sidebar-row.is-gone")).to_have_count(0)


async def ask_for_another_answer(newcomer: Newcomer, practice: PracticeServer) -> None:
    page = newcomer.page
    practice.script([FIRST, SECOND])
    await page.locator(".sidebar-head").get_by_role("button", name="New conversation").click()
    await expect(page.locator(".chat-empty")).to_be_visible()
    head = await page.locator(".chat-head").bounding_box()
    assert head is not None
    assert head["height"] < 120, "it leaves the screen to the conversation"
    await newcomer.look("new-conversation")
    await newcomer.send("I go to bed too late, and I know it.")
    await until_done(page)
    await newcomer.look("answer")
    await page.get_by_role("button", name="Answer again").click()
    await expect(page.locator("#messages .prose")).to_have_text(SECOND)
    await until_done(page)
    await expect(page.locator(".answers")).to_contain_text("2 of 2")
    await newcomer.look("answer-again")


async def capture_a_thought(newcomer: Newcomer) -> None:
    page = newcomer.page
    await page.get_by_role("link", name="Capture a thought").click()
    dialog = page.locator("#capture-dialog")
    await dialog.get_by_role("textbox").fill("Buy a lamp for the kitchen")
    await newcomer.look("capture")
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.locator("#toast")).to_have_text("Saved to your captures.")
    await expect(dialog).to_be_hidden()


async def lose_the_connection(newcomer: Newcomer, connection: Connection, practice: PracticeServer) -> None:
    page, here = newcomer.page, newcomer.page.url
    await until_controlled(page)
    await page.evaluate(COUNT_TRIES)
    connection.cut()
    await expect(page.locator("#connection")).to_be_visible()
    # After 1.2 seconds; a try follows another after 0.4 at the earliest.
    assert 1 <= await page.evaluate("() => window.tries") <= 4
    await newcomer.look("connection-lost")
    await page.goto(here)
    await expect(page.get_by_role("heading", name="You’re offline")).to_be_visible()
    await page.locator("#offline-text").fill(DRAFT)
    await expect(page.get_by_text("Saved on this device.")).to_be_visible()
    await newcomer.look("offline")
    connection.is_cut = False
    await page.get_by_role("link", name="Try again").click()
    await expect(page.locator(".offline-draft-text")).to_have_text(DRAFT)
    await newcomer.look("draft")
    await page.get_by_role("button", name="Add to message").click()
    practice.script(["That’s worth a try tonight."])
    await page.get_by_role("button", name="Send", exact=True).click()
    await until_done(page, 2)
    await expect(page.locator("#messages .said-text").last).to_have_text(DRAFT)


async def install(newcomer: Newcomer) -> None:
    page = newcomer.page
    browser = await page.context.new_cdp_session(page)
    described = await browser.send("Page.getAppManifest")
    assert described["errors"] == []
    assert urlsplit(described["url"]).path == "/manifest.webmanifest"
    found = await browser.send("Page.getInstallabilityErrors")
    # Each test has a profile of its own, like a private window.
    errors = [error["errorId"] for error in found["installabilityErrors"]]
    assert set(errors) <= {"in-incognito"}
    await newcomer.page.get_by_label("Your account").click()
    await newcomer.look("account")


async def test_the_first_hour_of_somebody_new(
    practice: PracticeServer,
    open_context: OpenContext,
    connection: Connection,
    watcher: Watcher,
    scheme: str,
    screen: dict[str, object],
    newcomer_folder: Path | None,
) -> None:
    context = await open_context(
        base_url=f"http://localhost:{connection.proxy.port}",
        color_scheme=scheme,
        service_workers="allow",
        **screen,
    )
    newcomer = Newcomer(await context.new_page(), scheme=scheme, folder=newcomer_folder)
    await sign_up(newcomer)
    await map_a_life(newcomer)
    await plan_a_day(newcomer)
    await edit_a_file(newcomer)
    await search_for_it(newcomer)
    await keep_conversations_in_order(newcomer)
    await ask_for_another_answer(newcomer, practice)
    await capture_a_thought(newcomer)
    assert watcher.faults == []
    await lose_the_connection(newcomer, connection, practice)
    await install(newcomer)
    user = await in_database(User.objects.get, email=EMAIL)
    assert await in_database(Session.unscoped.filter(user=user).count) == 3
    assert await in_database(Capture.unscoped.filter(file__user=user).count) == 1
    # Eight pages of parts, the overview, the plan, the context, the day's plan and the captured thought.
    assert await in_database(UserFile.unscoped.filter(user=user).count) == 13 - len(LEFT_FOR_LATER)
