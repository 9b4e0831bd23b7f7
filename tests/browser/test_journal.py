"""The journal in a browser: by keyboard, for axe, and on paper."""

import io
import re
from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from PIL import Image
from playwright.async_api import FilePayload, Page, expect

from coaching.clock.days import local_day
from coaching.models import DayPlan, FileType, Profile, UserFile
from sessions_app.database import in_database
from tests.browser.fixtures import Watcher
from tests.browser.test_accessibility import look, serious_findings

PASTE = """(bytes) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([new Uint8Array(bytes)], "pasted.png", { type: "image/png" }));
  document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true }));
}"""

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def png_of(colour: str) -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (64, 48), colour).save(written, "PNG")
    return written.getvalue()


def keep_days(user: User) -> list[str]:
    """Store a plan and a log of three days of the month before last; return the days.

    Last month's page may show today, among the days after it.
    """
    Profile.unscoped.create(user=user, timezone="UTC", timezone_source="user", country="DE")
    last_month = local_day(timezone.now(), UTC).replace(day=1) - timedelta(days=1)
    first = (last_month.replace(day=1) - timedelta(days=1)).replace(day=3)
    days = [first + timedelta(days=number) for number in (0, 1, 7)]
    for day in days:
        DayPlan.unscoped.create(
            user=user, date=day, intention="Slow", priorities=[{"text": "Swim", "is_done": True}]
        )
        UserFile.unscoped.create(
            user=user,
            path=f"daily-logs/{day}.md",
            file_type=FileType.DAILY_LOG,
            version_number=1,
            frontmatter={"mood_signal": "calm", "energy": "like soup"},
        )
    return [str(day) for day in days]


async def unfold(page: Page) -> None:
    """Open by keyboard what a phone folds above the stream."""
    for fold in ("#month-fold", "#charts-fold"):
        await expect(page.locator(f"{fold} :is(.month, .quiet, .day-chart)").first).to_be_hidden()
        await page.locator(f"{fold} > summary").focus()
        await page.keyboard.press("Enter")


async def test_past_days_are_read_by_keyboard_and_a_week_prints(
    page: Page, user: User, watcher: Watcher
) -> None:
    days = await in_database(keep_days, user)
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto("/journal/")
    await unfold(page)
    await page.locator(".month a[aria-current=date]").focus()
    await page.keyboard.press("PageUp")
    await expect(page).to_have_url(re.compile(r"/journal/\?month=[0-9]{4}-[0-9]{2}$"))
    await page.goto(f"/journal/?month={days[0][:7]}")
    await expect(page.locator(".month a")).to_have_count(3)
    await expect(page.locator(".stream-day")).to_have_count(3)
    await unfold(page)
    await expect(page.locator(".day-chart")).to_have_count(2)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    assert await serious_findings(page) == []
    focused = "() => document.activeElement.getAttribute('href')"
    await page.locator(".month a").first.focus()
    moves = (
        ("ArrowRight", 1),
        ("ArrowLeft", 0),
        ("ArrowDown", 2),
        ("ArrowUp", 0),
        ("End", 2),
        ("Home", 0),
    )
    for key, day in moves:
        await page.keyboard.press(key)
        assert await page.evaluate(focused) == f"/journal/{days[day]}/", key
    await page.get_by_text("Mood and energy as a table").click()
    await expect(page.get_by_role("row", name="like soup")).to_have_count(3)
    await page.locator(".month a").first.click()
    await expect(page.get_by_text("1 of 1 done")).to_be_visible()
    assert await look(page) == []
    await page.get_by_role("link", name="Week of").click()
    assert await look(page) == []
    await page.emulate_media(media="print", color_scheme="dark")
    for hidden in (".site-head", ".trail", ".card-foot", ".site-foot"):
        await expect(page.locator(hidden)).to_be_hidden()
    scheme = await page.evaluate("() => getComputedStyle(document.documentElement).colorScheme")
    assert scheme == "light", "paper is white"
    assert watcher.faults == []


async def test_on_a_wide_screen_the_month_is_next_to_the_days(page: Page, user: User) -> None:
    days = await in_database(keep_days, user)
    await page.set_viewport_size({"width": 1280, "height": 800})
    await page.goto(f"/journal/?month={days[0][:7]}")
    await expect(page.locator(".month")).to_be_visible()
    await expect(page.locator(".day-chart").first).to_be_visible()
    stream, month = await page.locator(".stream").bounding_box(), await page.locator(".month").bounding_box()
    assert stream
    assert month
    assert stream["x"] + stream["width"] <= month["x"]
    link = page.get_by_role("navigation", name="Main").get_by_role("link", name="Journal")
    await expect(link).to_have_attribute("aria-current", "page")
    assert await serious_findings(page) == []


async def test_photos_are_chosen_pasted_described_and_deleted(
    page: Page, user: User, watcher: Watcher
) -> None:
    await in_database(keep_days, user)
    await page.set_viewport_size({"width": 390, "height": 844})
    today = local_day(timezone.now(), ZoneInfo("UTC"))
    await page.goto(f"/journal/{today}/")
    chosen: list[FilePayload] = [
        {"name": f"{colour}.png", "mimeType": "image/png", "buffer": png_of(colour)}
        for colour in ("teal", "orange")
    ]
    await page.get_by_label("Drop or paste photos here").set_input_files(chosen)
    photos = page.locator("#day-photos li")
    await expect(photos).to_have_count(2)
    await expect(page.locator("#uploads-state")).to_have_text("Photos added: 2")
    await page.locator("#drop-files").set_input_files(
        {"name": "x.png", "mimeType": "image/png", "buffer": b"no picture"}
    )
    await expect(page.locator("#uploads .is-failed")).to_contain_text(
        "This isn’t a photo that Sage can read."
    )
    await page.evaluate(PASTE, list(png_of("purple")))
    await expect(photos).to_have_count(3)
    loaded = "(img) => img.decode().then(() => img.naturalWidth)"
    assert await photos.first.get_by_role("img").evaluate(loaded) == 64
    assert await look(page) == []
    await photos.first.get_by_role("link").click()
    await expect(page.get_by_role("heading", name="Photo 1 of 3")).to_be_visible()
    assert await look(page) == []
    await page.get_by_label("What it shows").fill("A teal square")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("img", name="A teal square")).to_be_visible()
    await page.get_by_role("link", name="A teal square").click()
    await page.get_by_text("Delete this photo").click()
    await page.get_by_role("button", name="Delete", exact=True).click()
    await expect(photos).to_have_count(2)
    await page.goto("/journal/")
    await expect(page.locator(".photo-row img")).to_have_count(2)
    assert [fault for fault in watcher.faults if "422" not in fault] == []
