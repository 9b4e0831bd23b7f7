"""The library in a browser: files that are dropped arrive one by one; a review is accepted and undone."""

import re
from datetime import UTC
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.async_api import FilePayload, Page, expect

from coaching.clock.days import local_day
from coaching.library.clients import own_client
from coaching.library.pipeline.attachments import TOO_MANY
from coaching.models import Document, DocumentState
from sessions_app.database import in_database
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.page_layout import layout_faults
from tests.browser.test_accessibility import serious_findings
from tests.library.rows import make_document, make_reference
from tests.sockets.tenant_library import fill_library, ids_of_library

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = (
    "/library/", "/library/clients/{client}/", "/library/clients/{client}/delete/",
    "/library/projects/{project}/", "/library/documents/{document}/", "/library/review/",
    "/library/knowledge/", "/library/knowledge/{entry}/", "/library/actions/", "/library/actions/{action}/",
)  # fmt: skip


WATCH_NAMES = """() => {
    window.gone = [];
    const seen = new Set();
    new MutationObserver(() => {
        const shown = document.querySelectorAll("#uploads .upload-name, #library-progress .ledger-title");
        const names = new Set([...shown].map(({ textContent }) => textContent));
        window.gone.push(...[...seen].filter((name) => !names.has(name)));
        for (const name of names) seen.add(name);
    }).observe(document.body, { childList: true, subtree: true });
}"""


async def test_a_phone_is_not_told_to_drag_files(open_context: OpenContext, cookie: str) -> None:
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    page = await (await open_context(cookie, **phone)).new_page()
    today = f"/journal/{local_day(timezone.now(), UTC)}/"
    for address, words in (
        ("/library/", "Choose files or take a photo"),
        (today, "Choose photos or take one"),
    ):
        await page.goto(address)
        assert await page.locator(".drop-label").inner_text() == words


async def test_the_buttons_of_a_document_do_not_touch(page: Page, user: User) -> None:
    document = await in_database(lambda: make_document(own_client(user.pk)))
    await page.goto(f"/library/documents/{document.pk}/")
    touching = await page.locator(".acts .button:visible").evaluate_all(
        """(buttons) => buttons.slice(1).filter((button, number) => {
            const [one, other] = [buttons[number], button].map((each) => each.getBoundingClientRect());
            return other.left - one.right < 4 && other.top - one.bottom < 4;
        }).map((button) => button.textContent)"""
    )
    assert touching == []


async def test_dropped_files_become_documents_and_an_empty_one_is_refused_at_once(
    page: Page, watcher: Watcher, user: User
) -> None:
    await page.goto("/library/")
    await expect(page.get_by_text("Nothing here yet.")).to_be_visible()
    files = [
        FilePayload(name=f"letter {number}.txt", mimeType="text/plain", buffer=b"Dear Ada" + bytes([number]))
        for number in range(65, 76)
    ]
    files.append(FilePayload(name="empty.txt", mimeType="text/plain", buffer=b""))
    await page.evaluate(WATCH_NAMES)
    await page.get_by_label("Drop files or a folder here").set_input_files(files)
    uploads = page.locator("#uploads")
    await expect(uploads.get_by_text("This file is empty.")).to_be_visible()
    await expect(uploads.locator("li")).to_have_count(1)
    reading = page.locator("#library-progress")
    await expect(reading.get_by_text("0 of 11 read")).to_be_visible()
    await expect(reading.locator("li")).to_have_count(11)
    assert await page.evaluate("window.gone") == [], "names that were on the page and then weren't"
    assert await in_database(Document.of(user.pk).filter(state=DocumentState.QUEUED).count) == 11
    assert await in_database(Document.of(user.pk).count) == 11
    await expect(page.get_by_text("Nothing here yet.")).to_have_count(0)
    letters = Document.of(user.pk).filter(state=DocumentState.QUEUED)
    await in_database(letters.update, state=DocumentState.FILED, folder="Letters")
    await expect(page.get_by_text("11 filed")).to_be_visible()
    await expect(page.locator("#library-clients").get_by_role("link", name="Letters 11")).to_be_visible()
    assert watcher.faults == []


async def test_of_three_drops_that_overlap_the_first_stays_on_the_page_until_all_are_read(
    page: Page, user: User
) -> None:
    own = await in_database(own_client, user.pk)
    documents = Document.of(user.pk)
    reading = page.locator("#library-progress")

    async def drop(name: str) -> None:
        file = FilePayload(name=name, mimeType="text/plain", buffer=f"Dear {name}".encode())
        await page.get_by_label("Drop files or a folder here").set_input_files([file])
        await expect(reading.get_by_text(name)).to_be_visible()

    async def read(name: str) -> None:
        filed = {"state": DocumentState.FILED, "folder": "Letters", "decided_at": timezone.now()}
        await in_database(lambda: documents.filter(name=name).update(**filed))

    await page.goto(f"/library/clients/{own.pk}/")
    await page.evaluate(WATCH_NAMES)
    for name in ("first.txt", "second.txt"):
        await drop(name)
    await read("first.txt")
    await drop("third.txt")
    await read("second.txt")
    await expect(reading.get_by_text("0 of 1 read")).to_be_visible()
    await expect(reading.get_by_text("first.txt")).to_be_visible()
    assert await page.evaluate("window.gone") == [], "names that were on the page and then weren't"
    await read("third.txt")
    await expect(page.locator("#library-folders").get_by_text("first.txt")).to_be_visible()
    await expect(page.get_by_text("first.txt")).to_have_count(1)


async def test_a_review_is_accepted_and_undone(page: Page, user: User) -> None:
    await in_database(fill_library, user, "a lease")
    suggestion = {"file_type": "payslip", "category": "work", "folder": "Work", "level": "client"}
    await in_database(Document.of(user.pk).update, **suggestion)
    await page.goto("/library/review/")
    await page.get_by_text("Something else").click()
    await page.locator(".review").get_by_label("Folder").press("Enter")  # doesn't press another button
    await page.get_by_role("button", name="Accept the suggestion for a lease.txt").click()
    await expect(page.get_by_text("1 document filed.")).to_be_visible()
    document = await in_database(Document.of(user.pk).get)
    await page.goto(f"/library/documents/{document.pk}/")
    await expect(page.locator("#decision-title")).to_contain_text("Filed in Work")
    await page.get_by_role("button", name="Undo").first.click()
    await expect(page.locator("#decision-title")).to_contain_text("Needs review")


async def test_an_email_and_its_attachments_lead_to_each_other(
    open_context: OpenContext, cookie: str, user: User
) -> None:
    def fill() -> int:
        email = make_document(own_client(user.pk), "papers.eml", text="Here are the papers.")
        make_document(email.client, "lease.pdf", text="A lease", part_of=email)
        refused: dict[str, Any] = {
            "state": DocumentState.REFUSED,
            "storage_key": None,
            "reason": TOO_MANY,
            "folder": "",
        }
        make_document(email.client, f"{'film' * 30}.mp4", part_of=email, **refused)
        return email.pk

    email_id = await in_database(fill)
    phone = await (await open_context(cookie, viewport={"width": 360, "height": 740})).new_page()
    await phone.goto(f"/library/documents/{email_id}/")
    await expect(phone.get_by_text("more attachments, or larger ones")).to_be_visible()
    findings = [*await layout_faults(phone), *await serious_findings(phone)]
    assert not findings, "\n".join(findings)
    await phone.get_by_role("link", name="lease.pdf").click()
    await phone.get_by_role("link", name="papers.eml").click()
    await expect(phone.get_by_role("heading", name="papers.eml")).to_be_visible()


async def test_a_transcripts_page_says_how_far_its_readings_are_and_begins_them_anew(
    open_context: OpenContext, cookie: str, user: User
) -> None:
    def fill() -> int:
        make_reference("call-transcript", tags=["transcript"])
        facts = [{"name": "Call on", "value": "3 March", "quote": "we speak on 3 March", "page": 1}]
        call = make_document(
            own_client(user.pk),
            "call.txt",
            text="Ada: we speak on 3 March.",
            file_type="call-transcript",
            key_facts=facts,
            facts_found_at=timezone.now(),
        )
        return call.pk

    call_id = await in_database(fill)
    phone = await (await open_context(cookie, viewport={"width": 360, "height": 740})).new_page()
    await phone.goto(f"/library/documents/{call_id}/")
    readings = phone.locator("#readings")
    await expect(readings).to_contain_text("The key facts are from the whole text.")
    await readings.get_by_role("button", name="Analyse").click()
    await expect(readings.get_by_role("status")).to_have_text("Sage is analysing what was said.")
    await expect(readings.get_by_role("button")).to_have_text(["Find facts again"])
    findings = [*await layout_faults(phone), *await serious_findings(phone)]
    assert not findings, "\n".join(findings)


async def test_pages_fit_every_width_and_axe_finds_nothing_serious(
    open_context: OpenContext, cookie: str, user: User
) -> None:
    name = "averylongnamewithoutanyspaceinit" * 3
    await in_database(fill_library, user, name)
    ids = await in_database(ids_of_library, user.pk)
    phone = await (await open_context(cookie, viewport={"width": 360, "height": 740})).new_page()
    findings: list[str] = []
    for address in PAGES:
        await phone.goto(address.format(**ids))
        faults = await layout_faults(phone)
        findings += [
            fault for fault in faults if not re.search(f"characters in a line: .*“{name[:60]}", fault)
        ]
        findings += await serious_findings(phone)
    assert not findings, "\n".join(findings)
