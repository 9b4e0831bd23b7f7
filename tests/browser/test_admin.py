"""Every page of the admin in a browser: no error, nothing the policy stops, no other host, no cut list."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models import Model
from django.test import RequestFactory
from django.urls import reverse
from playwright.async_api import ViewportSize, expect
from simple_history.admin import SimpleHistoryAdmin

from coaching.job_queue.names import IMPORT_JOB
from coaching.job_queue.queue import enqueue
from coaching.models import Profile, Skill
from coaching.people.help_lines import sync_help_lines
from sessions_app.database import in_database
from sessions_app.models import Message, Session
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.test_accessibility import serious_findings
from tests.browsers import browser_of
from tests.jobs.conftest import empty_queue
from tests.personal_data.life import live

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LAPTOP = ViewportSize(width=1440, height=900)
CUT_OFF = """() => {
    const { scrollWidth } = document.documentElement;
    const list = document.querySelector("#changelist .results");
    return Math.max(scrollWidth - innerWidth, list ? list.scrollWidth - list.clientWidth : 0);
}"""
LISTS = {"changelist", "sums"}
OF_A_ROW = {"change", "history", "words", "prompt", "password_change"}
OTHERS = {"add", "simple_history", "delete", "preview", "return"}
"""Walked where they are offered, or answers to a form."""


@pytest.fixture
def operator(user: User) -> Iterator[User]:
    """An operator of a Sage in which somebody has a row of every kind."""
    empty_queue()
    live(user, "word")
    Profile.of(user.pk).update(timezone="Europe/Lisbon")
    Session.of(user.pk).update(opening="", metadata={})
    Message.of(user.pk).update(metadata={})
    call_command("sync_skills", verbosity=0)
    sync_help_lines()
    enqueue(IMPORT_JOB, key="import:0", import_id=0)
    yield User.objects.create_superuser("olga", "olga@example.org", "x")
    empty_queue()


def pages_of(pages: "admin.ModelAdmin[Model]", operator: User) -> Iterator[str]:
    """Yield the addresses of a model's pages, those of a row with the newest one."""
    request = RequestFactory().get("/admin/")
    request.user = operator
    row = pages.get_queryset(request).order_by("-pk").first()
    for pattern in pages.get_urls():
        if not pattern.name:
            continue  # Django's old addresses
        name = pattern.name.removeprefix(f"{pages.opts.app_label}_{pages.opts.model_name}_")
        assert name in LISTS | OF_A_ROW | OTHERS, pattern.name
        if name in LISTS or (name == "add" and pages.has_add_permission(request)):
            yield reverse(f"admin:{pattern.name}")
        elif name == "history" and not isinstance(pages, SimpleHistoryAdmin):
            continue  # Django's own, the same for all
        elif name in OF_A_ROW and row is not None:
            yield reverse(f"admin:{pattern.name}", args=[row.pk])
        elif name == "simple_history" and row is not None:
            state: Any = row
            yield reverse(f"admin:{pattern.name}", args=[row.pk, state.history.first().pk])


def addresses_for(operator: User) -> list[str]:
    sites = admin.site._registry.values()
    return ["/admin/", *(address for pages in sites for address in pages_of(pages, operator))]


async def test_no_page_of_the_admin_has_an_error(
    open_context: OpenContext, watcher: Watcher, user: User, operator: User
) -> None:
    client = await in_database(browser_of, operator)
    context = await open_context(client.cookies["sessionid"].value)
    page = await context.new_page()
    await page.set_viewport_size(LAPTOP)
    addresses = await in_database(addresses_for, operator)
    assert len(addresses) > 50
    faulty = []
    for address in addresses:
        response = await page.goto(address)
        if response is None or response.status != HTTPStatus.OK or watcher.faults:
            faulty.append((address, *watcher.faults))
            watcher.faults.clear()
        elif cut := await page.evaluate(CUT_OFF):
            faulty.append((address, f"{cut} px are cut off"))
    assert faulty == []
    session = await in_database(Session.of(user.pk).get)
    for address in ("/admin/", f"/admin/sessions_app/session/{session.pk}/words/"):
        await page.goto(address)
        assert await serious_findings(page) == []

    # A skill's preview is a button beside Save, and saves nothing.
    skill = await in_database(Skill.objects.get, name="open-day")
    await page.goto(f"/admin/coaching/skill/{skill.pk}/change/")
    row = page.locator(".submit-row").filter(has=page.get_by_role("button", name="Save", exact=True))
    await page.get_by_label("Text of your own").fill(f"{skill.text}\nAsk about the weather.")
    await row.get_by_role("button", name="Preview").click()
    await expect(page.get_by_text("It isn’t saved yet.")).to_be_visible()
    await expect(page.locator(".rendered")).to_contain_text("Ask about the weather.")
    assert watcher.faults == []
