"""A program that sends too much, to a running Sage: refused before Django, without a query."""

import aiohttp
import pytest
from django.contrib.auth.models import User

from sessions_app.database import in_database
from tests.api.things import token
from tests.live_sage import LiveSage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

RATE = 120


async def ask(sage: LiveSage, secret: str, path: str = "/api/files", **headers: str) -> tuple[int, str, str]:
    """Return status, `Retry-After` and the sentence."""
    sent = {"Authorization": f"Bearer {secret}", **headers}
    async with aiohttp.ClientSession(sage.origin, headers=sent) as client, client.get(path) as response:
        answer = await response.json()
    return response.status, response.headers.get("Retry-After", ""), answer.get("error", "")


async def test_one_request_too_many_is_refused_on_every_route_and_others_arent(
    live_sage: LiveSage, user: User, other_user: User
) -> None:
    secret, another = await in_database(token, user, "read"), await in_database(token, other_user, "read")
    statuses = [(await ask(live_sage, secret))[0] for _ in range(RATE + 10)]
    assert statuses[:RATE] == [200] * RATE
    assert set(statuses[RATE:]) <= {200, 429}, "a new period may have begun meanwhile"
    log_before = live_sage.log.read_text()
    refused = [await ask(live_sage, secret, path) for path in ("/api/files", "/api/x", "/%61pi/x", "/mcp")]
    for status, wait, sentence in refused:
        assert status == 429
        assert 0 < int(wait) <= 120
        assert "too often" in sentence
    assert "request_finished" not in live_sage.log.read_text().removeprefix(log_before), "not Django's"
    _, _, german = await ask(live_sage, secret, **{"Accept-Language": "de"})
    assert "zu oft" in german
    assert (await ask(live_sage, another))[0] == 200
    assert (await ask(live_sage, "sage_" + "A" * 43))[0] == 401
