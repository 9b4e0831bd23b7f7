"""Native code in a hijacked reader has no rights: the kernel refuses each attempt, as root and otherwise.

The readers are the product's, with its limits. For the test they also run raw system calls (`attacks`).
"""

import ast
import errno
import io
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from PIL import Image, ImageDraw, ImageFont

from coaching.calendar import reading
from coaching.inbox import claims
from coaching.legacy import reading as imports
from coaching.legacy.importers import reader
from coaching.library.pipeline import extraction, page_rendering, recognition
from coaching.sandbox import differences, layers, markdown, rights, template_process
from coaching.sandbox.errors import NotAnswered
from coaching.sandbox.host import ProcessHost
from coaching.sandbox.limits import Limits
from coaching.voice import recogniser
from tests.architecture.parsing import parse
from tests.calendar.conftest import calendar_text, one_event
from tests.groups import require_group, require_recognition
from tests.sage.processes import PROJECT
from tests.sandbox.attacks import BEGIN

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these layers")

ORDINARY_USER = 61_000
REFUSALS = {errno.EPERM, errno.EACCES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A reader of the product: where its host is made, its limits, and a harmless request."""

    file: str
    limits: Limits
    head: bytes = b""
    body: bytes = b""
    told: bytes = b"lease"
    is_stream: bool = False


def picture_of(words: str, *, kind: str) -> bytes:
    image = Image.new("L", (400, 100), 255)
    ImageDraw.Draw(image).text((40, 30), words, fill=0, font=ImageFont.load_default(size=32))
    written = io.BytesIO()
    image.save(written, kind)
    return written.getvalue()


KINDS = {
    "documents": Kind(
        file="library/pipeline/extraction.py", limits=extraction.LIMITS, head=b"a.txt", body=b"A lease"
    ),
    "pages": Kind(
        file="library/pipeline/page_rendering.py",
        limits=page_rendering.LIMITS,
        head=b'{"number": 1, "pixels": 100}',
        body=picture_of("A lease", kind="PNG"),
        told=b'"drawn"',
    ),
    "recognition": Kind(
        file="library/pipeline/recognition.py",
        limits=recognition.LIMITS,
        body=picture_of("A lease", kind="WEBP"),
    ),
    "calendars": Kind(
        file="calendar/reading.py",
        limits=reading.LIMITS,
        head=b"2026-10-18 2027-02-26",
        body=calendar_text(one_event("A lease")).encode(),
    ),
    "mails": Kind(
        file="inbox/claims.py",
        limits=claims.LIMITS,
        head=b'{"server": "mx.in.example", "local": "sage", "domain": "in.example"}',
        body=b"From: ada@example.org\r\nTo: sage+lease@in.example\r\n\r\n",
    ),
    "markdown": Kind(file="sandbox/markdown.py", limits=markdown.LIMITS, body=b"*A lease*"),
    "versions": Kind(
        file="sandbox/differences.py", limits=differences.LIMITS, body=b'{"old": "A", "new": "A lease"}'
    ),
    "imports": Kind(
        file="legacy/reading.py",
        limits=imports._host.limits,
        head=reader.request(),
        body=b"A lease",
        told=b"",
        is_stream=True,
    ),
    "speech": Kind(
        file="voice/recogniser.py",
        limits=recogniser.LIMITS,
        head=b"audio/wav\nRIFF",
        body=b"A lease",
        told=b"unread",
        is_stream=True,
    ),
}
AS_ROOT = pytest.param(
    True, id="root", marks=pytest.mark.skipif(os.geteuid() != 0, reason="the suite isn't run by root")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is to be reached: a data folder, servers, and a process of the same user with a secret."""

    folder: Path
    servers: tuple[socket.socket, ...]
    process: "subprocess.Popen[bytes]"
    given: dict[str, Any]


@contextmanager
def target_of(user: int) -> Iterator[Target]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sage-", dir="/tmp")))
        for name in ("secret_key", "database_password"):
            (folder / name).write_text("very secret")
            (folder / name).chmod(0o600)
        servers = [stack.enter_context(socket.create_server(("127.0.0.1", 0)))]
        for address in (str(folder / "socket"), "\0sage-test-rights"):
            servers.append(stack.enter_context(socket.socket(socket.AF_UNIX)))
            servers[-1].bind(address)
            servers[-1].listen()
        for path in (folder, *folder.iterdir()):
            os.chown(path, user, user)
        process = subprocess.Popen(
            ["/bin/sleep", "600"], env={"SECRET": "very secret"}, user=user if os.geteuid() == 0 else None
        )
        stack.callback(process.wait)
        stack.callback(process.kill)
        database = connection.settings_dict
        postgres = f"{database['HOST']}/.s.PGSQL.{database['PORT'] or 5432}"
        given = {
            "folder": str(folder),
            "secret_key": str(folder / "secret_key"),
            "database_password": str(folder / "database_password"),
            "port": servers[0].getsockname()[1],
            "sockets": [str(folder / "socket"), *([postgres] if postgres.startswith("/") else [])],
            "abstract": "sage-test-rights",
            "pid": process.pid,
        }
        yield Target(folder=folder, servers=tuple(servers), process=process, given=given)


@contextmanager
def host_of(
    module: str, limits: Limits, *, is_root: bool, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ProcessHost]:
    """Make a host whose template runs as root or as another user, which has what it needs by then."""
    if os.geteuid() == 0 and not is_root:
        become = (
            "import importlib, os, sys; sys.path.insert(0, sys.argv[1]); "
            "from coaching.sandbox import template; importlib.import_module(sys.argv[2]); "
            f"os.setgroups([]); os.setgid({ORDINARY_USER}); os.setuid({ORDINARY_USER}); "
            "template.main(*sys.argv[2:])"
        )
        monkeypatch.setattr(template_process, "CODE", become)
    host = ProcessHost(f"tests.sandbox.attacked.{module}", limits, slots=1)
    try:
        yield host
    finally:
        host.close()


def asked(host: ProcessHost, kind: Kind, body: bytes) -> bytes:
    if not kind.is_stream:
        return host.ask(kind.head, [body], len(body), seconds=60)
    with tempfile.TemporaryFile() as file:
        file.write(body)
        file.seek(0)
        with host.open(file, kind.head) as reading_file:
            answer = reading_file.next(seconds=60)
            assert answer is not None
            return answer


@pytest.mark.parametrize("is_root", [AS_ROOT, pytest.param(False, id="ordinary")])
@pytest.mark.parametrize("name", KINDS)
def test_native_code_in_a_reader_is_refused_everything_by_the_kernel(
    name: str, is_root: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KINDS[name]
    if name == "recognition":
        require_recognition(monkeypatch)
    if name == "speech":
        require_group("voice")
    user = os.geteuid() if is_root or os.geteuid() else ORDINARY_USER
    with (
        target_of(user) as target,
        host_of(name, kind.limits, is_root=is_root, monkeypatch=monkeypatch) as host,
    ):
        told = json.loads(asked(host, kind, BEGIN + json.dumps(target.given).encode()))
        errors = {what: number for what, number in told["errors"].items() if number != -1}
        assert len(errors) > (165 if platform.machine() == "x86_64" else 150)
        assert {what: os.strerror(number) for what, number in errors.items() if number not in REFUSALS} == {}
        assert target.process.poll() is None
        assert sorted(path.name for path in target.folder.iterdir()) == [
            "database_password",
            "secret_key",
            "socket",
        ]
        assert (target.folder / "secret_key").read_text() == "very secret"
        for server in target.servers:
            server.setblocking(False)
            with pytest.raises(BlockingIOError):
                server.accept()
        facts = told["facts"]
        expected_user = rights.FIRST_USER if is_root else ORDINARY_USER if os.geteuid() == 0 else os.geteuid()
        assert (facts["user"] >= expected_user) if is_root else (facts["user"] == expected_user)
        assert facts["environment"] == {}
        assert facts["descriptors"] == ([0, 1, 3] if kind.is_stream else [0, 1])
        assert not facts["modules"], "it has loaded Django"
        assert kind.told in asked(host, kind, kind.body), "it still reads"


def test_what_is_refused_to_a_reader_works_elsewhere() -> None:
    """The attempts are real: unrestricted, the same calls succeed."""
    code = (
        "import json, sys; from tests.sandbox.attacks import attempts; names = set(sys.argv[2].split(',')); "
        "target = json.loads(sys.argv[1]); "
        "print(json.dumps({name: attempt() for name, attempt in attempts(target) if name in names}))"
    )
    names = [
        "openat secret_key", "openat database_password", "stat secret_key", "openat2 secret_key", "create",
        "mkdir", "/proc mem", "/proc environ", "kill 0", "kill 10", "TCP", "abstract", "memfd", "new code",
        "pidfd_open", "truncate secret_key", "unlinkat secret_key", "dup", "pipe", "epoll", "inotify", "list",
    ]  # fmt: skip
    with target_of(os.geteuid()) as target:
        names += [f"Unix {path}" for path in target.given["sockets"]]
        found = subprocess.run(
            [sys.executable, "-c", code, json.dumps(target.given), ",".join(names)],
            capture_output=True, text=True, check=True, cwd=PROJECT,
        )  # fmt: skip
    errors = json.loads(found.stdout)
    assert {name: error for name, error in errors.items() if error} == {}
    assert set(errors) == set(names)


@pytest.mark.skipif(os.geteuid() != 0, reason="the suite isn't run by root")
def test_landlock_and_another_user_protect_what_they_can_by_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(layers, "_missing", {})
    kind = KINDS["documents"]
    with (
        target_of(ORDINARY_USER) as target,
        host_of("unfiltered", kind.limits, is_root=False, monkeypatch=monkeypatch) as host,
    ):
        given = {
            **target.given,
            "names": ["openat", "truncate", "unlinkat", "create", "kill 10", "TCP", "abstract"],
        }
        told = json.loads(asked(host, kind, BEGIN + json.dumps(given).encode()))
        refused = REFUSALS | {errno.EMFILE}
        assert {
            what: os.strerror(error) for what, error in told["errors"].items() if error not in refused
        } == {}
        assert len(told["errors"]) >= 10
        assert target.process.poll() is None


def test_every_host_of_the_product_is_attacked() -> None:
    hosts = {
        str(path.relative_to(PROJECT / "coaching"))
        for path in (PROJECT / "coaching").rglob("*.py")
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ProcessHost"
    }
    assert hosts == {kind.file for kind in KINDS.values()}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="this processor has no 32-bit calls")
def test_a_call_of_another_architecture_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from tests.sandbox.attacked import foreign; print(foreign.answer(b'', b''))"
    if subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, cwd=PROJECT).returncode:
        pytest.skip("this kernel runs no 32-bit programs")
    with (
        host_of("foreign", KINDS["documents"].limits, is_root=True, monkeypatch=monkeypatch) as host,
        pytest.raises(NotAnswered) as caught,
    ):
        host.ask(b"", [], 0)
    assert not caught.value.is_too_costly


def test_what_the_kernel_refuses_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(layers, "_missing", {})
    limits = KINDS["documents"].limits
    with host_of("unfiltered", limits, is_root=True, monkeypatch=monkeypatch) as host:
        for _ in range(3):
            host.ask(b"a.txt", [b"A lease"], 7)
    told = [
        record.getMessage() for record in caplog.records if "sandbox_layer_missing" in record.getMessage()
    ]
    assert len(told) == 1
    assert "seccomp" in told[0]
    assert layers.known_missing() == ("seccomp",)
