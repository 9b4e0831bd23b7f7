"""Documents of a message: attached by button and by drop, removed, sent, and followed until read."""

import asyncio
import re

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, WebSocket, expect

from coaching.models import Document
from coaching.practice.script import Hold, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Message, Session
from tests.browser.chat_page import WAIT_MS, path_of, say, until_asked, until_done
from tests.browser.fixtures import Watcher
from tests.browser.library_files import drop, worker_of
from tests.browser.test_accessibility import serious_findings
from tests.jobs.conftest import queue
from tests.library.pipeline.conftest import PAYSLIP, references

__all__ = ["queue", "references"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("queue", "references"),
]

LONG = f"payslip{'x' * 120}.txt"


def note_states(page: Page) -> asyncio.Event:
    """Return an event that happens when the page is sent a document's state."""
    came = asyncio.Event()

    def look(frame: str | bytes) -> None:
        if 'data-event="document"' in str(frame):
            came.set()

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", look)

    page.on("websocket", listen)
    return came


async def assert_it_is_usable(page: Page) -> None:
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await serious_findings(page) == []


async def attach_two(page: Page) -> None:
    """Attach one document by the button and one by a drop."""
    async with page.expect_file_chooser() as chooser:
        await page.locator("label[for=attach]").click()
    await (await chooser.value).set_files({"name": LONG, "mimeType": "", "buffer": PAYSLIP.encode()})
    await drop(page, "#transcript", {"notes.txt": b"Buy milk."})
    chips = page.get_by_role("list", name="Documents to send").get_by_role("listitem")
    await expect(chips).to_have_count(2)
    for chip in await chips.all():
        await expect(chip).to_have_attribute("data-id", re.compile(r"\d"))


async def test_documents_go_with_a_message_and_show_how_far_they_are(
    practice: PracticeServer, page: Page, session: Session, user: User, watcher: Watcher
) -> None:
    practice.script(["I am reading it."])
    state_came = note_states(page)
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto(path_of(session))
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
    await attach_two(page)
    async with asyncio.timeout(WAIT_MS / 1000):
        await state_came.wait()  # before a message is there that could show it
    await assert_it_is_usable(page)
    await page.get_by_role("button", name="Remove notes.txt").click()
    await expect(page.locator(".attachment")).to_have_count(1)
    await say(page, "What do you make of this?")
    await until_done(page)
    await expect(page.locator(".attachment")).to_have_count(0)
    sent = page.locator("#messages .attached li")
    payslip = await in_database(Document.of(user.pk).get, name=LONG)
    await expect(sent.get_by_role("link", name=LONG)).to_have_attribute(
        "href", f"/library/documents/{payslip.pk}/"
    )
    await expect(sent.locator(".attached-state")).to_have_text("Being read")
    said = await in_database(Message.of(user.pk).get, role="user")
    assert said.metadata["documents"] == [payslip.pk]
    async with worker_of(practice):
        await expect(sent.locator(".attached-state")).to_have_text("Read")
    await assert_it_is_usable(page)
    assert watcher.faults == []


async def attach_texts(page: Page, *names: str) -> None:
    """Attach small documents to the message that is being written."""
    await drop(page, "#transcript", {name: f"Notes of {name}.".encode() for name in names})
    await expect(page.locator(".attachment[data-id]")).to_have_count(len(names))


async def test_documents_of_what_waits_come_back_with_it(
    practice: PracticeServer, page: Page, session: Session, user: User, watcher: Watcher
) -> None:
    asked = ToolUse("show_options", {"prompt": "Which?", "options": [{"label": "Fine"}, {"label": "Tired"}]})
    practice.script([Reply.of(Hold("one"), Text("Hi.")), Reply.of(Text("I see."), Hold("two"), asked)])
    six = [f"{number}.txt" for number in range(6)]
    field, chips, hint = (page.locator(one) for one in ("#composer-text", ".attachment", "#wait-hint"))
    await page.goto(path_of(session))
    await say(page, "Hello")
    await practice.reached("one")
    await attach_texts(page, *six)
    await say(page, "These")
    await say(page, "and no more")
    await expect(page.locator("#queued .said-text")).to_have_text("These\n\nand no more")

    # What is too much for one message doesn't join it.
    await attach_texts(page, *(f"more {name}" for name in six))
    await say(page, "Six more")
    await expect(hint).to_contain_text("10 documents")
    await expect(chips).to_have_count(6)
    await page.reload()
    await expect(field).to_have_value("Six more")
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "streaming")
    await say(page, "x" * 19_990)
    await expect(hint).to_contain_text("20,000 characters")
    await expect(field).to_have_value("x" * 19_990)
    await field.fill("")

    # Refused, it comes back with its documents.
    await in_database(Document.of(user.pk).filter(name="3.txt").delete)
    practice.release("one")
    await expect(page.locator("#notices")).to_contain_text("no longer in your library")
    await expect(field).to_have_value("These\n\nand no more")
    await expect(chips.locator(".attachment-name")).to_have_text(six)
    await page.get_by_role("button", name="Remove 3.txt").click()
    await say(page, "These five")
    await practice.reached("two")
    await expect(page.locator("#messages .attached li")).to_have_count(5)

    # Behind a question it is a draft.
    await attach_texts(page, "last.txt")
    await say(page, "And this")
    await expect(chips).to_have_count(0)
    practice.release("two")
    await until_asked(page, "Which?")
    await expect(field).to_have_value("And this")
    await expect(chips.locator(".attachment-name")).to_have_text(["last.txt"])
    assert watcher.faults == []
