"""Browser contexts that serve one test after another: a new one loads all files again.

A test gets its context as if it were new, without pages, cookies, storage and permissions. The files that it
finds in the cache have names that carry a hash of their content.
"""

from dataclasses import dataclass

from playwright.async_api import Browser, BrowserContext, CDPSession, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class Reusable:
    """A context, with an empty page that stays open to reach its storage."""

    context: BrowserContext
    origin: str
    kept_page: Page
    storage: CDPSession

    async def empty(self) -> None:
        """Remove what a test left behind."""
        for page in self.context.pages:
            if page is not self.kept_page:
                await page.close()
        await self.context.set_offline(False)
        await self.context.unroute_all()
        await self.context.clear_permissions()
        await self.context.clear_cookies()
        types = "local_storage,indexeddb,cache_storage,service_workers"
        await self.storage.send("Storage.clearDataForOrigin", {"origin": self.origin, "storageTypes": types})


class Contexts:
    """The contexts of a browser with the usual options."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: list[Reusable] = []

    async def take(self, origin: str, **options: object) -> Reusable:
        """Return a context for pages of this origin."""
        while self._free:
            found = self._free.pop()
            if found.origin == origin:
                return found
            await found.context.close()
        context = await self._browser.new_context(base_url=origin, **options)  # type: ignore[arg-type]  # options of any type
        page = await context.new_page()
        storage = await context.new_cdp_session(page)
        return Reusable(context=context, origin=origin, kept_page=page, storage=storage)

    async def give_back(self, used: Reusable) -> None:
        """Keep a context for the next test."""
        await used.empty()
        self._free.append(used)
