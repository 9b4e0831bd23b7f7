"""How slow the machine is at the moment, for time limits that hold on a busy one and can still fail."""

import time
from itertools import accumulate

import aiohttp

PAGE = "/accounts/login/"
PAGES = 25
USUAL_SECONDS = 0.007
"""How long the page takes on an idle machine."""


STEPS = 3_000_000
USUAL_STEPS_SECONDS = 0.1
"""How long a computation of so many steps takes on an idle machine."""
PATIENCE = 2.0


def patience() -> float:
    """Compute something; return by what factor time limits are to be stretched at the moment.

    That is twice what is measured, because other tests start meanwhile.
    """
    began = time.monotonic()
    for _ in accumulate(range(STEPS)):
        pass
    return PATIENCE * max(1.0, (time.monotonic() - began) / USUAL_STEPS_SECONDS)


def is_quick(seconds: float, limit: float) -> bool:
    """Return whether something took less than a limit, which is stretched by `patience()`.

    What took less than even an idle machine allows is quick without measuring how slow the machine is.
    """
    return seconds < PATIENCE * limit or seconds < patience() * limit


async def measure_slowness(origin: str) -> float:
    """Request a page repeatedly; return how many times longer than usual it takes, at least 1."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=90)) as client:
        began = time.monotonic()
        for _ in range(PAGES):
            async with client.get(origin + PAGE) as page:
                assert page.status == 200
                await page.read()
    return max(1.0, (time.monotonic() - began) / PAGES / USUAL_SECONDS)
