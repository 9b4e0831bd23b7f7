"""The audit of the lock fails for a vulnerability, never because no service answers."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.groups import require_group
from tests.sage.processes import PROJECT

VULNERABILITY = {
    "id": "GHSA-test-test-test",
    "modified": "2026-01-01T00:00:00Z",
    "published": "2026-01-01T00:00:00Z",
    "summary": "Text gets out.",
    "details": "Text gets out.",
    "affected": [
        {
            "package": {"name": "daphne", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.1"}]}],
        }
    ],
}


@pytest.fixture(autouse=True)
def _has_group() -> None:
    require_group("audit")


@contextmanager
def service(vulnerable: str, status: int = 200) -> Iterator[str]:
    """Run a vulnerability service that knows one vulnerable package; yield its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = [VULNERABILITY] if asked["package"]["name"] == vulnerable else []
            answer = json.dumps({"vulns": found} if found else {}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1/query"
    server.shutdown()
    thread.join()
    server.server_close()


def audit(address: str) -> tuple[int, str]:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.architecture.audit",
            "--vulnerability-service",
            "osv",
            "--osv-url",
            address,
        ],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_vulnerable_version_fails_and_is_named_with_what_mends_it() -> None:
    with service("daphne") as address:
        code, said = audit(address)
    assert code == 1
    assert "daphne 4." in said
    assert "GHSA-test-test-test, fixed in 99.1" in said
    assert "1 vulnerabilities" in said


def test_a_lock_without_vulnerabilities_passes() -> None:
    with service("nothing") as address:
        code, said = audit(address)
    assert code == 0, said
    assert "packages audited, 0 vulnerabilities" in said


@pytest.mark.parametrize("status", [None, 500])
def test_a_service_that_does_not_answer_skips_the_audit_with_a_word(status: int | None) -> None:
    if status is None:
        with service("") as address:
            pass  # the port is closed again
        code, said = audit(address)
    else:
        with service("daphne", status) as address:
            code, said = audit(address)
    assert code == 0, said
    assert said.startswith("Audit skipped: ")
