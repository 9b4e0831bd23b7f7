"""Logs hold ids, never words."""

import io
import json
import logging
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from django.db import IntegrityError
from django.http import HttpRequest
from django.test import RequestFactory
from django.urls import resolve

from coaching.engine.errors import UpstreamError
from sage.logs import RequestLogMiddleware, WordlessArguments, build_logging


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What the production formatter writes for all records of this test."""
    described = build_logging(is_terminal=False)["formatters"]["structured"]
    formatter = described.pop("()")(**described)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    handler.addFilter(WordlessArguments())
    logger = logging.getLogger("test.logs")
    logger.addHandler(handler)
    yield stream
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
        raise UpstreamError("overloaded", "Please try again.", "status 529")
    except UpstreamError:
        structlog.get_logger("test.logs").exception("upstream_failed", turn_id="7")
    entry = _entry(written)
    assert entry["exception"][0] == "coaching.engine.errors.UpstreamError: overloaded: status 529"
    assert entry["turn_id"] == "7"


def test_an_exception_among_the_arguments_is_told_by_its_type(written: io.StringIO) -> None:
    logging.getLogger("test.logs").error("application failed: %s", ValueError("my secret"))
    assert _entry(written)["event"] == "application failed: builtins.ValueError"


def test_a_line_can_not_be_forged(written: io.StringIO) -> None:
    logging.getLogger("test.logs").warning('a\n{"event": "forged"}')
    assert _entry(written)["event"] == 'a\n{"event": "forged"}'


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
