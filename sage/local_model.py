"""llama.cpp's server as a child of `up`, like the embedded PostgreSQL.

It runs as long as `up`. If it dies, it is started again at the same address with the same key, so that
nothing else has to know. Its address stands in the data folder: other commands use the same server meanwhile.
Importing this starts nothing.
"""

import json
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Self

import psutil

from coaching.sandbox.limits import MEGABYTE
from sage.env import Environment, StartError
from sage.postgres_account import child_environment

PROGRAM = "sage.llama_server"
CONTEXT_TOKENS = 32_768
"""What a model is loaded with, unless it reads less: memory grows with it."""
PROGRESS_SECONDS = 5.0
STOP_SECONDS = 5.0
LIVED_SECONDS = 60.0
"""A server that was started again and dies sooner than that would die again."""
NOT_SERVED = "http://127.0.0.1:9"  # the discard service
MAX_LOG_BYTES = 20_000

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a model server listens, with the key that it asks for."""

    url: str
    api_key: str


def check_model_file(path: Path) -> None:
    """Check that a file can be a model. Raises `StartError`."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except FileNotFoundError:
        raise StartError(f"there is no model file {path}: give the path of a GGUF file.") from None
    except IsADirectoryError:
        raise StartError(f"{path} is a folder: give the path of a GGUF file.") from None
    except OSError as error:
        raise StartError(f"the model file {path} can't be read ({error.strerror}).") from None
    if magic != b"GGUF":
        raise StartError(
            f"{path} is no GGUF file: give a model in that format, or name the server that "
            "runs yours in ANTHROPIC_BASE_URL (docs/models.md)."
        )
    if find_spec("xllamacpp") is None:
        raise StartError(
            "llama.cpp isn't installed: start Sage with "
            f"`uv run --extra local manage.py up --model-file {path}`."
        )


@dataclass(kw_only=True)
class LocalModel:
    """A model file behind its server. `warn` gets a sentence when the server has died."""

    path: Path
    data_dir: Path
    warn: Say
    context_tokens: int | None = None
    _api_key: str = field(default_factory=secrets.token_urlsafe)
    _port: int = 0
    _child: "subprocess.Popen[str] | None" = None
    _is_ending: bool = False
    _began: float = 0.0

    def __enter__(self) -> Self:
        """Begin to load the model. Raises `StartError`."""
        check_model_file(self.path)
        self._launch()
        return self

    def wait(self, say: Say) -> Address:
        """Wait until the model is loaded, and say how long that takes. Raises `StartError`."""
        size = self.path.stat().st_size / MEGABYTE
        say(f"Loading the model {self.path.name} ({size:,.0f} MB) …")
        telling = threading.Event()

        def tell() -> None:
            while not telling.wait(PROGRESS_SECONDS):
                say(f"  still loading after {time.monotonic() - self._began:.0f} s")

        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        try:
            address = self._listen()
        finally:
            telling.set()
            teller.join()
        say(f"The model is loaded after {time.monotonic() - self._began:.1f} s.")
        threading.Thread(target=self._watch, name="watch the model's server", daemon=True).start()
        return address

    def __exit__(self, *_: object) -> None:
        self._is_ending = True
        _address_file(self.data_dir).unlink(missing_ok=True)
        if self._child is not None:
            _end(self._child)

    @property
    def log(self) -> Path:
        return self.data_dir / "model_server.log"

    def _launch(self) -> None:
        self._began = time.monotonic()
        options = {
            "path": str(self.path),
            "name": self.path.stem,
            "port": self._port,
            "api_key": self._api_key,
            "context_tokens": self.context_tokens or CONTEXT_TOKENS,
        }
        with _private(self.log) as log:
            self._child = subprocess.Popen(
                [sys.executable, "-m", PROGRAM],
                cwd=Path(__file__).resolve().parents[1],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=child_environment(),
                # Ctrl-C in the terminal is for `up`, which ends it.
                start_new_session=True,
            )
        assert self._child.stdin is not None
        with suppress(BrokenPipeError):  # it has ended: `_listen` says why
            self._child.stdin.write(json.dumps(options) + "\n")
            self._child.stdin.flush()

    def _listen(self) -> Address:
        assert self._child is not None
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise StartError(self._why_it_ended(self._child.wait()))
        url: str = json.loads(line)["url"]
        self._port = int(url.rpartition(":")[2])
        address = Address(url=url, api_key=self._api_key)
        _store_address(self.data_dir, address, pid=self._child.pid)
        return address

    def _watch(self) -> None:
        """Start the server again when it dies, unless it did so soon after that before."""
        was_restarted = False
        while self._child is not None:
            code = self._child.wait()
            if self._is_ending:
                return
            if was_restarted and time.monotonic() - self._began < LIVED_SECONDS:
                self.warn(
                    f"The model's server has ended again; restart Sage. Why: {self._why_it_ended(code)}"
                )
                return
            self.warn("The model's server has ended and is started again: answers wait for it.")
            was_restarted = True
            self._launch()
            try:
                self._listen()
            except StartError as error:
                self.warn(f"The model's server can't be started again; restart Sage. Why: {error}")
                return

    def _why_it_ended(self, code: int) -> str:
        if code == -9:
            return (
                f"the system has ended the server of {self.path.name}, probably because memory ran out: use "
                "a smaller model, or a smaller SAGE_CONTEXT_TOKENS."
            )
        if reason := _reason_in(self.log):
            return (
                f"llama.cpp can't load {self.path.name} ({reason}): get the file again, or another one; "
                f"see {self.log}."
            )
        return f"the server of {self.path.name} has ended (code {code}): see {self.log}."


def choose_server(environment: Environment) -> Address:
    """Return the server to use: that of the model file, otherwise the one that is set.

    While no `up` serves the file, the address is one where nothing answers; `up` replaces it.
    """
    if environment.model_file is None:
        return Address(url=environment.anthropic_base_url, api_key=environment.anthropic_api_key)
    return running_model(environment.data_dir) or Address(url=NOT_SERVED, api_key="")


def running_model(data_dir: Path) -> Address | None:
    """Return the address of the model server that an `up` with this data folder runs now."""
    try:
        stored = json.loads(_address_file(data_dir).read_text(encoding="utf-8"))
        process = psutil.Process(stored["pid"])
        is_it = process.status() != psutil.STATUS_ZOMBIE and PROGRAM in process.cmdline()
    except (OSError, ValueError, psutil.Error):
        return None
    return Address(url=stored["url"], api_key=stored["api_key"]) if is_it else None


def _store_address(data_dir: Path, address: Address, *, pid: int) -> None:
    with _private(_address_file(data_dir)) as file:
        file.write(json.dumps({"url": address.url, "api_key": address.api_key, "pid": pid}))


def _address_file(data_dir: Path) -> Path:
    return data_dir / "model_server.json"


def _private(path: Path) -> IO[str]:
    """Open a file anew that only its owner may read."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")


def _reason_in(log: Path) -> str:
    """Return llama.cpp's reason for not loading a model."""
    text = log.read_bytes()[-MAX_LOG_BYTES:].decode(errors="replace")
    _, _, found = text.partition("error loading model:")
    return found.partition("\n")[0].strip().rstrip(".")


def _end(child: "subprocess.Popen[str]") -> None:
    assert child.stdin is not None
    with suppress(BrokenPipeError):
        child.stdin.close()
    try:
        child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
