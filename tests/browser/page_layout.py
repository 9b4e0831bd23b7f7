"""What no page does at any width: scroll sideways, cut text off, print over other text, run long lines.

At the widths of phones every word is a third longer, as German ones are.
"""

from collections.abc import Sequence
from pathlib import Path

from playwright.async_api import Page

from tests.thoroughness import sample

ALL_SCREENS = ((1920, 1080), (1440, 900), (768, 1024), (360, 740), (320, 640))
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
