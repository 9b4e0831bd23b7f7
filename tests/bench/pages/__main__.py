"""Opens pages in Chromium as somebody does who has never been there, and watches a long answer.

One person, an installation of its own in a temporary folder, one web process. Nothing is in the cache.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from tests.bench.relay.browser import ARGUMENTS, CHROMIUM
from tests.bench.relay.machine import Machine, free_port
from tests.bench.relay.product import Person, open_product
from tests.printing import say

SLOW = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
"""Of `Network.emulateNetworkConditions`: milliseconds, bytes a second."""
REST_MS = 2_000
STREAM_PIECES, STREAM_RATE = 2_000, 50
"""An answer of 40 seconds, with headings, lists, tables and code."""
MOST_REQUESTS, MOST_KB, MOST_PAINT_MS, LONGEST_TASK_MS, MOST_LONG_TASKS = 14, 260, 2_000, 100, 3
WAIT_MS = 120_000

_OBSERVE = """
window.benchSeen = {paint: 0, shift: 0, tasks: []};
const observe = (type, take) => {
  new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({type, buffered: true});
};
observe("largest-contentful-paint", (entry) => (benchSeen.paint = entry.startTime));
observe("layout-shift", (entry) => entry.hadRecentInput || (benchSeen.shift += entry.value));
observe("longtask", ({startTime, duration}) => benchSeen.tasks.push([startTime, duration].map(Math.round)));
"""
_ENDED = """count => !document.querySelector(".turn.is-open")
  && document.querySelector("#chat").dataset.phase === "idle"
  && document.querySelectorAll("#messages > .turn").length > count"""


@dataclass(slots=True)
class Loaded:
    """What a page loaded until it was at rest, and when its largest text or picture was shown."""

    files: list[tuple[str, int]] = field(default_factory=list)
    paint_ms: float = 0.0
    shift: float = 0.0

    @property
    def kilobytes(self) -> float:
        return sum(size for _, size in self.files) / 1000


@dataclass(frozen=True, slots=True)
class Field:
    """A browser, somebody who is signed in, and how their pages are measured."""

    browser: Browser
    person: Person
    origin: str
    repeats: int
    lists_files: bool

    @property
    def chat(self) -> str:
        return f"{self.origin}/chat/{self.person.sessions[0]}/"


async def measure_chat(field_: Field) -> bool:
    """The weight of the chat page."""
    loaded = await _load(field_, field_.chat)
    for name, size in loaded.files if field_.lists_files else ():
        say(f"    {size:>8} {name}")
    return all(
        [
            _row("chat page, requests", len(loaded.files), MOST_REQUESTS),
            _row("chat page, KB", round(loaded.kilobytes), MOST_KB),
        ]
    )


async def measure_home(field_: Field) -> bool:
    """The home page on a slow line, of a server that has answered before."""
    await _load(field_, f"{field_.origin}/")
    slow = [await _load(field_, f"{field_.origin}/", is_slow=True) for _ in range(field_.repeats)]
    paints = [round(each.paint_ms) for each in slow]
    shift = max(each.shift for each in slow)
    count = len(slow[0].files)
    say(f"    {slow[0].kilobytes:.0f} KB, {count} requests, {paints} ms, layout shift {shift:.4f}")
    return _row(
        "home at 50 KB/s and 400 ms, largest paint, ms", round(statistics.median(paints)), MOST_PAINT_MS
    )


async def measure_stream(field_: Field) -> bool:
    """Long tasks while an answer is written."""
    results = []
    for _ in range(field_.repeats):
        tasks = await _stream(field_)
        say(f"    (began at, took) ms: {tasks}")
        lengths = [length for _, length in tasks]
        results.append(_row("40 s of an answer, longest task, ms", max(lengths, default=0), LONGEST_TASK_MS))
        results.append(_row("40 s of an answer, tasks over 50 ms", len(lengths), MOST_LONG_TASKS))
    return all(results)


MEASURES = {"chat": measure_chat, "home": measure_home, "stream": measure_stream}


async def main(arguments: argparse.Namespace, *, port: int, person: Person) -> bool:
    """Measure and print; return whether all limits are kept."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS, env=dict(os.environ)
        )
        origin = f"http://localhost:{port}"
        field_ = Field(browser, person, origin, arguments.repeats, arguments.files)
        results = [await MEASURES[name](field_) for name in arguments.rows]
        await browser.close()
    return all(results)


async def _open(field_: Field) -> tuple[BrowserContext, Page]:
    context = await field_.browser.new_context(viewport={"width": 1280, "height": 900})
    name, _, value = field_.person.cookie.partition("=")
    await context.add_cookies([{"name": name, "value": value, "url": field_.origin}])
    page = await context.new_page()
    page.set_default_timeout(WAIT_MS)
    await page.add_init_script(_OBSERVE)
    return context, page


async def _load(field_: Field, url: str, *, is_slow: bool = False) -> Loaded:
    context, page = await _open(field_)
    network = await context.new_cdp_session(page)
    loaded, names = Loaded(), dict[str, str]()

    def note(request: dict[str, Any]) -> None:
        names[request["requestId"]] = request["request"]["url"]

    def count(ended: dict[str, Any]) -> None:
        if names.get(ended["requestId"], "").startswith("http"):
            loaded.files.append((names[ended["requestId"]], int(ended["encodedDataLength"])))

    network.on("Network.requestWillBeSent", note)
    network.on("Network.loadingFinished", count)
    await network.send("Network.enable")
    if is_slow:
        await network.send("Network.emulateNetworkConditions", SLOW)
    await page.goto(url, wait_until="load")
    await page.wait_for_timeout(REST_MS)
    seen = await page.evaluate("benchSeen")
    loaded.paint_ms, loaded.shift = seen["paint"], seen["shift"]
    await context.close()
    return loaded


async def _stream(field_: Field) -> list[tuple[int, int]]:
    """Return the long tasks while an answer is written: when each began, and how long it took, in ms."""
    context, page = await _open(field_)
    await page.goto(field_.chat)
    await page.fill("#composer-text", f"Please measure. bench:{STREAM_RATE}:formatted{STREAM_PIECES}")
    await page.wait_for_timeout(REST_MS)
    answers = await page.locator("#messages > .turn").count()
    began = await page.evaluate("(benchSeen.tasks = [], performance.now())")
    await page.press("#composer-text", "Enter")
    await page.wait_for_function(_ENDED, arg=answers, polling=250)
    await page.wait_for_timeout(REST_MS)
    tasks: list[list[int]] = await page.evaluate("benchSeen.tasks")
    await context.close()
    return [(round(at - began), length) for at, length in tasks]


def _row(name: str, figure: float, most: float) -> bool:
    say(f"{name:48} {figure:>8}   at most {most:>6}   {'yes' if figure <= most else 'NO'}")
    return figure <= most


def run() -> bool:
    """Start an installation, measure, and end it."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pages")
    parser.add_argument("--rows", nargs="*", choices=[*MEASURES], default=[*MEASURES])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--files", action="store_true", help="list what the chat page loads")
    arguments = parser.parse_args()
    if not CHROMIUM:
        sys.exit("This needs Chromium.")
    with tempfile.TemporaryDirectory(prefix="sage-", ignore_cleanup_errors=True) as name:
        folder, upstream = Path(name), free_port()
        with Machine(folder) as machine:
            program = ["-m", "tests.bench.relay.upstream", "--port", str(upstream)]
            machine.start("upstream", program, port=upstream, is_server=False)
            counts = {"users": 1, "sessions": 30, "files": 30, "documents": 30}
            with open_product(folder, upstream_port=upstream, **counts) as product:
                web = product.start_web(machine)
                try:
                    return asyncio.run(main(arguments, port=web.port, person=product.chats[0]))
                finally:
                    machine.end(web)


if __name__ == "__main__":
    sys.exit(not run())
