"""What no page does at any width: scroll sideways, cut text off, print over other text, run long lines.

Nor are there targets of less than 24 px, and on a laptop header, title and content have one left edge. At the
widths of phones every word is a third longer, as German ones are.
"""

from collections.abc import Sequence
from pathlib import Path

from playwright.async_api import Page

from tests.thoroughness import sample

LAPTOP = (1280, 800)
ZOOMED = (640, 400)
"""A laptop's window at 200 %."""
ALL_SCREENS = ((1920, 1080), LAPTOP, (768, 1024), ZOOMED, (360, 740), (320, 640))
SCREENS = sample(ALL_SCREENS, of_each=2)
NARROW = sample(ALL_SCREENS[2:], of_each=2)
LONG_WORDS_UP_TO = 360
MAX_CHARACTERS = 80
"""Of a line: about 75, and room for a narrow last word."""

_SCRIPT = Path(__file__).with_suffix(".js").read_text()


async def layout_faults(page: Page, screens: Sequence[tuple[int, int]] = SCREENS) -> list[str]:
    """Look at a page at all widths, and return what is wrong with it."""
    before = page.viewport_size
    found: list[str] = []
    for width, height in screens:
        await page.set_viewport_size({"width": width, "height": height})
        is_lengthened = width <= LONG_WORDS_UP_TO
        if is_lengthened:
            await page.evaluate(f"() => {_SCRIPT}.lengthen()")
        most = 10_000 if is_lengthened else MAX_CHARACTERS
        faults: list[str] = await page.evaluate(f"(most) => {_SCRIPT}.faults(most)", most)
        found += [f"{page.url} at {width} px: {fault}" for fault in faults]
        if is_lengthened:
            await page.evaluate(f"() => {_SCRIPT}.shorten()")
    if before:
        await page.set_viewport_size(before)
    return found


async def edge_faults(page: Page) -> list[str]:
    """Look at a page on a laptop, and return where it leaves the one left edge."""
    edges = await edges_of(page)
    header = edges["header"]
    found = {
        "the title": edges["title"] - edges["content"],
        "something in the content": min(0, edges["first"] - edges["content"]),
        "the content": edges["beside"] - header,
        "the footer": edges["foot"] - header,
    }
    return [f"{page.url}: {name} is {by:.1f} px off" for name, by in found.items() if abs(by) > 1]


async def edges_of(page: Page) -> dict[str, float]:
    """Return where header, title and content begin on a laptop, and the content's width, in pixels."""
    before = page.viewport_size
    await page.set_viewport_size({"width": LAPTOP[0], "height": LAPTOP[1]})
    edges: dict[str, float] = await page.evaluate(f"() => {_SCRIPT}.edges()")
    if before:
        await page.set_viewport_size(before)
    return edges
