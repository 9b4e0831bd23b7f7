"""Requests that the description allows, and some that it doesn't: no 500, and no answer that isn't described.

The long form sends 10,000: `SAGE_TEST_LONG=1 uv run --group fuzz pytest -n0 tests/api/test_fuzz.py`.
"""

import json
import sys
import warnings
from collections import Counter
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as tried

from coaching.api.docs import described
from coaching.api.routes import ROUTES
from coaching.people import attempts
from sessions_app.rate import RateLimit
from tests.api.things import Things, give_things, token
from tests.groups import require_group
from tests.thoroughness import size

SEED = 20_261_129
SHARE_OF_SUCCESSES = 0.6
EXAMPLES = size(6, long=260)
"""Of each route and kind. Some routes allow fewer different requests."""
REQUESTS = size(200, long=10_000)
"""How many are sent at least."""
NEEDS_A_RUNNER = "send_message"
METHODS_WITH_BODY = ("POST", "PUT", "PATCH")

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow,
    pytest.mark.timeout(size(420, long=3600)),
]


def address(case: Any, things: Things) -> str:
    """Return a case's address: that of a thing of the person's for most, the case's own for some."""
    own = {
        "path": things.file,
        "version": 1,
        "step_id": things.step,
        "document_id": things.document,
        "conversation_id": things.conversation,
        "turn_id": things.turn,
    }
    path = str(case.path)
    for name, value in (case.path_parameters or {}).items():
        is_own = sum(map(ord, str(value))) % 8  # one in eight asks for something that isn't there
        path = path.replace(f"{{{name}}}", str(own[name] if is_own else value))
    return path


def send(case: Any, things: Things, secret: str) -> Any:
    headers = {"Authorization": f"Bearer {secret}"}
    key = (case.headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and key.isprintable():
        headers["Idempotency-Key"] = key
    given: dict[str, Any] = {"headers": headers, "query_params": dict(case.query or {})}
    if case.method in METHODS_WITH_BODY:
        is_body = isinstance(case.body, dict | list | str | int | float | bool | None)
        body = json.dumps(case.body) if is_body else ""
        given |= {"data": body, "content_type": "application/json"}
    return getattr(Client(raise_request_exception=False), case.method.lower())(address(case, things), **given)


def test_no_request_fails_in_a_way_that_isnt_described(
    user: User,
    settings: object,
    monkeypatch: pytest.MonkeyPatch,
    subtests: pytest.Subtests,
    capsys: pytest.CaptureFixture[str],
) -> None:
    require_group("fuzz")
    import schemathesis  # noqa: PLC0415 - of a dependency group

    settings.SAGE_API_RATE = RateLimit(turns=1_000_000, seconds=60)  # type: ignore[attr-defined]
    settings.SAGE_RATE_LIMIT = RateLimit(turns=1_000_000, seconds=60)  # type: ignore[attr-defined]
    settings.SAGE_MAX_FILES = settings.SAGE_MAX_FILES_MB = 10**6  # type: ignore[attr-defined]
    # Thousands of requests would only be answered by 429; limits have tests of their own.
    monkeypatch.setattr(attempts.AttemptLimit, "count", lambda *_: None)
    cache.clear()
    things, secret = give_things(user, "secret"), token(user)
    schema = schemathesis.openapi.from_dict(described() | {"servers": [{"url": "http://testserver"}]})
    found = list(schema.get_all_operations())
    operations = [one.ok() for one in found if isinstance(one, schemathesis.core.result.Ok)]
    assert len(operations) == len(found) == len(ROUTES)
    answered: Counter[str] = Counter()
    for operation in operations:
        with subtests.test(operation.label):
            for mode in schemathesis.GenerationMode:
                answered += run(operation, mode, things, secret)
    share = answered["succeeded"] / (answered["succeeded"] + answered["refused"])
    with capsys.disabled():
        sys.stdout.write(f"\n{answered.total()} requests; of the valid ones {share:.0%} succeeded\n")
    assert answered.total() >= REQUESTS
    assert share >= SHARE_OF_SUCCESSES


def run(operation: Any, mode: Any, things: Things, secret: str) -> Counter[str]:
    """Send requests of one kind; count valid ones by whether they succeeded, and all others."""
    import schemathesis  # noqa: PLC0415 - of a dependency group

    is_fitting = mode == schemathesis.GenerationMode.POSITIVE
    counted: Counter[str] = Counter()
    known = {int(status) for status in operation.definition.raw["responses"]}
    succeeded = {status for status in known if status < 300}
    name = operation.definition.raw["operationId"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        strategy = operation.as_strategy(generation_mode=mode)

    @seed(SEED)
    @tried(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def every(case: Any) -> None:
        used = things if name != NEEDS_A_RUNNER else Things()
        response = send(case, used, secret)
        assert response.status_code in known, (operation.label, response.status_code, case.body, case.query)
        assert response.status_code != 401, "the token holds on every route"
        assert response["Content-Type"].startswith("application/json"), operation.label
        if response.status_code >= 300:
            assert response.json().keys() - {"page"} == {"error"}
        if is_fitting and name != NEEDS_A_RUNNER:
            counted["succeeded" if response.status_code in succeeded else "refused"] += 1
        else:
            counted["others"] += 1

    every()
    return counted
