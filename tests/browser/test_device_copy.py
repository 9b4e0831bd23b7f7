"""A copy on this device: readable offline for its person, gone for everybody else. Its storage is read."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as BrowserSession
from django.utils import timezone
from playwright.async_api import Browser, BrowserContext, Page, Route, expect

from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.app_server import Server, until, until_controlled
from tests.browser.fixtures import WAIT_MS, OpenContext, Watcher
from tests.browsers import browser_of
from tests.letters.months import talk
from tests.live_sage import LiveSage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SAID, ANSWERED = "The lake was calm this morning.", "It sounds like a good start."
OPEN = """
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const names = (await indexedDB.databases()).map(({ name }) => name);
  const isThere = names.includes("sage-device-copy");
  const database = isThere ? await done(indexedDB.open("sage-device-copy")) : null;
"""
STORED = f"""async () => {{{OPEN}
  if (!isThere) return {{ names, count: 0 }};
  const rows = [];
  for (const name of database.objectStoreNames) {{
    rows.push(...(await done(database.transaction(name).objectStore(name).getAll())));
  }}
  database.close();
  const copy = rows.find(({{ data }}) => data);
  if (!copy) return {{ names, count: rows.length }};
  const exported = await crypto.subtle.exportKey("raw", copy.key).then(() => "yes", () => "no");
  const others = JSON.stringify([rows, {{ ...localStorage }}, {{ ...sessionStorage }}]);
  return {{
    names,
    count: rows.length,
    exported,
    isExtractable: copy.key.extractable,
    plain: new TextDecoder().decode(copy.data) + others,
    size: copy.data.byteLength,
  }};
}}"""
# As if time had passed, or the disk had failed (null).
CHANGED = f"""async (days) => {{{OPEN}
  const stores = database.transaction(["copies", "seen"], "readwrite");
  const [copies, times] = ["copies", "seen"].map((name) => stores.objectStore(name));
  const [copy] = await done(copies.getAll());
  const [seen] = await done(times.getAll());
  if (days === null) copy.data = new ArrayBuffer(copy.data.byteLength);
  else for (const name of ["at", "madeAt"]) seen[name] += days * 24 * 3600 * 1000;
  await done(copies.put(copy));
  await done(times.put(seen));
  database.close();
}}"""
IS_GONE = """async () => !(await indexedDB.databases()).some(({ name }) => name === "sage-device-copy")"""
SIGN_OUT = """async () => {
  const form = document.querySelector('form[action="/accounts/logout/"]');
  await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
}"""
FULL = """
  IDBObjectStore.prototype.put = () => { throw new DOMException("The disk is full.", "QuotaExceededError"); };
"""
IDLE = "() => new Promise((done) => requestIdleCallback(() => setTimeout(done, 300)))"
# As when another tab is chosen.
HIDE = """() => {
  Object.defineProperty(document, "hidden", { value: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture(autouse=True)
def talked(user: User) -> Session:
    """A conversation of today."""
    return talk(user, timezone.now(), SAID, answer=f"{ANSWERED} [A page](https://example.org/)")


@pytest_asyncio.fixture(loop_scope="session")
async def server(live_sage: LiveSage) -> AsyncIterator[Server]:
    """A server that the test closes and opens."""
    server = Server(live_sage)
    await server.open()
    yield server
    await server.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, server: Server, cookie: str) -> AsyncIterator[Page]:
    """A page of the signed-in person in a browser that may have service workers."""
    context = await browser.new_context(base_url=server.origin, service_workers="allow")
    context.set_default_timeout(WAIT_MS)
    await sign_in(context, server, cookie)
    yield await context.new_page()
    await context.close()


async def sign_in(context: BrowserContext, server: Server, cookie: str) -> None:
    await context.add_cookies([{"name": "sessionid", "value": cookie, "url": server.origin}])


async def keep(page: Page) -> None:
    """Have the browser keep a copy."""
    await page.goto("/settings/data/")
    await page.get_by_role("button", name="Keep a copy on this device").click()
    await expect(page.get_by_text("This browser keeps a copy. It’s up to date.")).to_be_visible()


async def meet_worker(page: Page) -> None:
    """Have the service worker serve the page: it may have come while one page replaced another."""
    await page.evaluate("async () => { await navigator.serviceWorker.ready; }")
    await page.reload()
    await until_controlled(page)


async def go_offline(page: Page, server: Server) -> None:
    await meet_worker(page)
    await server.close()
    await page.goto("/chat/")
    await expect(page.get_by_role("heading", name="You’re offline")).to_be_visible()


async def stored(page: Page) -> Mapping[str, Any]:
    found: Mapping[str, Any] = await page.evaluate(STORED)
    return found


async def assert_erased(page: Page) -> None:
    """Read the browser's storage, which may still be about to be emptied."""
    await until(page, IS_GONE)
    assert await stored(page) == {"names": [], "count": 0}


async def assert_offline_page_shows_none(page: Page, server: Server) -> None:
    await go_offline(page, server)
    await expect(page.locator("#copy[data-state=none]")).to_be_attached()
    await expect(page.locator("#copy")).to_be_hidden()
    assert SAID not in await page.content()
    assert (await stored(page))["count"] == 0


def end_sessions() -> None:
    BrowserSession.objects.all().delete()


async def test_a_copy_is_kept_for_whoever_wants_it_and_read_offline(page: Page, server: Server) -> None:
    watcher = Watcher(f"localhost:{server.port}")
    watcher.watch(page)
    await page.goto("/")
    await page.goto("/settings/data/")
    assert (await stored(page))["names"] == [], "off by default"
    await expect(page.get_by_text("Not on a shared computer")).to_be_visible()
    await keep(page)
    found = await stored(page)
    assert (found["isExtractable"], found["exported"]) == (False, "no")
    assert found["size"] > 500
    for words in (SAID, ANSWERED, "lake", "Newest conversation"):
        assert words not in found["plain"]
    assert watcher.faults == []

    await go_offline(page, server)
    await expect(page.get_by_role("heading", name="On this device, as of")).to_be_visible()
    await page.get_by_text("Newest conversation", exact=True).click()
    await expect(page.get_by_role("paragraph").filter(has_text=SAID)).to_be_visible()
    await expect(page.get_by_text(f"{ANSWERED} A page")).to_be_visible()
    await expect(page.locator("#copy a")).to_have_count(0)

    await server.open()
    await page.goto("/settings/data/")
    await page.get_by_role("button", name="Erase the copy").click()
    await expect(page.get_by_text("The copy on this device was erased.")).to_be_visible()
    await assert_erased(page)
    await assert_offline_page_shows_none(page, server)


async def test_an_offline_page_shows_it_no_longer_once_it_was_left_or_the_copy_is_gone(
    page: Page, server: Server
) -> None:
    await keep(page)
    await go_offline(page, server)
    shown, hidden = page.locator("#copy[data-state=shown]"), page.locator("#copy[data-state=none]")
    await expect(shown).to_contain_text(SAID)
    await page.evaluate("() => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    assert SAID not in await page.content(), "in the back-forward cache"
    await page.evaluate("() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    await expect(shown).to_contain_text(SAID)

    second = await page.context.new_page()
    await second.goto("/chat/")
    await expect(second.locator("#copy[data-state=shown]")).to_contain_text(SAID)
    person = await second.evaluate("() => localStorage.getItem('sage-person')")
    await second.evaluate("() => localStorage.removeItem('sage-person')")  # as a sign-out does
    await expect(hidden).to_be_attached()
    assert SAID not in await page.content()
    await second.evaluate("(person) => localStorage.setItem('sage-person', person)", person)
    await page.reload()
    await expect(shown).to_contain_text(SAID)
    await page.evaluate(CHANGED, -8)
    await page.evaluate("() => dispatchEvent(new Event('focus'))")
    await expect(hidden).to_be_attached()
    assert SAID not in await page.content()


async def test_nobody_reads_it_after_signing_out(page: Page) -> None:
    await keep(page)
    await meet_worker(page)
    await page.get_by_label("Your account", exact=True).click()
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_label("Password", exact=True)).to_be_visible()
    await assert_erased(page)


async def test_the_response_to_signing_out_erases_it_alone(page: Page) -> None:
    await keep(page)
    await meet_worker(page)
    await page.evaluate(IDLE)
    await page.evaluate(SIGN_OUT)
    assert (await stored(page))["count"] == 0


async def test_after_a_401_nothing_is_readable_and_other_tabs_keep_what_was_typed(
    page: Page, server: Server
) -> None:
    await keep(page)
    await meet_worker(page)
    other = await page.context.new_page()
    await other.goto("/files/")
    await other.evaluate("() => sessionStorage.setItem('sage-draft:1', 'Not sent yet.')")
    await in_database(end_sessions)
    await page.evaluate(CHANGED, -0.1)
    async with page.expect_response("**/offline/copy/") as answered:
        await page.evaluate(HIDE)
    assert (await (await answered.value).all_headers()).get("clear-site-data") is None
    assert (await answered.value).status == 401
    await assert_erased(page)
    assert await other.evaluate("() => sessionStorage.getItem('sage-draft:1')") == "Not sent yet."
    assert await page.evaluate("async () => (await navigator.serviceWorker.getRegistrations()).length") == 1
    await assert_offline_page_shows_none(other, server)


async def test_a_page_after_a_session_has_ended_erases_it(page: Page) -> None:
    await keep(page)
    await meet_worker(page)
    await in_database(end_sessions)
    await page.goto("/chat/")
    await expect(page.get_by_label("Password", exact=True)).to_be_visible()
    await assert_erased(page)


async def test_nobody_else_reads_it(page: Page, server: Server, other_user: User) -> None:
    def other_session() -> str:
        return browser_of(other_user).cookies["sessionid"].value

    await keep(page)
    await meet_worker(page)
    await sign_in(page.context, server, await in_database(other_session))
    await page.goto("/files/")
    await expect(page.get_by_role("heading", name="Files", exact=True)).to_be_visible()
    await assert_erased(page)
    await assert_offline_page_shows_none(page, server)


async def test_a_copy_that_nobody_renewed_or_can_read_is_said_so(page: Page, server: Server) -> None:
    await keep(page)
    await go_offline(page, server)
    await page.evaluate(CHANGED, -6.9)
    await page.reload()
    await expect(page.get_by_role("heading", name="On this device, as of")).to_be_visible()
    for days in (-1.2, 2):  # eight days, and a clock that was set back by two
        await page.evaluate(CHANGED, days)
        await page.reload()
        await expect(page.get_by_text("hadn’t been renewed for seven days, so it was erased")).to_be_visible()
        assert (await stored(page))["count"] == 0
        assert SAID not in await page.content()
        await server.open()
        await page.goto("/settings/data/")
        await expect(page.get_by_text("This browser keeps a copy. It’s up to date.")).to_be_visible()
        await go_offline(page, server)
    await page.evaluate(CHANGED, None)
    await page.reload()
    await expect(page.get_by_text("can’t read the copy on this device")).to_be_visible()
    await page.locator("#offline-text").fill("A thought.")
    await expect(page.get_by_text("Saved on this device.")).to_be_visible()


async def test_the_setting_says_why_a_copy_is_missing_or_older(page: Page) -> None:
    async def refuse(route: Route) -> None:
        await route.fulfill(status=429)

    await page.goto("/settings/data/")
    await page.route("**/offline/copy/", refuse)
    await page.get_by_role("button", name="Keep a copy on this device").click()
    await expect(page.get_by_text("The copy couldn’t be fetched just now.")).to_be_visible()
    await page.unroute("**/offline/copy/")
    await page.reload()
    await expect(page.get_by_text("This browser keeps a copy. It’s up to date.")).to_be_visible()
    await page.route("**/offline/copy/", refuse)
    await page.reload()
    await expect(page.get_by_text("Sage couldn’t update it just now")).to_be_visible()
    assert (await stored(page))["count"] == 2


async def test_a_full_storage_is_said_so_and_not_tried_on_each_page(page: Page) -> None:
    fetched: list[str] = []
    page.on(
        "request", lambda request: fetched.append(request.url) if "/offline/copy/" in request.url else None
    )
    await page.add_init_script(FULL)
    await page.goto("/settings/data/")
    await page.get_by_role("button", name="Keep a copy on this device").click()
    await expect(page.get_by_text("This browser couldn’t store the copy")).to_be_visible()
    assert len(fetched) == 1
    await page.goto("/files/")
    await page.evaluate(IDLE)
    assert len(fetched) == 1


async def test_a_browser_that_cant_keep_a_copy_says_so(page: Page) -> None:
    await page.add_init_script("Object.defineProperty(Crypto.prototype, 'subtle', { value: undefined });")
    await page.goto("/settings/data/")
    await expect(page.get_by_text("This browser can’t keep a copy here.")).to_be_visible()
    await expect(page.get_by_role("button", name="Keep a copy on this device")).to_be_hidden()


async def test_what_was_fetched_before_the_copy_was_erased_isnt_stored_afterwards(page: Page) -> None:
    held, released = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        response = await route.fetch()
        held.set()
        await released.wait()
        await route.fulfill(response=response)

    await keep(page)
    other = await page.context.new_page()
    await other.goto("/settings/data/")
    await expect(other.get_by_text("This browser keeps a copy. It’s up to date.")).to_be_visible()
    await page.route("**/offline/copy/", hold)
    await page.evaluate(CHANGED, -0.1)
    async with page.expect_response("**/offline/copy/"):
        await page.evaluate(HIDE)
        await held.wait()
        await other.get_by_role("button", name="Erase the copy").click()
        await expect(other.get_by_text("The copy on this device was erased.")).to_be_visible()
        await assert_erased(other)
        released.set()
    await page.evaluate(IDLE)
    assert (await stored(page))["count"] == 0


async def test_a_conversation_that_was_signed_out_erases_it(
    open_context: OpenContext, cookie: str, talked: Session, watcher: Watcher
) -> None:
    context = await open_context(cookie, is_new=True)
    page = await context.new_page()
    await keep(page)
    await page.goto(f"/chat/{talked.id}/")
    await expect(page.locator(".said-text")).to_have_text(SAID)
    assert not await page.evaluate(IS_GONE)
    await in_database(end_sessions)
    await until(page, IS_GONE)
    assert watcher.faults == []
