"""Somebody reads what Sage remembers, corrects it, and finds the correction in what Sage saw."""

import pytest
from playwright.async_api import Page, expect

from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session, SessionBrief
from tests.browser.chat_page import path_of, say, until_done
from tests.browser.test_accessibility import look, serious_findings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LINES = """\
- Your sister Hannah visits on Sunday [1]
- You want to work less [1, 2]
- You rest in the evenings [3]"""
REMEMBERED = "What Sage remembers"


def write_brief(session: Session) -> None:
    SessionBrief.unscoped.create(session=session, version=1, text=LINES, covers_from=1, covers_until=4)
    Session.unscoped.filter(pk=session.pk).update(brief_covers=4)


async def test_a_correction_is_in_what_sage_sees_with_its_next_answer(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script(["What a week.", "Rest well.", "Anna, then."])
    await page.goto(path_of(session))
    await say(page, "My sister visits on Sunday, and I want to work less.")
    await until_done(page)
    await say(page, "I rest in the evenings.")
    await until_done(page, 2)
    await in_database(write_brief, session)

    await page.get_by_label("More options for this conversation").click()
    await page.get_by_role("link", name=REMEMBERED).click()
    await expect(page.get_by_role("heading", level=1)).to_have_text(f"{REMEMBERED} of this conversation")
    assert await look(page) == []
    await page.get_by_role("link", name="Your message 3").click()
    await expect(page.locator("#message-3")).to_be_in_viewport()
    await page.go_back()

    await page.get_by_text("Correct", exact=True).first.click()
    assert await serious_findings(page) == []
    field = page.get_by_label("What’s right?").first
    await expect(field).to_have_value("Your sister Hannah visits on Sunday")
    await field.fill("Your sister Anna visits on Sunday")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.locator(".flash")).to_contain_text("Saved.")
    await page.get_by_role("button", name="Remove: You want to work less").click()
    await expect(page.locator(".flash")).to_contain_text("Removed.")
    assert await serious_findings(page) == []
    lines = page.locator(".remembered-text")
    await expect(lines).to_contain_text(["You rest in the evenings", "Your sister Anna visits on Sunday"])

    await page.get_by_role("link", name="Back to the conversation").click()
    await say(page, "She comes at noon.")
    await until_done(page, 3)
    await page.get_by_text("Why this answer").last.click()
    await expect(page.locator(".why[open]")).to_contain_text(f"{REMEMBERED} of this conversation")
    sent = str(practice.requests[-1].body["messages"])
    assert "Corrected by the person: Your sister Anna visits on Sunday" in sent
    assert "work less" not in sent.partition("My sister visits")[0]
