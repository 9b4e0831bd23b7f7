"""The safety plan in a browser: written with the practice model, edited, on the card, printed."""

from zoneinfo import ZoneInfo

import pypdfium2
import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.async_api import Locator, Page, expect

from coaching.files.drafts import build_draft
from coaching.files.safety_plans import PLAN_PATH
from coaching.models import FileSource, FileType, UserFileVersion
from coaching.practice.script import Reply, Text
from coaching.practice.server import PracticeServer
from coaching.safety.plan import PlanSection, make_plan, parse_plan, render_plan
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.chat_page import messages_markup, path_of, say, until_done
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.test_accessibility import serious_findings
from tests.files.storing import store_file

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DANGER = "Work was fine. I don't want to be alive anymore."
MIN_TARGET = 44
SAFER = "The pills are at Tom's"
FULL = make_plan(
    {
        PlanSection.WARNING_SIGNS: "- I stop answering messages\n- I lie awake until four",
        PlanSection.WHAT_HELPS: "- A hot shower\n- The walk to the weir, with music\n- The list of good days",
        PlanSection.PLACES: "- The library, the warm corner\n- Ana's kitchen",
        PlanSection.WHOM_TO_CALL: "- Tom, 030 123456, also at night\n- Ana: +49 171 5556677",
        PlanSection.PROFESSIONALS: "- Dr. Wu, 030 7654321, weekdays 9-17\n- Clinic at the park, 030 99 88 77",
        PlanSection.SAFER: f"- {SAFER}",
        PlanSection.WHAT_MATTERS: "- The cat\n- Seeing Mia start school",
    }
)


@pytest.fixture
async def plan(user: User) -> None:
    """A plan with all its sections."""
    draft = build_draft(
        file_type=FileType.SAFETY_PLAN,
        content=render_plan(FULL),
        now=timezone.now(),
        timezone=ZoneInfo("UTC"),
    )
    await store_file(user_id=user.pk, draft=draft, source=FileSource.TOOL)


async def newest(user: User) -> str:
    versions = UserFileVersion.of(user.pk).filter(file__path=PLAN_PATH).order_by("-number")
    return await in_database(lambda: versions.values_list("content", flat=True)[0])


async def height(target: Locator) -> float:
    box = await target.bounding_box()
    assert box is not None
    return box["height"]


async def test_a_plan_is_written_with_the_practice_model_and_edited(
    practice: PracticeServer, page: Page, user: User, in_germany: None, watcher: Watcher
) -> None:
    await page.goto("/safety/")
    await page.get_by_role("link", name="Your safety plan").click()
    assert await serious_findings(page) == []
    await page.get_by_role("button", name="Write it with Sage").click()
    answers = ("I stop answering messages", "A hot shower", "Tom, 030 123456", "The cat")
    for number, words in enumerate(answers, start=1):
        await until_done(page, number)
        await say(page, words)
    await page.get_by_role("button", name="Yes, write it down").click()
    await expect(page.locator("#messages")).to_contain_text("It’s on the page".replace("’", "'"))
    await page.locator(".made").get_by_role("link").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Your safety plan")
    await expect(page.get_by_role("link", name="030 123456")).to_have_attribute("href", "tel:030123456")
    assert await serious_findings(page) == []
    await page.get_by_role("link", name="Edit").click()
    assert await serious_findings(page) == []
    await page.get_by_label("Making it safer").fill(SAFER)
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.locator(".safety-plan")).to_contain_text(SAFER)
    stored = parse_plan((await newest(user)).partition("---\n\n")[2])
    assert stored.text(PlanSection.WHAT_HELPS) == "- A hot shower"
    assert stored.text(PlanSection.SAFER) == SAFER
    assert stored.rest == ""
    kept = await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert SAFER not in kept, "no draft of it stays on the device"
    assert watcher.faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_card_begins_with_the_emergency_number_and_has_the_plan_closed(
    practice: PracticeServer,
    open_context: OpenContext,
    cookie: str,
    session: Session,
    in_germany: None,
    plan: None,
    scheme: str,
    watcher: Watcher,
) -> None:
    practice.script([Reply.of(Text("I'm here. Are you safe right now?"))])
    context = await open_context(cookie, viewport={"width": 320, "height": 640}, color_scheme=scheme)
    page, other = await context.new_page(), await context.new_page()
    for tab in (page, other):
        await tab.goto(path_of(session))
    await say(page, DANGER)
    await until_done(page)
    await until_done(other)
    streamed = await messages_markup(page)
    assert await messages_markup(other) == streamed
    await page.reload()
    assert await messages_markup(page) == streamed
    card = page.locator(".safety-card")
    first = card.get_by_role("link").first
    await expect(first).to_have_attribute("href", "tel:112")
    assert await height(first) >= MIN_TARGET
    shown = card.locator(".card-plan")
    await expect(shown.get_by_text("A hot shower")).to_be_hidden()
    summary = shown.locator("summary")
    assert await height(summary) >= MIN_TARGET
    await summary.click()
    await expect(shown.get_by_text("A hot shower")).to_be_visible()
    tom = shown.get_by_role("link", name="030 123456")
    await expect(tom).to_have_attribute("href", "tel:030123456")
    assert await height(tom) >= MIN_TARGET
    assert SAFER not in await page.content()
    assert await page.evaluate("document.documentElement.scrollWidth") == 320
    assert await serious_findings(page) == []
    assert watcher.faults == []


async def test_the_plan_is_on_the_card_without_a_script(
    practice: PracticeServer,
    open_context: OpenContext,
    cookie: str,
    session: Session,
    in_germany: None,
    plan: None,
) -> None:
    practice.script([Reply.of(Text("I'm here."))])
    page = await (await open_context(cookie, java_script_enabled=False)).new_page()
    await page.goto(path_of(session))
    await page.locator("#composer-text").fill(DANGER)
    await page.get_by_role("button", name="Send", exact=True).click()
    await page.get_by_text("Your safety plan").click()
    await expect(page.get_by_text("A hot shower")).to_be_visible()
    await page.goto("/safety/plan/edit/")
    await page.get_by_label("Places and people").fill("The park")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.locator(".safety-plan")).to_contain_text("The park")
    await expect(page.get_by_role("button", name="Print")).to_be_hidden()


async def test_it_is_printed_on_one_sheet_with_numbers_and_without_the_site(
    page: Page, in_germany: None, plan: None
) -> None:
    await page.goto("/safety/plan/")
    await page.get_by_role("button", name="Switch between light and dark").click()
    await page.emulate_media(media="print")
    ink = "getComputedStyle(document.querySelector('.safety-plan')).color"
    assert float((await page.evaluate(ink)).partition("(")[2].split()[0]) < 0.5, (
        "dark on paper, in a dark theme too"
    )
    document = pypdfium2.PdfDocument(await page.pdf(format="A4"))
    text = " ".join(document[0].get_textpage().get_text_range().split())
    assert len(document) == 1
    assert "112" in text
    assert "030 7654321" in text
    for line in (words.lstrip("- ") for part in FULL.texts.values() for words in part.split("\n")):
        assert line in text
    for chrome in (
        "Edit",
        "Print",
        "Remove the plan",
        "Safety and help lines",
        "Practice model",
        "Only you see",
    ):
        assert chrome not in text
