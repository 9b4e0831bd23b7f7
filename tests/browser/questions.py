"""Questions that the practice model asks, and what the database has of them."""

from playwright.async_api import Page, expect

from coaching.practice.script import ToolUse
from sessions_app.database import in_database
from sessions_app.models import Session, ToolCallRecord
from tests.browser.chat_page import messages_markup

PILLS = ToolUse(
    "show_options",
    {
        "prompt": "How did you wake?",
        "options": [{"label": "Fine"}, {"label": "Not <so> good", "value": "low"}],
    },
    id="toolu_pills",
)

PULSE = ToolUse(
    "show_pulse_check", {"context": "How do these feel?", "domains": ["career", "health"]}, id="toolu_pulse"
)


def save(domain: str) -> ToolUse:
    return ToolUse("save_file", {"file_type": "domain", "file_name": domain, "content": f"About {domain}."})


async def states(session: Session) -> list[str]:
    calls = ToolCallRecord.unscoped.filter(turn__session=session).order_by("created_at", "position")
    return await in_database(lambda: list(calls.values_list("state", flat=True)))


async def assert_a_reload_shows_the_same(page: Page) -> None:
    streamed = await messages_markup(page)
    await page.reload()
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
    assert await messages_markup(page) == streamed
