"""Sage as an app: an offline page that keeps a draft, notifications, and workers that replace each other."""

import asyncio
import json
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from django.contrib.auth.models import User
from playwright.async_api import Browser, BrowserContext, expect

from coaching.models import Capture, PushDevice
from sessions_app.database import in_database
from tests.browser.app_server import Server, until, until_controlled
from tests.browser.fixtures import WAIT_MS, Watcher
from tests.live_sage import LiveSage
from tests.reminders.push_service import Subscription

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DRAFT = "a thought that came on the train"
STORED = """async () => {
  const names = await caches.keys();
  const stores = await Promise.all(names.map((name) => caches.open(name)));
  const requests = (await Promise.all(stores.map((store) => store.keys()))).flat();
  return { names, paths: requests.map((request) => new URL(request.url).pathname) };
}"""
INSTALLED = """async () => {
  const { installing } = await (await navigator.serviceWorker.ready).update();
  return new Promise((resolve) => {
    installing.addEventListener("statechange", () => resolve(installing.state));
  });
}"""
KEPT = """() => JSON.stringify({ ...localStorage })"""
TYPED = """() => JSON.stringify({ ...sessionStorage })"""
SHARE = """(words) => {
  const form = document.createElement("form");
  form.method = "post";
  form.action = "/share/";
  form.enctype = "multipart/form-data";
  for (const [name, value] of Object.entries(words)) {
    const field = document.createElement("input");
    field.name = name;
    field.value = value;
    form.append(field);
  }
  document.body.append(form);
  form.submit();
}"""
# A browser without a window system shows no notifications.
RECORDED = """() => {
  self.shown = [];
  self.registration.showNotification = async (...said) => self.shown.push(said);
}"""
# A browser here has no push service, and denies notifications.
FAKED = """(form) => {
  Object.defineProperty(Notification, "permission", { get: () => "granted" });
  const { endpoint, ...keys } = form;
  const device = {
    endpoint,
    options: {},
    toJSON: () => ({ endpoint, keys }),
    unsubscribe: async () => sessionStorage.removeItem("subscribed"),
  };
  PushManager.prototype.getSubscription = async () => (sessionStorage.getItem("subscribed") ? device : null);
  PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    if (applicationServerKey.length !== 87) throw new Error("no key of 65 bytes");
    sessionStorage.setItem("subscribed", "yes");
    return device;
  };
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def server(live_sage: LiveSage) -> AsyncIterator[Server]:
    """A server that the test closes and opens."""
    server = Server(live_sage)
    await server.open()
    yield server
    await server.close()


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser, server: Server, cookie: str) -> AsyncIterator[BrowserContext]:
    """A browser of the signed-in person that may have service workers."""
    context = await browser.new_context(base_url=server.origin, service_workers="allow")
    context.set_default_timeout(WAIT_MS)
    await context.add_cookies([{"name": "sessionid", "value": cookie, "url": server.origin}])
    yield context
    await context.close()


async def test_what_is_written_offline_is_offered_online_and_wiped_for_others(
    context: BrowserContext, server: Server, cookie: str
) -> None:
    watcher = Watcher(f"localhost:{server.port}")
    page = await context.new_page()
    watcher.watch(page)
    await page.goto("/")
    await until_controlled(page)
    stored = await page.evaluate(STORED)
    assert len(stored["names"]) == 1
    assert "/offline/" in stored["paths"]
    assert all(path == "/offline/" or path.startswith("/static/") for path in stored["paths"])
    assert watcher.faults == []
    assert '"isFinal": true' in await (await context.request.get("/service-worker.js")).text()

    async def write_offline() -> None:
        await server.close()
        await page.goto("/chat/")
        await expect(page.get_by_role("heading", name="You’re offline")).to_be_visible()
        await page.locator("#offline-text").fill(DRAFT)
        await expect(page.get_by_text("Saved on this device.")).to_be_visible()

    await write_offline()
    assert await page.evaluate("getComputedStyle(document.querySelector('h1')).fontFamily") > "L"
    await page.reload()
    await expect(page.locator("#offline-text")).to_have_value(DRAFT)
    await server.open()
    await page.get_by_role("link", name="Try again").click()
    await expect(page.get_by_role("heading", name="Conversations", exact=True)).to_be_visible()
    await page.goto("/")
    await page.locator("#composer-text").fill("First of all:")
    await page.get_by_role("button", name="Add to message").click()
    await expect(page.locator("#composer-text")).to_have_value(f"First of all:\n\n{DRAFT}")
    assert DRAFT not in await page.evaluate(KEPT)
    await page.reload()
    await expect(page.locator(".offline-draft")).to_have_count(0)

    # Somebody else's goes at once.
    await page.evaluate(
        """(text) => {
            localStorage.setItem("sage-offline-draft:999999", text);
            sessionStorage.setItem("sage-tab-of", "999999");
            sessionStorage.setItem("sage-outbox:theirs", text);
        }""",
        DRAFT,
    )
    await page.reload()
    assert DRAFT not in await page.evaluate(KEPT)
    assert DRAFT not in await page.evaluate(TYPED)

    # Nobody who uses this browser next finds it: not when the session has expired, nor after signing out.
    await write_offline()
    await server.open()
    await context.clear_cookies()
    await page.goto("/")
    await expect(page).to_have_url(re.compile("/accounts/login/"))
    assert DRAFT not in await page.evaluate(KEPT)
    await context.add_cookies([{"name": "sessionid", "value": cookie, "url": server.origin}])
    await page.goto("/")
    await write_offline()
    await server.open()
    await page.goto("/")
    await expect(page.locator(".offline-draft")).to_be_visible()
    assert DRAFT in await page.evaluate(KEPT)
    await page.locator("#composer-text").fill("half a thought")
    assert "half a thought" in await page.evaluate(TYPED)
    await page.get_by_label("Your account").click()
    await page.get_by_role("button", name="Sign out").click()
    await expect(page).to_have_url(re.compile("/accounts/login/"))
    assert "half a thought" not in await page.evaluate(TYPED)
    await until(page, f"() => !JSON.stringify({{ ...localStorage }}).includes({json.dumps(DRAFT)})")
    await server.close()
    await page.goto("/")
    await expect(page.get_by_role("heading", name="You’re offline")).to_be_visible()
    await expect(page.locator("#offline-form")).to_be_hidden()


async def test_a_new_worker_takes_over_unless_a_page_is_private_and_shows_what_is_pushed(
    context: BrowserContext, server: Server, user: User
) -> None:
    page = await context.new_page()
    await page.goto("/settings/reminders/")
    await until_controlled(page)
    server.version = "later"
    await page.reload()
    await until(page, "async () => (await caches.keys()).join() === 'sage-shell-later'")

    worker = context.service_workers[-1]
    server.version, server.is_offline_page_private = "private", True
    assert await page.evaluate(INSTALLED) == "redundant"
    assert (await page.evaluate(STORED))["names"] == ["sage-shell-later"]

    await worker.evaluate(RECORDED)
    session = await context.new_cdp_session(page)
    registered: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def note(event: dict[str, list[dict[str, str]]]) -> None:
        for registration in event["registrations"]:
            if not registered.done():
                registered.set_result(registration["registrationId"])

    session.on("ServiceWorker.workerRegistrationUpdated", note)
    await session.send("ServiceWorker.enable")
    message = {"kind": "day", "title": "Time to plan your day", "text": "Take a few minutes."}
    await session.send(
        "ServiceWorker.deliverPushMessage",
        {"origin": server.origin, "registrationId": await registered, "data": json.dumps(message)},
    )
    await until(worker, "() => self.shown.length > 0")
    title, options = await worker.evaluate("() => self.shown[0]")
    assert (title, options["body"], options["tag"]) == (message["title"], message["text"], "sage-day")
    assert options["data"] == {"page": "/reminders/day/"}

    subscription = Subscription("https://push.example/send/one")
    await context.add_init_script(f"({FAKED})({json.dumps(subscription.form)})")
    await page.reload()
    allow = page.get_by_role("button", name="Allow on this device")
    await allow.click()
    await expect(page.get_by_text("This device shows notifications.")).to_be_visible()
    await expect(page.get_by_role("checkbox", name="Notification")).to_have_count(4)
    device = await in_database(PushDevice.of(user.pk).get)
    assert device.endpoint == subscription.endpoint
    await page.get_by_role("button", name=re.compile("Remove")).click()
    await expect(page.get_by_text("No devices yet.")).to_be_visible()
    assert not await in_database(PushDevice.of(user.pk).exists)
    await allow.click()
    await expect(page.get_by_text("This device shows notifications.")).to_be_visible()
    await page.get_by_label("Your account").click()
    await page.get_by_role("button", name="Sign out").click()
    await expect(page).to_have_url(re.compile("/accounts/login/"))
    await until(page, "() => !sessionStorage.getItem('subscribed')")


async def test_shared_words_reach_the_page_without_the_server_and_are_stored_by_the_person(
    context: BrowserContext, user: User
) -> None:
    page = await context.new_page()
    await page.goto("/")
    await until_controlled(page)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(f"{request.method} {request.url}"))
    await page.evaluate(
        SHARE, {"title": "An article", "text": "Worth a read.", "url": "https://example.org/a"}
    )
    await expect(page.get_by_role("heading", name="Share with Sage")).to_be_visible()
    field = page.get_by_label("What you share")
    await expect(field).to_have_value("An article\nWorth a read.\nhttps://example.org/a")
    assert "Worth" not in page.url
    assert not await in_database(Capture.of(user.pk).exists)
    await page.reload()
    await expect(field).to_have_value("")
    await page.evaluate(SHARE, {"text": "Once more."})
    await expect(field).to_have_value("Once more.")
    await page.get_by_role("button", name="Save to captures").click()
    await expect(page.get_by_text("from “Share menu”")).to_be_visible()
