"""What somebody said persists on every page and in the next request: a crisis, a rating, a capture."""

from datetime import datetime

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.async_api import Page, expect

from coaching.clock.days import local_day
from coaching.life.pulse import store_ratings
from coaching.models import Capture, LifeDomain, Profile
from coaching.practice.script import Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind
from tests.browser.chat_page import path_of, say, until_done
from tests.browser.fixtures import Watcher
from tests.context.conftest import text_blocks
from tests.stored_turns import open_conversation

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGE = "/files/life-map/health.md"


async def rate_lower(user: User) -> None:
    await in_database(
        store_ratings,
        user_id=user.pk,
        ratings={LifeDomain.HEALTH: 1},
        note="",
        session_id=None,
        rated_at=timezone.now(),
    )


async def test_a_domain_in_crisis_stays_so_when_it_is_saved_casually(
    page: Page, practice: PracticeServer, user: User, session: Session, watcher: Watcher
) -> None:
    domain = {"file_type": "domain", "file_name": "health"}
    marked = {**domain, "content": "No sleep.", "attributes": {"status": "in_crisis", "updated_rating": 2}}
    practice.script(
        [
            Reply.of(ToolUse("save_file", marked)),
            "It is written down.",
            Reply.of(ToolUse("save_file", {**domain, "content": "No sleep. A walk on Sunday."})),
            "I added the walk.",
        ]
    )
    await page.goto(path_of(session))
    await say(page, "I haven't slept for weeks.")
    await until_done(page, 1)
    await rate_lower(user)
    await say(page, "I went for a walk on Sunday.")
    await until_done(page, 2)
    await page.goto("/")
    await expect(page.locator(".glance a[href$='#health']")).to_contain_text("In crisis")
    await page.goto("/map/")
    health = page.locator("#health")
    await expect(health.locator(".domain-status")).to_contain_text("In crisis")
    await expect(health.locator(".domain-pulse strong")).to_have_text("1")
    await page.goto(PAGE)
    await expect(page.locator(".prose")).to_contain_text("A walk on Sunday.")
    facts = page.locator(".facts")
    await expect(facts.locator("dt:has-text('Status') + dd")).to_have_text("In crisis")
    await expect(facts.locator("dt:has-text('Rating') + dd")).to_have_text("1")
    await page.goto(f"{PAGE}/edit/")
    await expect(page.locator("select[name=status]")).to_have_value("in_crisis")
    await expect(page.locator("select[name=updated_rating]")).to_have_value("1")
    another = await in_database(open_conversation, user)
    practice.script(["Good to see you."])
    await page.goto(path_of(another))
    await say(page, "Hello again.")
    await until_done(page, 1)
    prompt = "\n".join(text_blocks(practice.requests[-1].body))
    assert '<domain name="health" status="in_crisis"' in prompt
    assert "health: first 2, lately 2, 1" in prompt
    assert watcher.faults == []


async def test_two_captures_stand_with_links_in_the_log_of_the_day(
    page: Page, practice: PracticeServer, user: User, watcher: Watcher
) -> None:
    await page.goto("/")
    for words in ("Call mum about Sunday", "An idea for the garden"):
        await page.keyboard.press("c")
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("textbox").fill(words)
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog).to_be_hidden()
    session = await in_database(session_services.open_session, user_id=user.pk, kind=SessionKind.CLOSE_DAY)
    log = {
        "file_type": "daily-log",
        "content": "A long day, and a good walk at its end.",
        "attributes": {"energy": "low", "mood_signal": "calm", "domains_touched": ["health"]},
    }
    practice.script([Reply.of(Text("I'll write that."), ToolUse("save_file", log)), "Here is the day."])
    await page.goto(path_of(session))
    await say(page, "A long day. I walked in the evening, and feel calm.")
    await until_done(page, 1)
    day = await in_database(_today, user)
    assert await in_database(Capture.of(user.pk).waiting().count) == 0
    await page.goto(f"/files/daily-logs/{day}.md")
    prose = page.locator(".prose")
    for words in ("Call mum about Sunday", "An idea for the garden"):
        await expect(prose).to_contain_text(words)
    await expect(prose.locator("a[href^='/files/captures/']")).to_have_count(2)
    await prose.locator("a[href^='/files/captures/']").first.click()
    await expect(page.locator(".prose")).to_contain_text("Call mum about Sunday")
    for address in ("/", "/capture/"):
        await page.goto(address)
        folded = page.locator(".folded-captures")
        await expect(folded).to_contain_text("An idea for the garden")
        await expect(folded.locator(f"a[href='/files/daily-logs/{day}.md']")).to_have_count(2)
    assert watcher.faults == []


def _today(user: User) -> str:
    profile = Profile.of(user.pk).first()
    now: datetime = timezone.now()
    return local_day(now, profile.zone).isoformat() if profile else now.date().isoformat()
