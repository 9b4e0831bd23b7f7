"""The original beside its facts: from a fact to its sentence, also on a phone and by keyboard alone."""

import re
from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Locator, Page, expect

from coaching.library.documents.facts import fact_key
from coaching.library.documents.filing import delete_document
from coaching.library.documents.intake import destination_of, take_in
from coaching.library.extractors.content_types import PDF
from coaching.models import Document, DocumentState, DocumentText
from sessions_app.database import in_database
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.page_layout import layout_faults
from tests.browser.test_accessibility import serious_findings
from tests.library.extractors import files

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = (
    ("COMMERCIAL LEASE", "Between Harbour Estates Ltd (landlord) and Ada Example (tenant)."),
    (*("The tenant keeps the premises in repair." for _ in range(50)), "This lease ends on 30 April 2036."),
)
FACTS = [
    {"name": "Tenant", "value": "Ada Example", "quote": "Ada Example (tenant)", "page": 1},
    {"name": "End", "value": "30 April 2036", "quote": "This lease ends on 30 April 2036.", "page": 2},
]
SUGGESTION = {"file_type": "lease", "category": "tenancy", "folder": "Leases", "level": "client"}


def stored(
    user: User, name: str = "lease.pdf", pages: Sequence[Sequence[str]] = PAGES, **values: object
) -> Document:
    """Store a PDF, and what reading it would have found."""
    data = files.pdf(pages, title=name)
    document = take_in(user_id=user.pk, name=name, data=data, destination=destination_of(user_id=user.pk))
    found = {"state": DocumentState.FILED, "content_type": PDF, "page_count": 2, "key_facts": FACTS}
    Document.unscoped.filter(pk=document.pk).update(**{**found, **SUGGESTION, **values})
    text = "\f".join("\n".join(lines) for lines in pages)
    DocumentText.unscoped.update_or_create(document=document, defaults={"text": text})
    return document


async def is_in_view(mark: Locator, inside: Locator) -> bool:
    """Return whether a mark stands in the part of the viewer that is visible."""
    inner, outer = await mark.bounding_box(), await inside.bounding_box()
    assert inner is not None
    assert outer is not None
    is_beside = outer["x"] <= inner["x"] and inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1
    return is_beside and outer["y"] <= inner["y"] <= outer["y"] + outer["height"] - inner["height"]


def faults_of(watcher: Watcher) -> list[str]:
    """Return the faults without what htmx writes of a request that another one replaced."""
    aborted = ("console error: htmx:afterRequest", "console error: htmx:sendAbort")
    return [fault for fault in watcher.faults if not fault.startswith(aborted)]


async def shown(page: Page, number: int) -> Locator:
    """Wait until a page is shown as an image with a mark; return the mark."""
    viewer = page.locator("#viewer")
    await expect(viewer).to_contain_text(f"Page {number} of 2")
    image = viewer.get_by_role("img")
    await expect(image).to_have_js_property("complete", value=True)
    assert await image.evaluate("image => image.naturalWidth") > 1_000
    mark = viewer.locator("rect")
    await expect(mark).to_have_count(1)
    await expect(page.locator("#viewer-status")).to_have_text(f"The sentence is marked on page {number}.")
    return mark


async def test_a_fact_leads_to_its_marked_sentence_and_the_page_stays(
    page: Page, user: User, watcher: Watcher
) -> None:
    document = await in_database(stored, user)
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.goto(f"/library/documents/{document.pk}/")
    viewer, scroller = page.locator("#viewer"), page.locator("#viewer-scroll")
    await expect(viewer).to_contain_text("Page 1 of 2")  # it loads by itself
    await page.get_by_role("link", name="This lease ends").click()
    mark = await shown(page, 2)
    assert await is_in_view(mark, scroller)
    assert page.url.endswith(f"/library/documents/{document.pk}/")
    for _ in range(2):
        await page.get_by_role("button", name="Zoom in").click()
    assert await is_in_view(mark, scroller)
    assert await scroller.evaluate("one => one.scrollWidth > 2 * one.clientWidth")
    await scroller.evaluate("one => one.scrollTo(0, 0)")
    await page.get_by_role("button", name="Zoom out").click()
    assert not await is_in_view(mark, scroller), "zooming doesn't lead back to the mark"
    assert await serious_findings(page) == []
    await page.get_by_role("link", name="Previous page").click()
    await expect(viewer).to_contain_text("Page 1 of 2")
    await page.goto(f"/library/documents/{document.pk}/?fact={fact_key(FACTS[1])}#viewer")
    await expect(viewer.locator("rect")).to_have_count(1)
    await page.goto(f"/library/documents/{document.pk}/#page-2")
    await page.reload()
    await expect(viewer).to_contain_text("Page 2 of 2")
    assert await page.locator("body").get_attribute("aria-current") is None
    assert await layout_faults(page) == []
    assert faults_of(watcher) == []


async def test_by_keyboard_alone_a_fact_leads_to_its_sentence_and_escape_back(page: Page, user: User) -> None:
    document = await in_database(stored, user)
    await page.goto(f"/library/documents/{document.pk}/")
    await expect(page.locator("#viewer")).to_contain_text("Page 1 of 2")
    fact = page.get_by_role("link", name="This lease ends")
    while not await fact.evaluate("one => one === document.activeElement"):
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    mark = await shown(page, 2)
    scroller = page.locator("#viewer-scroll")
    await expect(scroller).to_be_focused()
    before = await scroller.evaluate("one => one.scrollWidth")
    await page.keyboard.press("+")
    assert await scroller.evaluate("one => one.scrollWidth") > before
    assert await is_in_view(mark, scroller)
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Shift+Tab")
    await expect(page.get_by_role("link", name="Previous page")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("#viewer")).to_contain_text("Page 1 of 2")
    await expect(scroller).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(fact).to_be_focused()


async def test_on_a_phone_the_original_is_a_sheet_that_escape_closes(
    open_context: OpenContext, cookie: str, user: User, watcher: Watcher
) -> None:
    document = await in_database(stored, user)
    phone = await (await open_context(cookie, viewport={"width": 360, "height": 740})).new_page()
    await phone.goto(f"/library/documents/{document.pk}/")
    sheet = phone.get_by_role("dialog", name="lease.pdf")
    await expect(sheet).to_be_hidden()
    fact = phone.get_by_role("link", name="This lease ends")
    await fact.click()
    await expect(sheet).to_be_visible()
    mark = await shown(phone, 2)
    assert await is_in_view(mark, sheet.locator("#viewer-scroll"))
    # A modal dialog announces nothing that is outside of it.
    await expect(sheet.locator("#viewer-status")).to_have_text("The sentence is marked on page 2.")
    await expect(sheet.locator("#toast")).to_have_count(1)
    assert await serious_findings(phone) == []
    await phone.keyboard.press("Escape")
    await expect(sheet).to_be_hidden()
    await expect(fact).to_be_focused()
    await phone.get_by_role("button", name="Show the original").click()
    await expect(sheet).to_contain_text("Page 2 of 2")
    await sheet.get_by_role("button", name="Close").click()
    await expect(sheet).to_be_hidden()
    await expect(phone.locator("body > #toast")).to_have_count(1)
    assert await layout_faults(phone) == []
    assert faults_of(watcher) == []


async def test_ten_documents_are_reviewed_by_keyboard_without_leaving_the_page(
    page: Page, user: User, watcher: Watcher
) -> None:
    def fill() -> list[Document]:
        return [stored(user, f"lease {number}.pdf", state=DocumentState.REVIEW) for number in range(10)]

    documents = await in_database(fill)
    await page.goto("/library/review/")
    findings = await serious_findings(page)
    viewer = page.locator("#viewer")
    for number in range(10):
        name = f"lease {number}.pdf"
        await expect(viewer.get_by_role("heading")).to_have_text(name)
        await expect(viewer).to_contain_text("Page 1 of 2")
        if number == 0:
            await page.locator(f"#review-{documents[0].pk}").focus()
        await expect(page.locator(f"#review-{documents[number].pk}")).to_be_focused()
        if number == 4:
            await page.get_by_text("2 facts that Sage found").first.press("Enter")
            await page.get_by_role("link", name="This lease ends").first.press("Enter")
            await shown(page, 2)
            await page.keyboard.press("Escape")
        accept = page.get_by_role("button", name=f"Accept the suggestion for {name}")
        while not await accept.evaluate("one => one === document.activeElement"):
            await page.keyboard.press("Tab")
        async with page.expect_navigation(url=re.compile("/library/review/")):
            await page.keyboard.press("Enter")
    await expect(page.get_by_text("Nothing to review")).to_be_visible()
    assert await in_database(Document.of(user.pk).filter(state=DocumentState.FILED).count) == 10
    assert findings == []
    assert faults_of(watcher) == []


async def test_a_page_that_cannot_be_shown_says_so_and_the_viewer_is_free_again(
    page: Page, user: User
) -> None:
    document = await in_database(stored, user)
    await page.goto(f"/library/documents/{document.pk}/#page-99")
    viewer, toast = page.locator("#viewer"), page.locator("#toast")
    failed = await toast.get_attribute("data-failed") or ""
    await expect(viewer).to_contain_text(failed)
    await expect(viewer).not_to_contain_text("The page is loading")
    await page.goto(f"/library/documents/{document.pk}/?page=1")
    await expect(viewer.get_by_role("img")).to_be_visible()
    await in_database(delete_document, user_id=user.pk, document_id=document.pk)
    await page.get_by_role("link", name="This lease ends").click()
    await expect(toast).to_have_text(failed)
    await expect(viewer).not_to_have_attribute("aria-busy", "true")


async def test_of_quick_clicks_only_the_last_page_is_waited_for(
    page: Page, user: User, watcher: Watcher
) -> None:
    facts = [
        {"name": f"Fact {number}", "value": "", "quote": f"sentence {number}.", "page": number}
        for number in range(1, 8)
    ]
    pages = [[f"This is sentence {number}."] for number in range(1, 8)]
    document = await in_database(stored, user, pages=pages, key_facts=facts, page_count=7)
    await page.goto(f"/library/documents/{document.pk}/?page=2")
    links = page.locator(".facts .cited")
    await links.evaluate_all("all => all.forEach((one) => one.click())")
    await expect(links.last).to_have_attribute("aria-current", "true")
    await expect(page.locator("#viewer")).to_contain_text("Page 7 of 7")
    await expect(page.locator("#viewer .notice")).to_have_count(0)
    assert faults_of(watcher) == []


async def test_in_a_tab_that_was_signed_out_a_fact_leads_to_the_sign_in(page: Page, user: User) -> None:
    document = await in_database(stored, user)
    await page.goto(f"/library/documents/{document.pk}/")
    await expect(page.locator("#viewer")).to_contain_text("Page 1 of 2")
    await page.context.clear_cookies()
    await page.get_by_role("link", name="This lease ends").click()
    await expect(page).to_have_url(re.compile("/accounts/login/"))


async def test_without_scripts_links_show_the_page(
    open_context: OpenContext, cookie: str, user: User
) -> None:
    document = await in_database(stored, user)
    context = await open_context(cookie, java_script_enabled=False)
    plain = await context.new_page()
    await plain.goto(f"/library/documents/{document.pk}/")
    await plain.get_by_role("link", name="This lease ends").click()
    viewer = plain.locator("#viewer")
    await expect(viewer.get_by_role("img")).to_have_js_property("naturalHeight", 2_000)
    await expect(plain.locator("#page-2 mark")).to_have_text("This lease ends on 30 April 2036.")
    await plain.reload()  # the words of the page are known by now
    await expect(viewer.locator("rect")).to_have_count(1)
    await viewer.get_by_role("link", name="Previous page").click()
    await expect(viewer).to_contain_text("Page 1 of 2")
