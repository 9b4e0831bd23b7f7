"""By Tab alone: what can be used is reached, in view, and shows that it has the focus."""

from pathlib import Path

from playwright.async_api import Page

MAX_STEPS = 400
_SCRIPT = Path(__file__).with_suffix(".js").read_text()


async def tab_faults(page: Page) -> list[str]:
    """Press Tab until everything had its turn; return what wasn't reached, or couldn't be seen."""
    await page.evaluate(f"() => {_SCRIPT}.begin()")
    for _ in range(MAX_STEPS):
        await page.keyboard.press("Tab")
        if await page.evaluate(f"() => {_SCRIPT}.step()"):
            break
    faults: list[str] = await page.evaluate(f"() => {_SCRIPT}.end()")
    return [f"{page.url}: {fault}" for fault in faults]
