"""Logs contain ids, never user text."""

import asyncio
import gc
import io
import json
import logging
import traceback
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from django.db import IntegrityError
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.urls import resolve

from coaching.engine.errors import UpstreamError
from sage.http_requests import BoundedRequest
from sage.logs import RequestLogMiddleware, WordlessArguments, WordlessMessages, build_logging


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """Return the production formatter's output for all records of this test."""
    described = build_logging(is_terminal=False)["formatters"]["structured"]
    formatter = described.pop("()")(**described)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    handler.addFilter(WordlessMessages())
    handler.addFilter(WordlessArguments())
    loggers = [logging.getLogger(name) for name in ("test.logs", "django.security", "asyncio", "daphne")]
    for logger in loggers:
        logger.addHandler(handler)
    yield stream
    for logger in loggers:
        logger.removeHandler(handler)


def _entry(written: io.StringIO) -> dict[str, Any]:
    (line,) = written.getvalue().splitlines()
    entry: dict[str, Any] = json.loads(line)
    return entry


def test_a_foreign_exception_is_logged_by_type_and_place_without_its_words(written: io.StringIO) -> None:
    try:
        raise IntegrityError("Key (content)=(my secret) already exists")
    except IntegrityError:
        logging.getLogger("test.logs").exception("turn_not_closed")
    entry = _entry(written)
    assert "secret" not in written.getvalue()
    assert entry["exception"][0] == "django.db.utils.IntegrityError"
    assert "test_logs.py" in entry["exception"][1]


def test_our_own_exception_keeps_its_words_for_they_are_meant_for_the_log(written: io.StringIO) -> None:
    try:
        raise UpstreamError("overloaded", "status 529")
    except UpstreamError:
        structlog.get_logger("test.logs").exception("upstream_failed", turn_id="7")
    entry = _entry(written)
    assert entry["exception"][0] == "coaching.engine.errors.UpstreamError: overloaded: status 529"
    assert entry["turn_id"] == "7"


def test_an_exception_among_the_arguments_is_logged_by_type(written: io.StringIO) -> None:
    logging.getLogger("test.logs").error("application failed: %s", ValueError("my secret"))
    assert _entry(written)["event"] == "application failed: builtins.ValueError"


def test_a_line_can_not_be_forged(written: io.StringIO) -> None:
    logging.getLogger("test.logs").warning('a\n{"event": "forged"}')
    assert _entry(written)["event"] == 'a\n{"event": "forged"}'


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({}, "CSRF cookie not set."),
        ({"Origin": "https://secret.example"}, "Origin checking failed"),
        ({"Referer": "https://secret.example/files/secret.md"}, "Referer checking failed"),
    ],
)
def test_a_failed_csrf_check_is_logged_without_the_path(
    written: io.StringIO, headers: dict[str, str], reason: str
) -> None:
    browser = Client(enforce_csrf_checks=True)
    response = browser.post("/files/notes/secret.md/edit/", headers=headers, secure="Referer" in headers)
    assert response.status_code == 403
    assert _entry(written)["event"] == f"request refused ({reason}): POST /files/<path:path>/edit/"
    assert "secret" not in written.getvalue()


def test_a_request_to_a_host_that_is_not_ours_is_one_line_without_its_words(written: io.StringIO) -> None:
    assert Client().get("/files/secret.md", headers={"Host": "secret.example"}).status_code == 400
    entry = _entry(written)
    assert entry["event"] == "request refused (its host isn't in ALLOWED_HOSTS): GET -"
    assert (entry["level"], "exception" in entry) == ("warning", False)
    assert "secret" not in written.getvalue()


async def test_a_task_that_nobody_awaited_is_logged_without_what_it_said(written: io.StringIO) -> None:
    async def fail() -> None:
        raise ValueError("my secret")

    task = asyncio.ensure_future(fail())
    await asyncio.wait([task])
    del task
    gc.collect()
    entry = _entry(written)
    assert entry["event"] == "Task exception was never retrieved"
    assert entry["exception"][0] == "builtins.ValueError"
    assert "secret" not in written.getvalue()


def test_what_daphne_says_of_an_exception_or_a_connection_names_no_words(written: io.StringIO) -> None:
    try:
        raise ValueError("my secret")
    except ValueError:
        logging.getLogger("daphne.http_protocol").error(traceback.format_exc())
    event = _entry(written)["event"]
    assert "test_logs.py" in event
    assert event.endswith("ValueError")
    assert "secret" not in event
    request = BoundedRequest.__new__(BoundedRequest)
    request.uri, request.path = b"/files/secret.md", b"/files/secret.md"
    assert "secret" not in repr(request)


def test_a_request_is_named_by_route_and_ids_never_by_path_or_query() -> None:
    session_id = uuid.uuid4()
    assert _named(f"/chat/{session_id}/?q=secret").endswith(f"session_id={session_id}")
    assert "secret" not in _named(f"/chat/{session_id}/?q=secret")
    assert "secret" not in _named("/files/secret.md")
    assert "secret" not in _named("/accounts/password/reset/key/1-secret/")


def _named(path: str) -> str:
    request: HttpRequest = RequestFactory().get(path)
    request.resolver_match = resolve(request.path_info)
    return RequestLogMiddleware.format_request(request)
