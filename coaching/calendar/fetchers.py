"""The process's feed fetcher. Importing it takes a third of a second, so that is left to the first feed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from django.utils.module_loading import import_string
from yarl import URL


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A feed's response. `body` is None if unchanged; send the other two with the next request."""

    body: bytes | None
    etag: str
    last_modified: str


class Fetcher(Protocol):
    """Fetches feeds; the real one is `fetch.FeedFetcher`."""

    async def fetch(self, url: URL, *, etag: str = "", last_modified: str = "") -> Fetched:
        """Fetch a feed. Raises `Refused` with a message."""
        ...


_fetcher: Fetcher | None = None


def get_fetcher() -> Fetcher:
    """Return this process's fetcher."""
    global _fetcher  # noqa: PLW0603 - one for the process
    if _fetcher is None:
        made: Fetcher = import_string("coaching.calendar.fetch.FeedFetcher")()
        _fetcher = made
    return _fetcher


@contextmanager
def use_fetcher(fetcher: Fetcher) -> Iterator[None]:
    """Use another fetcher in this process for the duration of a block."""
    global _fetcher  # noqa: PLW0603 - one for the process
    before, _fetcher = _fetcher, fetcher
    try:
        yield
    finally:
        _fetcher = before
