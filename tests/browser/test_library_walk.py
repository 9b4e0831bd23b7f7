"""From a folder of files to something to do: dropped, read, reviewed, asked about, noted and undone."""

import re

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, expect

from coaching.models import ActionItem, Document
from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.chat_page import path_of, say, until_asked, until_done
from tests.browser.fixtures import Watcher
from tests.browser.library_files import TWELVE, drop, worker_of
from tests.jobs.conftest import queue
from tests.library.pipeline.conftest import references

__all__ = ["queue", "references"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("queue", "references"),
]

CREATE = ToolUse(
    "create_action_item",
    {"title": "Give notice to the landlord", "quote": "The lease ends", "due_date": "2035-10-31"},
    id="toolu_act",
)


async def drop_and_watch(page: Page, practice: PracticeServer) -> None:
    await page.goto("/library/")
    await drop(page, "#drop-zone", TWELVE)
    reading = page.locator("#library-progress")
    await expect(reading.get_by_text(re.compile(r"^\d of 12 read$"))).to_be_visible()
    async with worker_of(practice):
        await expect(reading.get_by_role("heading")).to_have_text("Recently added")
    states = {
        "filed": [name for name in TWELVE if name.split()[0] not in {"copy", "broken.pdf", "unclear.txt"}],
        "failed": ["broken.pdf"],
        "duplicate": ["copy of payslip.txt"],
        "review": ["unclear.txt"],
    }
    for state, names in states.items():
        rows = reading.locator("li").filter(has=page.locator(f".state-{state}"))
        titles = rows.locator(".ledger-title")
        assert sorted(await titles.all_inner_texts()) == sorted(names), state


async def accept_the_review(page: Page) -> None:
    await page.goto("/library/review/")
    await page.get_by_role("button", name="Accept the suggestion for unclear.txt").click()
    await expect(page.get_by_text("1 document filed.")).to_be_visible()
    await expect(page.get_by_text("Nothing to review")).to_be_visible()


async def ask_about_the_lease(page: Page, user: User) -> None:
    lease = await in_database(Document.of(user.pk).get, name="lease.pdf")
    await say(page, "When does my lease end?")
    await until_done(page)
    answer = page.locator("#messages .turn").last
    await expect(answer).to_contain_text("ends on 30 April 2036.")
    await answer.get_by_role("link", name="lease.pdf").click()
    await page.wait_for_url(re.compile(rf"/library/documents/{lease.pk}/#page-\d+$"))
    await expect(page.get_by_role("heading", level=1)).to_have_text("lease.pdf")


async def note_and_undo(page: Page) -> None:
    await say(page, "Remind me to give notice in time")
    await until_asked(page, "Shall I note this as your next step?")
    await page.get_by_label("Due").fill("2035-04-30")
    await page.get_by_role("button", name="Note it").click()
    await until_done(page, answers=2)
    noted = page.locator("#messages .call")
    await expect(noted).to_contain_text("Monday, 30 April 2035")
    item = await in_database(ActionItem.unscoped.get)
    assert (item.title, str(item.due_date)) == ("Give notice to the landlord", "2035-04-30")
    assert item.state == "open"
    await noted.get_by_role("button", name="Undo").click()
    await expect(noted).to_contain_text("Undone.")
    await in_database(item.refresh_from_db)
    assert item.state == "dismissed"


async def test_from_a_folder_of_files_to_something_to_do(
    practice: PracticeServer, page: Page, session: Session, user: User, watcher: Watcher
) -> None:
    await drop_and_watch(page, practice)
    await accept_the_review(page)
    await page.goto(path_of(session))
    await ask_about_the_lease(page, user)
    await page.go_back()
    practice.script([Reply.of(CREATE), "It is on your list."])
    await note_and_undo(page)
    assert watcher.faults == []
