"""Imports in a process of its own, which may be killed."""

import json
import os
import signal
import time
from pathlib import Path

from django.contrib.auth.models import User

from sessions_app.models import Message
from tests.forked import ForkedProcess
from tests.live_sage import url_of_test_database

SECONDS = 300.0


def import_in_process(path: Path, user: User) -> dict[str, int]:
    """Import to the end, and return the counts."""
    process, log = start_import(path, user)
    assert process.wait(SECONDS) == 0, log.read_text()
    counts: dict[str, int] = json.loads(log.read_text().splitlines()[-1])
    return counts


def kill_import(path: Path, user: User, *, after: int) -> int:
    """Kill an import once it has stored so many messages, or ended; return how many there are then."""
    process, log = start_import(path, user)
    deadline = time.monotonic() + SECONDS
    while process.poll() is None and Message.of(user.pk).count() < after:
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait(SECONDS)
    return Message.of(user.pk).count()


def start_import(path: Path, user: User) -> tuple[ForkedProcess, Path]:
    """Start an import; return its process and its output."""
    log = path.with_suffix(f".{time.monotonic_ns()}.log")
    program = ("manage.py", "import_legacy", str(path), "--user", user.username, "--json")
    environment = os.environ | {
        "DATABASE_URL": url_of_test_database(),
        "SAGE_DATA_DIR": str(path.parent),
        "DJANGO_SETTINGS_MODULE": "sage.settings",
    }
    return ForkedProcess(program, environment=environment, log=log), log
