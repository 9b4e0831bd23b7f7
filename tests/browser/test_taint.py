"""What waits for a yes after Sage has read a document, and what can be undone: live, reloaded, by keys."""

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, expect

from coaching.library.clients import own_client
from coaching.models import UserFile
from coaching.people.profile_changes import offer_library
from coaching.practice.script import Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.chat_page import path_of, say, until_asked, until_done
from tests.browser.fixtures import Watcher
from tests.browser.questions import assert_a_reload_shows_the_same
from tests.browser.test_accessibility import serious_findings
from tests.library.rows import make_document
from tests.sockets.test_taint import write

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NAME = "Invoice <b>2026</b> of a very long company name that goes on.pdf"
SEARCH = ToolUse("search_knowledge_bank", {"query": "boiler"})
NEW = ToolUse("save_file", {"file_type": "overview", "content": "All of it."}, id="toolu_new")
REPLACE = ToolUse(
    "save_file",
    {"file_type": "domain", "file_name": "career", "content": "Quit <b>today</b>.\n\n" + "Word. " * 300},
    id="toolu_page",
)
END = ToolUse("complete_session", {"type": "session"}, id="toolu_end")


async def test_a_page_waits_for_a_yes_and_a_new_one_is_undone(
    practice: PracticeServer, page: Page, session: Session, user: User, watcher: Watcher
) -> None:
    await write(user, "Stay.")
    await in_database(offer_library, user.pk)
    await in_database(lambda: make_document(own_client(user.pk), NAME, text="The boiler is old."))
    practice.script(
        [
            Reply.of(SEARCH),
            Reply.of(Text("Here."), NEW),
            Reply.of(REPLACE),
            "Noted.",
            Reply.of(END),
            "Then on.",
        ]
    )
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto(path_of(session))
    await say(page, "Look up the boiler")
    await until_asked(page, "Shall I save this page?")
    card = page.locator(".call.is-pending")
    await expect(card).to_contain_text(f"Before this, Sage read “{NAME}”.")
    await expect(card).to_contain_text("It replaces what this page says now.")
    await card.locator("summary").click()
    await expect(card.locator(".held-text > div")).to_contain_text("Quit <b>today</b>.")
    assert await serious_findings(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.reload()
    await until_asked(page, "Shall I save this page?")
    await expect(card).to_contain_text(f"Before this, Sage read “{NAME}”.")
    await card.get_by_role("button", name="Save it").focus()
    await page.keyboard.press("Enter")
    await until_done(page)
    await expect(page.locator("#messages .call").first).to_contain_text("Saved. Earlier versions are kept.")
    chip = page.locator(".made .is-foreign")
    await expect(chip).to_contain_text(f"Written after Sage read “{NAME}”.")
    await assert_a_reload_shows_the_same(page)
    assert await serious_findings(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await chip.get_by_role("button", name="Undo").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".made .is-foreign")).to_contain_text("Undone.")
    await expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    paths = await in_database(lambda: list(UserFile.of(user.pk).values_list("path", flat=True)))
    assert paths == ["life-map/career.md"]
    await say(page, "Goodbye")
    await until_asked(page, "Shall I end this conversation?")
    await page.get_by_role("button", name="No, thanks").click()
    await until_done(page, 2)
    await expect(page.locator("#messages .call").last).to_contain_text("You said no. Nothing was changed.")
    await assert_a_reload_shows_the_same(page)
    assert watcher.faults == []
