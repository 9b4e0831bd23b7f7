"""Errors reach Sentry and traces a collector, on a real socket and without user text."""

import gzip
import json
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from typing import Any
from urllib.request import Request, urlopen

import pytest
from django.contrib.auth.models import User
from django.db import connection

from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from coaching.recall.encoder import has_packages
from sage.telemetry import is_installed
from sessions_app.database import in_database
from sessions_app.models import Session
from sessions_app.session_services import open_session
from tests.groups import require
from tests.live_sage import LiveSage, free_port, open_socket, session_cookie, url_of_test_database
from tests.sage.processes import StartedProcess, started

SECRET = "zebraquartz"  # in text, in a file name and in a query
SENTRY, OTEL = is_installed("sentry_sdk"), is_installed("opentelemetry.exporter.otlp.proto.http")


class Collector:
    """A server that stores what is posted to it, decompressed, by path."""

    def __init__(self) -> None:
        self.got: list[tuple[str, bytes]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                is_packed = self.headers.get("Content-Encoding") == "gzip"
                collector.got.append((self.path, gzip.decompress(body) if is_packed else body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector()
    yield server
    server.close()


@contextmanager
def watched_sage(practice_port: int, **variables: str) -> Iterator[tuple[StartedProcess, int]]:
    environment = {
        **os.environ,
        "DATABASE_URL": url_of_test_database(),
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{practice_port}",
        "ANTHROPIC_API_KEY": "practice",
        **variables,
    }
    with started("manage.py", "web", "--port", "0", environment=environment) as process:
        line = process.wait_for_line(lambda line: "Sage answers at" in line)
        yield process, int(line.rstrip("/").rpartition(":")[2])
        assert process.end() == 0, process.output


@pytest.mark.django_db(transaction=True)
async def test_a_turn_is_traced_from_its_request_to_its_tools(user: User, collector: Collector) -> None:
    require("otel", OTEL, "the extra otel (uv sync --extra otel)")
    session: Session = await in_database(open_session, user_id=user.pk, kind="open_conversation")
    cookie = await in_database(session_cookie, user)
    practice_port = free_port()
    async with PracticeServer(keeps_bodies=True, port=practice_port, tokens_per_second=0) as practice:
        practice.script(
            [Reply.of(ToolUse("read_file", {"path": f"notes/{SECRET}.md"})), f"No {SECRET} there."]
        )
        endpoint = f"http://127.0.0.1:{collector.port}"
        with watched_sage(practice_port, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint) as (process, port):
            sage = LiveSage(port=port, practice_port=practice_port, process=None, log=None)  # type: ignore[arg-type]
            async with open_socket(sage, session.id, cookie) as client:
                await client.send(type="message", text=f"Where is my {SECRET}?")
                await client.until("done")
            assert "does nothing" not in process.output
    spans = spans_in(collector)
    (tool,) = [span for span in spans if span.name == "tool"]
    by_id = {span.span_id: span for span in spans}
    names = []
    while tool is not None:
        names.append(tool.name)
        tool = by_id.get(tool.parent_span_id)
    assert names == ["tool", "round", "turn", "request"]
    assert len([span for span in spans if span.name == "round"]) == 2
    (turn,) = [span for span in spans if span.name == "turn"]
    assert {entry.key: entry.value.string_value for entry in turn.attributes}["sage.session_id"] == str(
        session.id
    )
    assert_wordless(collector, user)


def spans_in(collector: Collector) -> list[Any]:
    message = import_module("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    spans: list[Any] = []
    for path, body in collector.got:
        assert path == "/v1/traces"
        for resource in message.ExportTraceServiceRequest.FromString(body).resource_spans:
            spans += [span for scope in resource.scope_spans for span in scope.spans]
    return spans


def assert_wordless(collector: Collector, user: User) -> None:
    assert collector.got
    for _, body in collector.got:
        for words in (SECRET, user.username, user.email, "sessionid"):
            # As a word: "metadata" has a short name in it.
            assert not re.search(rb"(?<![a-z])%b(?![a-z])" % re.escape(words.encode()), body), words


@pytest.mark.django_db(transaction=True)
def test_an_error_is_reported_by_its_type_and_place_alone(user: User, collector: Collector) -> None:
    require("sentry", SENTRY, "the extra sentry (uv sync --extra sentry)")
    cookie = session_cookie(user)
    dsn = f"http://key@127.0.0.1:{collector.port}/1"
    with watched_sage(free_port(), SENTRY_DSN=dsn) as (process, port):
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE coaching_userfile RENAME TO coaching_lost")
        try:
            url = f"http://localhost:{port}/files/captures/{SECRET}.md?q={SECRET}"
            with pytest.raises(OSError, match="500"):
                urlopen(Request(url, headers={"Cookie": cookie}), timeout=30)
        finally:
            with connection.cursor() as cursor:
                cursor.execute("ALTER TABLE coaching_lost RENAME TO coaching_userfile")
        assert "does nothing" not in process.output
    events = [
        json.loads(line) for _, body in collector.got for line in body.splitlines() if b'"exception"' in line
    ]
    (event,) = events
    types = [value["type"] for value in event["exception"]["values"]]
    assert "ProgrammingError" in types
    frames = event["exception"]["values"][-1]["stacktrace"]["frames"]
    assert any(frame["module"].startswith("coaching.files") for frame in frames)
    assert {"request", "user", "breadcrumbs", "extra", "modules"}.isdisjoint(event)
    assert not any({"vars", "context_line", "abs_path"} & frame.keys() for frame in frames)
    assert not any("value" in value for value in event["exception"]["values"])
    assert_wordless(collector, user)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("is_there", "variables", "line"),
    [
        (SENTRY, {"SENTRY_DSN": "http://key@127.0.0.1:1/1"}, "SENTRY_DSN is set and does nothing"),
        (
            OTEL,
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
            "OTEL_EXPORTER_OTLP_ENDPOINT is set and does nothing",
        ),
        (
            has_packages(),
            {"SAGE_EMBEDDING_MODEL": "model"},
            "SAGE_EMBEDDING_MODEL is set and does nothing: install the extra with `uv sync --extra semantic`",
        ),
    ],
)
def test_a_setting_that_does_nothing_is_said_in_one_line_at_the_start(
    is_there: bool, variables: dict[str, str], line: str
) -> None:
    with watched_sage(free_port(), **variables) as (process, _):
        pass
    assert process.output.count(line) == (0 if is_there else 1), process.output
