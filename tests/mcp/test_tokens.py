"""Tokens that don't hold, personal and of consents: each tool is answered alike, and does nothing."""

import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.utils import timezone
from pytest_django import Settings

from coaching.models import ActionItem, Capture, ProgramToken, Scope
from coaching.people.in_flight import MAX_PER_PERSON, in_flight
from coaching.tools import PROGRAM_TOOLS
from sessions_app.database import in_database
from tests.mcp.lives import fill, token_of
from tests.mcp.test_matrix import HERS, arguments_of
from tests.oauth.granted import granted_that_dont_hold
from tests.sockets.questions import rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def secrets_that_dont_hold(user: User, other_user: User) -> list[str]:
    good, expired, revoked = (token_of(user, *Scope.values) for _ in range(3))
    disabled = token_of(other_user, *Scope.values)
    made = list(ProgramToken.of(user.pk).order_by("id"))
    past = timezone.now() - timedelta(days=1)
    ProgramToken.of(user.pk).filter(pk=made[1].pk).update(made_at=past - timedelta(days=1), expires_at=past)
    made[2].delete()
    User.objects.filter(pk=other_user.pk).update(is_active=False)
    return [expired, revoked, disabled, good[:-1], good + "a", good.upper(), "sage_" + "A" * 43, "x"]


def all_that_dont_hold(user: User, other_user: User) -> list[str]:
    granted = granted_that_dont_hold(user, other_user)
    return [*granted.values(), *secrets_that_dont_hold(user, other_user)]


async def test_each_tool_is_closed_to_tokens_that_dont_hold(
    user: User, other_user: User, settings: Settings
) -> None:
    settings.IDP_OIDC_RATE_LIMITS = False
    ids = await in_database(fill, user, HERS)
    before = await in_database(ActionItem.of(user.pk).count)
    answers = set()
    for secret in await in_database(all_that_dont_hold, user, other_user):
        headers = {"Authorization": f"Bearer {secret}", "Accept": "application/json"}
        for name in PROGRAM_TOOLS:
            params = {"name": name, "arguments": arguments_of(name, ids)}
            message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
            answered = await AsyncClient().post(
                "/mcp", message, content_type="application/json", headers=headers
            )
            answers.add((answered.status_code, answered.content, answered["WWW-Authenticate"]))
    assert [status for status, *_ in answers] == [401]
    assert await in_database(ActionItem.of(user.pk).count) == before
    assert not await rows(Capture.of(user.pk))


async def test_a_person_with_many_requests_in_flight_waits_by_mcp_too(user: User) -> None:
    secret, key = await in_database(token_of, user, "read"), f"person {user.pk}"
    for _ in range(MAX_PER_PERSON):
        assert in_flight.count(key, MAX_PER_PERSON)
    try:
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
        headers = {"Authorization": f"Bearer {secret}", "Accept": "application/json"}
        answered = await AsyncClient().post("/mcp", message, content_type="application/json", headers=headers)
    finally:
        for _ in range(MAX_PER_PERSON):
            in_flight.uncount(key)
    assert (answered.status_code, answered["Retry-After"]) == (429, "2")
    assert "Too many" in answered.json()["error"]
