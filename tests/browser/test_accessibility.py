"""axe finds nothing serious on any page, in either scheme; each fits every width, and works by keyboard."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.conf import settings
from playwright.async_api import Page, expect

from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.models import Session
from tests.browser.chat_page import path_of, say, until_asked, until_done
from tests.browser.fixtures import OpenContext
from tests.browser.page_layout import NARROW, layout_faults
from tests.browser.questions import PILLS, PULSE
from tests.browser.tabbing import tab_faults
from tests.browser.test_conversation import LONG
from tests.leaving import leave_url

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SERIOUS = ("serious", "critical")
PUBLIC_PAGES = (
    "/accounts/login/",
    "/accounts/signup/",
    "/accounts/password/reset/",
    "/accounts/password/reset/done/",
    "/accounts/password/reset/key/1-gone/",
    "/accounts/password/reset/key/done/",
    "/accounts/confirm-email/",
    "/accounts/confirm-email/gone/",
    "/accounts/inactive/",
    "/safety/",
    "/goodbye/",
    "/offline/",
)
OWN_PAGES = (
    "/", "/capture/", "/map/", "/journal/",
    "/chat/", "/files/", "/files/life-map/career.md", "/files/life-map/career.md?view=raw",
    "/files/life-map/career.md/edit/", "/files/life-map/career.md/versions/",
    "/files/life-map/career.md/difference/",
    "/settings/", "/settings/sign-in/", "/settings/usage/", "/settings/model/", "/settings/data/",
    "/settings/about/", "/settings/programs/", "/share/", "/api/docs",
    "/settings/calendar/", "/settings/import/", "/settings/reminders/", "/settings/delete/", "/safety/",
    "/safety/plan/", "/safety/plan/edit/", "/welcome/", "/example/", "/leave/",
    leave_url(f"https://example.org/{'a' * 300}"),
    "/accounts/logout/", "/accounts/email/", "/accounts/password/change/", "/accounts/reauthenticate/",
    "/nowhere/",
)  # fmt: skip

AROUND_THE_MENU = ((1150, 800), (1104, 800), (1012, 800), (998, 800))
"""Screens on both sides of the widths below which the header's links are a menu."""

COLOUR_RULES = ("color-contrast", "link-in-text-block")
"""What axe looks for in colours, which are all that the schemes differ in."""


async def serious_findings(page: Page) -> list[str]:
    """Check a whole page in light, and its colours in dark, too, by the rules that can be serious."""
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(AXE_SCRIPT)
    await page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    colours = await _violations(page, {"runOnly": {"type": "rule", "values": COLOUR_RULES}})
    await page.emulate_media(color_scheme="light")
    return [
        f"{page.url} {found['id']} ({found['impact']}): {node['html'][:200]} {node.get('failureSummary', '')}"
        for found in [*colours, *await _violations(page, {})]
        if found["impact"] in SERIOUS
        for node in found["nodes"]
    ]


async def _violations(page: Page, options: dict[str, Any]) -> Sequence[dict[str, Any]]:
    # Colour transitions take a moment. Passed checks are included but not reported.
    found: Sequence[dict[str, Any]] = await page.evaluate(
        """async ([options, serious]) => {
            do {
                await new Promise(requestAnimationFrame);
                await new Promise(requestAnimationFrame);
            } while (document.getAnimations().length);
            const slight = axe._audit.rules.filter(({ impact }) => impact && !serious.includes(impact));
            const rules = Object.fromEntries(slight.map(({ id }) => [id, { enabled: false }]));
            return (await axe.run(document, { rules, ...options })).violations;
        }""",
        [{"resultTypes": ["violations"], **options}, SERIOUS],
    )
    return found


def test_the_schemes_differ_in_nothing_but_colours() -> None:
    for sheet in (settings.BASE_DIR / "static" / "css").rglob("*.css"):
        rules = sheet.read_text()
        assert rules.count("{") == rules.count("}"), f"{sheet}: what follows would be inside a rule"
        assert "prefers-color-scheme" not in rules, sheet
        of_schemes = re.findall(r"\[data-theme[^{]*\{([^}]*)\}", rules)
        assert {rule.strip() for rule in of_schemes} <= {"color-scheme: light;", "color-scheme: dark;"}, sheet


async def look(page: Page) -> list[str]:
    """Check a page at every width, too."""
    return [*await serious_findings(page), *await layout_faults(page)]


async def test_each_page_fits_every_width_and_axe_finds_nothing_serious(
    practice: PracticeServer, open_context: OpenContext, cookie: str, session: Session
) -> None:
    findings = []
    stranger = await (await open_context()).new_page()
    await stranger.goto("/accounts/signup/")
    await stranger.get_by_label("Email").fill("new@example.org")
    for label in ("Password", "Password again"):
        await stranger.get_by_label(label, exact=True).fill("short")
    await stranger.get_by_role("button", name="Create account").click()
    await expect(stranger.get_by_role("alert")).to_contain_text("too short")
    findings += await look(stranger)
    for address in PUBLIC_PAGES:
        await stranger.goto(address)
        findings += await look(stranger)
    call = ToolUse("save_file", {"file_type": "domain", "file_name": "career", "content": LONG})
    practice.script([Reply.of(Text("I'll keep it."), call), Reply.of(Text(LONG), Hold("look"))])
    page = await (await open_context(cookie)).new_page()
    await page.goto(path_of(session))
    findings += await look(page)
    await say(page, "w" * 300)
    await practice.reached("look")
    await expect(page.locator("#live-text")).to_contain_text("piece about it")
    findings += await look(page)
    practice.release("look")
    await until_done(page)
    practice.faults.push(Fault(kind="status", status=400))
    await say(page, "And fail")
    await until_done(page, 2)
    findings += await look(page)
    practice.script([Reply.of(PILLS), Reply.of(PULSE)])
    await say(page, "And ask")
    await until_asked(page, "How did you wake?")
    findings += await look(page)
    await page.get_by_role("button", name="Fine").click()
    await until_asked(page, "How do these feel?")
    findings += await look(page)
    await page.get_by_label("More options for this conversation").click()
    for entry in ("Rename", "Move to a folder", "End conversation", "Delete"):
        await page.locator("#session-menu").get_by_text(entry, exact=True).click()
        findings += await layout_faults(page, NARROW)
    findings += [*await serious_findings(page), *await layout_faults(page, NARROW)]
    await page.keyboard.press("Escape")
    await page.set_viewport_size({"width": 768, "height": 1024})
    await page.get_by_role("button", name="Conversations").click()
    await expect(page.locator("#drawer .sidebar-row")).to_have_count(1)
    findings += await layout_faults(page, NARROW)
    await page.keyboard.press("Escape")
    for address in OWN_PAGES:
        await page.goto(address)
        findings += await look(page)
    await page.goto("/settings/")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.locator(".flash")).to_contain_text("saved")
    findings += await look(page)
    await page.goto("/")
    for key, name in (("c", "#capture-dialog"), ("?", "#keys-dialog")):
        await page.locator("#main").focus()
        await page.keyboard.press(key)
        await expect(page.locator(name)).to_be_visible()
        findings += await look(page)
        await page.keyboard.press("Escape")
    await page.get_by_label("Your account").click()
    findings += await look(page)
    assert not findings, "\n".join(findings)


@pytest.mark.parametrize("language", ["en", "de", "es"])
async def test_the_header_has_room_for_all_of_its_links(
    open_context: OpenContext, cookie: str, session: Session, language: str
) -> None:
    page = await (await open_context(cookie, locale=language)).new_page()
    await page.goto(path_of(session))
    await expect(page.locator("html")).to_have_attribute("lang", language)
    assert await layout_faults(page, AROUND_THE_MENU) == []


async def test_by_tab_alone_everything_is_reached_in_view_and_marked(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    findings = []
    practice.script(["Heard.", Reply.of(PILLS), Reply.of(PULSE)])
    await page.goto(path_of(session))
    await say(page, "By keyboard")
    await until_done(page)
    await expect(page.locator(".sidebar-row")).to_have_count(1)
    findings += await tab_faults(page)
    practice.faults.push(Fault(kind="status", status=400))
    await page.get_by_label("Your message").focus()
    await page.keyboard.type("And fail")
    await page.keyboard.press("Enter")
    await until_done(page, 2)
    findings += await tab_faults(page)
    await page.get_by_role("button", name="Try again").focus()
    await page.keyboard.press("Enter")
    await until_asked(page, "How did you wake?")
    findings += await tab_faults(page)
    await page.get_by_role("button", name="Fine").focus()
    await page.keyboard.press("Enter")
    await until_asked(page, "How do these feel?")
    findings += await tab_faults(page)
    await page.set_viewport_size({"width": 360, "height": 740})
    findings += await tab_faults(page)
    toggle = page.get_by_role("button", name="Conversations")
    await toggle.focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#drawer .sidebar-row")).to_have_count(1)
    findings += await tab_faults(page)
    await page.locator("#drawer [data-menu]").focus()
    await page.keyboard.press("Enter")
    findings += await tab_faults(page)
    for _ in ("the menu", "the drawer"):
        await page.keyboard.press("Escape")
    await expect(toggle).to_be_focused()
    await page.goto("/")
    findings += await tab_faults(page)
    opener = page.get_by_role("link", name="Capture a thought")
    await opener.focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#capture-dialog")).to_be_visible()
    findings += await tab_faults(page)
    await page.keyboard.press("Escape")
    await expect(opener).to_be_focused()
    await page.goto("/offline/")
    await expect(page.locator("#offline-text")).to_be_visible()
    findings += await tab_faults(page)
    assert not findings, "\n".join(findings)


async def test_the_keyboard_alone_reaches_everything(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script(["Heard."])
    await page.goto("/chat/")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("#main")).to_be_focused()
    await page.goto(path_of(session))
    await expect(page.get_by_label("Your message")).to_be_focused()
    await page.keyboard.type("By keyboard")
    await page.keyboard.press("Enter")
    await until_done(page)
    await expect(page.get_by_label("Your message")).to_be_focused()
    await page.keyboard.press("Shift+Tab")
    await expect(page.get_by_label("Attach documents")).to_be_focused()
    await page.keyboard.press("Shift+Tab")
    await expect(page.locator("summary", has_text="Why this answer")).to_be_focused()
    for name in ("Not a helpful answer", "Helpful answer"):
        await page.keyboard.press("Shift+Tab")
        await expect(page.get_by_role("button", name=name, exact=True)).to_be_focused()
    for name in ("Answer again", "Read aloud", "Copy"):
        await page.keyboard.press("Shift+Tab")
        await expect(page.get_by_role("button", name=name, exact=True)).to_be_focused()


async def test_a_screen_reader_hears_paragraphs_and_no_syllables(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script([Reply.of(Text("One whole thought.\n\nA half "), Hold("half"), Text("one, now whole."))])
    await page.goto(path_of(session))
    announcer = page.locator("#announcer")
    await expect(announcer).to_have_attribute("aria-live", "polite")
    await say(page, "Talk")
    await practice.reached("half")
    await expect(announcer).to_contain_text("One whole thought.")
    await expect(announcer).not_to_contain_text("A half")
    practice.release("half")
    await until_done(page)
    await expect(announcer).to_contain_text("A half one, now whole.")


async def test_a_screen_reader_hears_words_and_no_marks(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script([LONG + "\n\nA `word`, *another*, my_own_name and 2 * 3 \\*as it is\\*."])
    await page.goto(path_of(session))
    # Everything announced so far: the region keeps only the last lines.
    await page.locator("#announcer").evaluate(
        """(region) => {
            window.heard = [];
            new MutationObserver((changes) => {
                const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
                heard.push(...added.map((node) => node.textContent));
            }).observe(region, { childList: true });
        }"""
    )
    await say(page, "Talk")
    await until_done(page)
    heard = " ".join(await page.evaluate("() => heard"))
    for words in (
        "A plan", "You say yes too soon.", "Done: done", "To do: open", "A quiet no.", "Day, Keep",
        "Monday, the walk", "I can't this week.", "And a piece about it.",
        "A word, another, my_own_name and 2 * 3 *as it is*.",
    ):  # fmt: skip
        assert words in heard
    for mark in ("#", "**", "`", "|", "[", "]", "> ", "---", "https://"):
        assert mark not in heard


async def test_the_colours_follow_the_system_until_somebody_says_otherwise(open_context: OpenContext) -> None:
    page = await (await open_context(color_scheme="dark")).new_page()
    await page.goto("/accounts/login/")
    ground = "() => getComputedStyle(document.documentElement).backgroundColor"
    dark = await page.evaluate(ground)
    await page.get_by_role("button", name="Switch between light and dark").click()
    light = await page.evaluate(ground)
    assert light != dark
    await page.reload()
    assert await page.evaluate(ground) == light
