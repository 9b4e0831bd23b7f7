"""Draws the app's icons from `static/img/favicon.svg`: `python -m tests.browser.app_icons CHROMIUM`.

Browsers that install an app want PNG files. They are committed, because drawing them takes a browser.
"""

import re
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).resolve().parents[2] / "static" / "img"
SAFE = 0.78
"""A maskable icon may be cut to a circle of four fifths of its width."""


def main(chromium: str) -> None:
    """Write all icons, with the browser at that path."""
    drawing = (IMAGES / "favicon.svg").read_text()
    square = re.sub(r'rx="\d+"', 'rx="0"', drawing)
    inside = re.search(r"<g .*</g>", drawing, re.DOTALL)
    assert inside is not None
    moved = f'<g transform="translate(16 16) scale({SAFE}) translate(-16 -16)">{inside[0]}</g>'
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        _draw(browser, drawing, "icon-192.png", 192)
        _draw(browser, drawing, "icon-512.png", 512)
        _draw(browser, square.replace(inside[0], moved), "icon-maskable-512.png", 512)
        _draw(browser, square, "apple-touch-icon.png", 180)
        # Android shows only its shape.
        badge = re.sub(r"<rect [^>]*/>", "", drawing).replace("#f6f2e6", "#ffffff")
        _draw(browser, badge, "badge-96.png", 96)
        browser.close()


def _draw(browser: Browser, drawing: str, name: str, size: int) -> None:
    page = browser.new_page(viewport={"width": size, "height": size})
    style = f"<style>* {{ margin: 0 }} svg {{ display: block; width: {size}px; height: {size}px }}</style>"
    page.set_content(style + drawing)
    page.screenshot(path=IMAGES / "app" / name, omit_background=True)
    page.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
