"""The browser's cost of a streamed answer: CPU, long tasks and layout shift on the real chat page.

The answer has headings, lists, a table, tasks and code. The page is unchanged, in headless Chromium with the
browser's own observers; afterwards it is loaded again and must have the same markup.
"""

import asyncio
import os
import shutil
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Browser, CDPSession, async_playwright

from tests.bench.relay.product import Person

CHROMIUM = next((path for name in ("chromium", "google-chrome") if (path := shutil.which(name))), "")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
WAIT_MS = 30_000

_OBSERVE = """
window.benchSeen = {longest: 0, longTasks: 0, shift: 0};
new PerformanceObserver(list => list.getEntries().forEach(entry => {
  benchSeen.longTasks += 1; benchSeen.longest = Math.max(benchSeen.longest, entry.duration);
})).observe({type: "longtask", buffered: true});
new PerformanceObserver(list => list.getEntries().forEach(entry => {
  if (!entry.hadRecentInput) benchSeen.shift += entry.value;
})).observe({type: "layout-shift", buffered: true});
"""
_FORGET = "Object.assign(benchSeen, {longest: 0, longTasks: 0, shift: 0})"
_ENDED = """count => !document.querySelector(".turn.is-open")
  && document.querySelector("#chat").dataset.phase === "idle"
  && document.querySelectorAll("#messages > .turn").length > count"""
_LAST_ANSWER = "#messages > .turn:last-child .prose"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCost:
    """For one answer: shares of one core, milliseconds, and the layout shift score."""

    seconds: float
    page_cpu_share: float
    browser_cpu_share: float
    longest_task_ms: float
    long_tasks: int
    layout_shift: float
    is_same_after_reload: bool


async def page_cost(person: Person, port: int, *, rate: int) -> PageCost:
    """Ask on the chat page and watch the answer grow. Raises `RuntimeError` without a Chromium."""
    if not CHROMIUM:
        raise RuntimeError("no Chromium on this machine")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS, env=dict(os.environ)
        )
        try:
            async with asyncio.timeout(120):
                return await _measured(browser, person, port, rate=rate)
        finally:
            await browser.close()


async def _measured(browser: Browser, person: Person, port: int, *, rate: int) -> PageCost:
    origin = f"http://localhost:{port}"
    name, _, value = person.cookie.partition("=")
    context = await browser.new_context(base_url=origin, viewport={"width": 1280, "height": 900})
    await context.add_cookies([{"name": name, "value": value, "url": origin}])
    page = await context.new_page()
    page.set_default_timeout(WAIT_MS)
    await page.add_init_script(_OBSERVE)
    await page.goto(f"/chat/{person.sessions[0]}/")
    await page.fill("#composer-text", f"Please measure. bench:{rate}:formatted")
    # Wait until fonts, scripts and the socket are idle.
    await page.wait_for_timeout(1500)
    answers = await page.locator("#messages > .turn").count()
    processes = await browser.new_browser_cdp_session()
    await page.evaluate(_FORGET)
    before, began = await _cpu_seconds(processes), asyncio.get_running_loop().time()
    await page.press("#composer-text", "Enter")
    await page.wait_for_function(_ENDED, arg=answers, polling=250)
    seconds = asyncio.get_running_loop().time() - began
    after = await _cpu_seconds(processes)
    seen = await page.evaluate("benchSeen")
    streamed = await page.locator(_LAST_ANSWER).inner_html()
    await page.reload()
    return PageCost(
        seconds=seconds,
        page_cpu_share=(after["renderer"] - before["renderer"]) / seconds,
        browser_cpu_share=(sum(after.values()) - sum(before.values())) / seconds,
        longest_task_ms=seen["longest"],
        long_tasks=seen["longTasks"],
        layout_shift=seen["shift"],
        is_same_after_reload=await page.locator(_LAST_ANSWER).inner_html() == streamed,
    )


async def _cpu_seconds(processes: CDPSession) -> dict[str, float]:
    """Return the CPU time of the browser's processes by their type."""
    answer: dict[str, Any] = await processes.send("SystemInfo.getProcessInfo")
    used: dict[str, float] = {"renderer": 0.0}
    for process in answer["processInfo"]:
        used[process["type"]] = used.get(process["type"], 0.0) + process["cpuTime"]
    return used
