"""A program that sends too much, to a running Sage: refused before Django, without a query."""

import asyncio
import re
import time

import aiohttp
import pytest
from django.contrib.auth.models import User

from coaching.programs.early_counts import HELD_SECONDS, REFUSED_AT_ONCE
from sessions_app.database import in_database
from tests.api.things import token
from tests.live_sage import LiveSage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

RATE = 120


async def ask(
    sage: LiveSage, secret: str, path: str = "/api/files", *, address: str = "127.0.0.1", **headers: str
) -> tuple[int, str, str]:
    """Return status, `Retry-After` and the sentence."""
    sent = {"Authorization": f"Bearer {secret}", **headers}
    there = aiohttp.TCPConnector(local_addr=(address, 0))
    origin = f"http://127.0.0.1:{sage.port}"
    async with (
        aiohttp.ClientSession(origin, headers=sent, connector=there) as client,
        client.get(path) as response,
    ):
        answer = await response.json()
    return response.status, response.headers.get("Retry-After", ""), answer.get("error", "")


async def refusal(sage: LiveSage, secret: str, path: str = "/api/files", **headers: str) -> tuple[str, str]:
    """Return `Retry-After` and the sentence of a refusal, which isn't Django's.

    Where a new period has begun, a request has room every half second.
    """
    for _ in range(5):
        log_before = sage.log.read_text()
        status, wait, sentence = await ask(sage, secret, path, **headers)
        if status == 429:
            assert "request_finished" not in sage.log.read_text().removeprefix(log_before)
            return wait, sentence
    raise AssertionError(f"not refused: {status}")


async def test_one_request_too_many_is_refused_on_every_route_and_others_arent(
    live_sage: LiveSage, user: User, other_user: User
) -> None:
    secret, another = await in_database(token, user, "read"), await in_database(token, other_user, "read")
    statuses = [(await ask(live_sage, secret))[0] for _ in range(RATE + 10)]
    assert statuses[:RATE] == [200] * RATE
    assert set(statuses[RATE:]) <= {200, 429}, "a new period may have begun meanwhile"
    for path in ("/api/files", "/api/x", "/%61pi/x", "/mcp"):
        wait, sentence = await refusal(live_sage, secret, path)
        assert 0 < int(wait) <= 120
        assert "too often" in sentence
    _, german = await refusal(live_sage, secret, **{"Accept-Language": "de"})
    assert "zu oft" in german
    assert (await ask(live_sage, another))[0] == 200
    assert (await ask(live_sage, "sage_" + "A" * 43))[0] == 401


async def test_an_address_with_too_many_tokens_that_dont_hold_is_refused_and_others_arent(
    live_sage: LiveSage, user: User
) -> None:
    secret, bad = await in_database(token, user, "read"), "127.0.0.2"
    assert (await ask(live_sage, secret, address=bad))[0] == 200
    statuses = [(await ask(live_sage, f"sage_{n:043}", address=bad))[0] for n in range(RATE + 10)]
    assert statuses[:RATE] == [401] * RATE
    assert set(statuses[RATE:]) <= {401, 429}, "a new period may have begun meanwhile"
    log_before = live_sage.log.read_text()
    status, wait, _ = await ask(live_sage, "sage_" + "B" * 43, "/mcp", address=bad)
    assert (status, 0 < int(wait) <= 120) == (429, True)
    assert "request_finished" not in live_sage.log.read_text().removeprefix(log_before), "not Django's"
    assert (await ask(live_sage, secret, address=bad))[0] == 200, "a token that holds"
    assert (await ask(live_sage, "sage_" + "B" * 43))[0] == 401, "another address"


async def test_each_request_of_one_connection_is_answered_in_order(live_sage: LiveSage, user: User) -> None:
    """Sent at once: the refused ones, with a body or without, don't end the connection or mix answers."""
    secret = await in_database(token, user, "read")
    head = f"Host: 127.0.0.1:{live_sage.port}\r\naUTHORIZATION: bEARER {secret}\r\n"
    get = f"GET /api/files HTTP/1.1\r\n{head}\r\n"
    post = f"POST /api/files HTTP/1.1\r\n{head}Content-Length: 4\r\n\r\nbody"
    page = f"GET /healthz HTTP/1.1\r\n{head}Connection: close\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", live_sage.port)
    writer.write((get * (RATE + 10) + post + get + page).encode())
    answers = (await reader.read()).decode()
    writer.close()
    statuses = re.findall(r"HTTP/1\.1 (\d+)", answers)
    assert statuses[:RATE] == ["200"] * RATE
    assert len(statuses) == RATE + 13
    assert "429" in statuses[RATE:-1]
    assert statuses[-1] == "200", "a page isn't counted"


async def test_a_program_that_sends_on_and_on_waits_for_its_refusals(live_sage: LiveSage, user: User) -> None:
    """All get one, and a connection that ends meanwhile harms nothing."""
    secret = await in_database(token, user, "read")
    head = f"Host: 127.0.0.1:{live_sage.port}\r\nAuthorization: Bearer {secret}\r\n"
    get, asks = f"GET /api/files HTTP/1.1\r\n{head}\r\n", f"HEAD /api/files HTTP/1.1\r\n{head}\r\n"
    last = f"GET /api/files HTTP/1.1\r\n{head}Connection: close\r\n\r\n"
    assert len(await answers_to(live_sage, get * RATE + last)) == RATE + 1
    log_before = live_sage.log.read_text()
    began = time.monotonic()
    refused = await answers_to(live_sage, get * 2 * REFUSED_AT_ONCE + asks * 2 + last)
    assert time.monotonic() - began >= HELD_SECONDS, "a second or two have room for so many at once"
    assert len(refused) == 2 * REFUSED_AT_ONCE + 3
    assert {answer.partition(" ")[0] for answer in refused} <= {"200", "429"}
    assert "429" in refused[-1]
    assert "Connection: close" in refused[-1]
    for _ in range(2 * REFUSED_AT_ONCE + 1):
        _, writer = await asyncio.open_connection("127.0.0.1", live_sage.port)
        writer.write(get.encode())
        await writer.drain()
        writer.close()
    await asyncio.sleep(HELD_SECONDS + 0.2)
    assert "Traceback" not in live_sage.log.read_text().removeprefix(log_before)
    assert (await ask(live_sage, "sage_" + "C" * 43))[0] == 401


async def answers_to(sage: LiveSage, requests: str) -> list[str]:
    """Send requests at once; return the answers, from the status on. The last request ends the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", sage.port)
    writer.write(requests.encode())
    answers = (await reader.read()).decode()
    writer.close()
    return answers.split("HTTP/1.1 ")[1:]
