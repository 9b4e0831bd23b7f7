"""Who fetches the feeds. That takes a third of a second to load, so the first feed of a process loads it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from django.utils.module_loading import import_string
from yarl import URL


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What a feed's server answered. `body` is None where nothing has changed since the last time.

    `etag` and `last_modified` are to be given back the next time.
    """

    body: bytes | None
    etag: str
    last_modified: str


class Fetcher(Protocol):
    """Fetches feeds; the real one is `fetch.FeedFetcher`."""

    async def fetch(self, url: URL, *, etag: str = "", last_modified: str = "") -> Fetched:
        """Fetch a feed. Raises `Refused` with a sentence."""
        ...


_fetcher: Fetcher | None = None


def get_fetcher() -> Fetcher:
    """Return what fetches this process's feeds."""
    global _fetcher  # noqa: PLW0603
    if _fetcher is None:
        made: Fetcher = import_string("coaching.calendar.fetch.FeedFetcher")()
        _fetcher = made
    return _fetcher


@contextmanager
def use_fetcher(fetcher: Fetcher) -> Iterator[None]:
    """Let this process fetch its feeds with another fetcher for a while."""
    global _fetcher  # noqa: PLW0603
    before, _fetcher = _fetcher, fetcher
    try:
        yield
    finally:
        _fetcher = before
