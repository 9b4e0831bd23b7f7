"""A program connects: the official client registers, a person consents in Chromium."""

from typing import Literal

import pytest
from allauth.idp.oidc.models import Token
from django.contrib.auth.models import User
from django.utils import timezone
from mcp.types import TextContent
from playwright.async_api import Page, expect

from coaching.programs.clients import register
from coaching.programs.grants import grants_of
from sessions_app.database import in_database
from tests.browser.fixtures import Watcher
from tests.browser.oauth_client import REDIRECT, Kept, Person, connected
from tests.browser.test_accessibility import serious_findings
from tests.browsers import confirmed_browser_of
from tests.live_sage import LiveSage
from tests.mcp.lives import fill

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def cookie(user: User) -> str:
    """A session whose person has just given their password, which a consent asks for."""
    return confirmed_browser_of(user).cookies["sessionid"].value


async def test_a_program_registers_gets_consent_and_reads(
    live_sage: LiveSage, page: Page, user: User, watcher: Watcher
) -> None:
    await in_database(fill, user, "quartz")
    person, kept = Person(page, "Allow"), Kept()
    async with connected(live_sage, person, kept) as (client, _auth):
        read = await client.call_tool("read_file", {"path": "life-map/career.md"})
        assert isinstance(read.content[0], TextContent)
        assert "quartz" in read.content[0].text
        first = kept.tokens
        assert first is not None
        assert first.refresh_token
        (grant,) = await in_database(grants_of, user.pk, now=timezone.now())
        assert (grant.name, list(grant.hosts)) == ("Test program", ["localhost:9"])
    assert not [fault for fault in watcher.faults if REDIRECT not in fault and "ERR_" not in fault]


async def test_a_person_who_says_no_gives_nothing(live_sage: LiveSage, page: Page, user: User) -> None:
    person, kept = Person(page, "Cancel"), Kept()
    with pytest.raises(BaseExceptionGroup):
        async with connected(live_sage, person, kept):
            pass
    assert "error=access_denied" in await person.address
    assert not await in_database(Token.objects.exists)


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1280)])
async def test_the_page_of_consent_is_readable(
    live_sage: LiveSage, page: Page, watcher: Watcher, scheme: Literal["light", "dark"], width: int
) -> None:
    name = "W" * 60 if width < 400 else "A program with a long name that goes on and on to its end"
    client_id = (await in_database(register, name=name, redirects=[REDIRECT], now=timezone.now())).id
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": width, "height": 800})
    query = (
        f"client_id={client_id}&redirect_uri={REDIRECT}&response_type=code&scope=capture+read+write&state=s"
        f"&code_challenge={'a' * 43}&code_challenge_method=S256&resource={live_sage.origin}/mcp"
    )
    await page.goto(f"{live_sage.origin}/oauth/authorize?{query}")
    await expect(page.get_by_text("Not verified")).to_be_visible()
    await expect(page.get_by_text("localhost:9", exact=True)).to_be_visible()
    await expect(page.get_by_label("Add captures")).to_be_checked()
    assert await serious_findings(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.get_by_role("button", name="Allow").focus()
    await page.goto(f"{live_sage.origin}/oauth/authorize?client_id=nobody")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("This program can’t be connected")
    assert await serious_findings(page) == []
    assert not [fault for fault in watcher.faults if "400" not in fault]
