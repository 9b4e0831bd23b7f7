"""All pages of a full life: one left edge, two widths, targets of 24 px, and nothing cut when zoomed."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.async_api import Page

from coaching.models import ActionItem, Client, ClientType, Document, KnowledgeEntry, Project, PulseRating
from sessions_app.database import in_database
from sessions_app.models import Message, Session, Turn, TurnStatus
from tests.browser.fixtures import OpenContext
from tests.browser.page_layout import LAPTOP, ZOOMED, edge_faults, edges_of, layout_faults
from tests.browser.pictured_life import live
from tests.browser.test_accessibility import OWN_PAGES, PUBLIC_PAGES
from tests.browser.test_conversation import LONG
from tests.browser.test_viewer import stored
from tests.life.conftest import KeepFile, keep_file
from tests.sockets.tenant_library import fill_library
from tests.thoroughness import sample

__all__ = ["keep_file"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SCREENS = (LAPTOP, (768, 1024), ZOOMED, (320, 640))
WIDTHS = {43 * 16, 64 * 16}
"""To read, and with something beside it."""
LONG_NAME = "Betriebskostenabrechnung der Hausverwaltungsgesellschaft"


def fill(user: User, keep_file: KeepFile) -> None:
    """Store weeks of days, a library, two parts of life without a rating, and a conversation."""
    live(user, keep_file)
    PulseRating.of(user.pk).filter(domain__in=("play", "finances")).delete()
    fill_library(user, LONG_NAME)
    stored(user)
    session = Session.of(user.pk).order_by("-last_active_at")[0]
    turn = Turn.unscoped.create(session=session, status=TurnStatus.COMPLETED, ended_at=timezone.now())
    for number, (role, words) in enumerate((("user", LONG_NAME), ("assistant", LONG)), start=1):
        Message.unscoped.create(session=session, turn=turn, number=number, role=role, content=words)


def addresses_of(user: User) -> Iterator[str]:
    """Yield the addresses of a person's pages that have something to show, in the order of the map."""
    today = timezone.now().date()
    yield from OWN_PAGES
    yield from ("/search/?q=piano", "/files/?select=1", "/files/?q=piano", "/files/deleted/", "/files/new/")
    yield from ("/files/?folder=daily-logs", "/files/?folder=daily-logs&select=1")
    yield from (f"/journal/{today - timedelta(days=2)}/", f"/journal/week/{today - timedelta(days=7)}/")
    yield from (f"/chat/{session.pk}/" for session in Session.of(user.pk).order_by("-last_active_at")[:2])
    yield from ("/library/", "/library/review/", "/library/knowledge/", "/library/actions/")
    yield f"/library/clients/{Client.of(user.pk).exclude(client_type=ClientType.SELF).get().pk}/"
    yield f"/library/projects/{Project.of(user.pk).get().pk}/"
    yield from (f"/library/documents/{document.pk}/" for document in Document.of(user.pk))
    yield from (f"/library/knowledge/{entry.pk}/" for entry in KnowledgeEntry.of(user.pk))
    yield from (f"/library/actions/{step.pk}/" for step in ActionItem.of(user.pk))


async def test_pages_share_one_left_edge_two_widths_and_room_for_a_finger(
    page: Page, user: User, keep_file: KeepFile
) -> None:
    await in_database(fill, user, keep_file)
    addresses = await in_database(lambda: list(addresses_of(user)))
    findings: list[str] = []
    widths: set[int] = set()
    for address in sample(addresses, of_each=3):
        await page.goto(address)
        findings += [*await edge_faults(page), *await layout_faults(page, SCREENS)]
        widths.add(round((await edges_of(page))["width"]))
    assert not findings, "\n".join(findings)
    assert widths <= WIDTHS


async def test_pages_of_nobody_have_the_same_edge(open_context: OpenContext) -> None:
    page = await (await open_context()).new_page()
    findings: list[str] = []
    for address in PUBLIC_PAGES:
        await page.goto(address)
        findings += [*await edge_faults(page), *await layout_faults(page, SCREENS)]
    assert not findings, "\n".join(findings)


async def test_the_files_of_a_life_are_a_page_of_folders_and_no_endless_list(
    page: Page, user: User, keep_file: KeepFile
) -> None:
    await in_database(fill, user, keep_file)
    await page.set_viewport_size({"width": LAPTOP[0], "height": LAPTOP[1]})
    await page.goto("/files/")
    assert await page.evaluate("() => document.documentElement.scrollHeight") < 2_400
