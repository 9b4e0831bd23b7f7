"""Prints how long the first page of each long list takes, and how large it is.

One person with 5,000 conversations of 30 messages, files, captures, documents, knowledge entries and action
items each. One web process on the first core, PostgreSQL and the client on the last.
"""

import argparse
import http.client
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.bench.relay.machine import Machine, Server
from tests.bench.relay.product import Person, open_product
from tests.printing import say

ROWS = 5_000
REQUESTS = 22  # the first two of a page don't count
LIMIT_MS = 100
LIMIT_KB = 150
PAGES = (
    "/",
    "/chat/",
    "/chat/sidebar/",
    "/files/",
    "/capture/",
    "/capture/folded/",
    "/journal/",
    "/library/",
    "/library/review/",
    "/library/knowledge/",
    "/library/actions/",
    "/settings/usage/",
)

PARTS = {"/chat/sidebar/"}
"""What a page loads into itself."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A page's time until its last byte, in milliseconds, and its size in KB without compression."""

    path: str
    status: int
    median_ms: float
    longest_ms: float
    size_kb: float

    @property
    def is_met(self) -> bool:
        """Whether the page is quick and small enough."""
        return self.status == 200 and self.median_ms <= LIMIT_MS and self.size_kb <= LIMIT_KB


def main() -> int:
    """Measure, print the table, and return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.lists", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help=f"rows of each list ({ROWS:,})")
    rows = parser.parse_args().rows
    say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {rows:,} rows of each list")
    with tempfile.TemporaryDirectory(prefix="sage-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with (
            Machine(folder) as machine,
            open_product(folder, upstream_port=9, users=1, sessions=rows, files=rows) as product,
        ):
            product.run("tests.bench.lists.seed", str(rows))
            web = product.start_web(machine)
            found = [_measure(web, product.rich, path) for path in PAGES]
    say(f"\n| first page | median ms | longest ms | KB | ≤ {LIMIT_MS} ms and ≤ {LIMIT_KB} KB |")
    say("|---|---|---|---|---|")
    for page in found:
        times = f"{page.median_ms:.0f} | {page.longest_ms:.0f}"
        met = "yes" if page.is_met else f"no ({page.status})"
        say(f"| `{page.path}` | {times} | {page.size_kb:.0f} | {met} |")
    return 0 if all(page.is_met for page in found) else 1


def _measure(web: Server, person: Person, path: str) -> Measured:
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=60)
    headers = {"Cookie": person.cookie} | ({"HX-Request": "true"} if path in PARTS else {})
    times = []
    status, size = 0, 0
    for number in range(REQUESTS):
        began = time.perf_counter()
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        size = len(response.read())
        if number > 1:
            times.append((time.perf_counter() - began) * 1000)
        status = response.status
    connection.close()
    return Measured(path, status, statistics.median(times), max(times), size / 1000)


if __name__ == "__main__":
    sys.exit(main())
