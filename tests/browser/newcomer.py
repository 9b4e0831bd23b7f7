"""Somebody new who looks at each page they come to, and the connection that they lose on the way."""

from pathlib import Path

from playwright.async_api import Page, expect

from tests.browser.test_arcs import Walker
from tests.faults.proxy import Proxy

NOWHERE = 1
"""A port where nobody listens."""

PLAIN = """() => {
    const ground = getComputedStyle(document.documentElement).backgroundColor;
    const moves = [];
    for (const node of document.querySelectorAll("*")) {
        for (const part of ["", "::before", "::after"]) {
            const style = getComputedStyle(node, part);
            for (const time of `${style.animationDuration}, ${style.transitionDuration}`.split(", ")) {
                const unit = time.endsWith("ms") ? 1 : 1000;
                if (parseFloat(time) * unit > 5) moves.push(node.outerHTML.slice(0, 80));
            }
        }
    }
    const { scrollWidth } = document.documentElement;
    return { lightness: parseFloat(ground.replace("oklch(", "")), moves, isWide: scrollWidth > innerWidth };
}"""


class Connection:
    """The way to Sage, which can be cut."""

    def __init__(self, port: int) -> None:
        self.is_cut = False
        self.proxy = Proxy(lambda: NOWHERE if self.is_cut else port)

    def cut(self) -> None:
        """Lose what is open and refuse what is new."""
        self.is_cut = True
        self.proxy.lose("reset")


class Newcomer(Walker):
    """A new person with eyes: each step is looked at, and kept as a picture where that was asked for."""

    def __init__(self, page: Page, *, scheme: str, folder: Path | None) -> None:
        super().__init__(page)
        self._scheme = scheme
        self._folder = folder
        self._looks = 0

    async def look(self, step: str, *, is_whole: bool = False) -> None:
        """Check what holds on every page; keep a picture."""
        found = await self.page.evaluate(PLAIN)
        assert (found["lightness"] < 0.5) == (self._scheme == "dark"), step
        assert found["moves"] == [], f"{step}: motion, though it is unwanted"
        assert not found["isWide"], f"{step} is wider than the screen"
        self._looks += 1
        if self._folder:
            name = f"{self._looks:02}-{step}.png"
            if is_whole:
                await self.page.evaluate("() => scrollTo(0, 0)")
            await self.page.screenshot(path=self._folder / name, full_page=is_whole)

    async def say(self, text: str) -> None:
        """Send by the button: on a phone Enter starts a new line."""
        self.steps += await self.page.locator(".call.is-pending").count()
        await self.send(text)
        await self._until_heard()

    async def send(self, text: str) -> None:
        """Write a message and send it."""
        await self.page.locator("#composer-text").fill(text)
        await self.page.get_by_role("button", name="Send", exact=True).click()

    async def tap(self, value: str) -> None:
        """Look at a question before it is answered."""
        if value == "good":
            await self.look("question")
        await super().tap(value)

    async def rate(self, **ratings: int) -> None:
        """Look at the scales before they are filled in."""
        await self.look("ratings")
        await super().rate(**ratings)

    async def follow(self, name: str) -> None:
        """Go to one of the main pages by its link, which is in a menu on phones."""
        if await self.page.get_by_role("banner").get_by_label("Pages").first.is_visible():
            await self.page.get_by_role("banner").get_by_label("Pages").first.click()
        await self.page.get_by_role("banner").get_by_role("link", name=name, exact=True).click()

    async def open_list(self) -> None:
        """Show the list of conversations: it is there on wide screens."""
        toggle = self.page.locator("#sidebar-toggle")
        await expect(self.page.locator("#chat")).to_have_attribute("data-phase", "idle")
        if await toggle.get_attribute("aria-expanded") == "false":
            await toggle.click()
        await expect(self.page.locator(".sidebar-row").first).to_be_visible()
