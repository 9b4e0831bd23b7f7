"""Encodes texts as vectors, with the model that `SAGE_EMBEDDING_MODEL` names and the extra `semantic`.

A process of its own holds the model: it starts when something is first encoded, and ends with ours. It isn't
one of `coaching.sandbox.host`: what it reads is text that people wrote, in no format that needs a parser, and
the model's libraries start threads and read the model's files when they are first used.
"""

import atexit
import json
import os
import queue
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import structlog
from django.conf import settings

from coaching.sandbox.environment import worker_environment

logger = structlog.get_logger(__name__)

Vector = Sequence[float]

RETRY_SECONDS = 300.0
"""After which a process that has ended is started again."""
MAX_WAITING = 50
"""Requests: more would only wait too long, and fill the pipe."""
FORM = 1
"""Part of a model's key. Change it when texts are prepared otherwise, so that all are encoded again."""

_WORKER = Path(__file__).with_name("encoder_worker.py")
_PACKAGES = ("sentence_transformers", "torch")


class NotEncoded(Exception):
    """The encoder's process ended, or couldn't load the model."""


class Encoder(Protocol):
    """Encodes texts as vectors of length 1. `key` tells the vectors of one model from those of another."""

    key: int

    def begin(self, texts: Sequence[str]) -> "Future[Sequence[Vector]] | None":
        """Begin to encode texts; None while that can't be done. The future may raise `NotEncoded`."""
        ...


class ModelEncoder:
    """Encodes in a child process. Thread-safe; requests are answered in their order."""

    def __init__(self, model: str, *, niceness: int = 0) -> None:
        self.key = zlib.crc32(f"{FORM} {model}".encode()) - 2**31
        self._model = model
        self._niceness = niceness
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._waiting: queue.SimpleQueue[Future[Sequence[Vector]]] = queue.SimpleQueue()
        self._loaded: Future[Sequence[Vector]] = Future()
        self._started_at = -RETRY_SECONDS

    def begin(self, texts: Sequence[str]) -> "Future[Sequence[Vector]] | None":
        """Begin to encode; None until the model is loaded, which the first call starts."""
        with self._lock:
            self._start()
            if self._process is None or not self._is_loaded() or self._waiting.qsize() >= MAX_WAITING:
                return None
            return self._send(self._process, texts)

    def wait_until_loaded(self, *, seconds: float) -> bool:
        """Load the model, and return whether it is loaded by then."""
        with self._lock:
            self._start()
            loaded = self._loaded
        try:
            loaded.result(seconds)
        except (NotEncoded, TimeoutError):
            return False
        return bool(self.pids())

    def close(self) -> None:
        """End the process; a later call starts it again."""
        with self._lock:
            process, self._process = self._process, None
            self._started_at = -RETRY_SECONDS
        if process is not None:
            process.kill()

    def pids(self) -> Sequence[int]:
        """Return the id of its process, if it runs."""
        process = self._process
        return [process.pid] if process else []

    def _is_loaded(self) -> bool:
        return self._loaded.done() and self._loaded.exception() is None

    def _start(self) -> None:
        """Start the process unless it runs or ended lately."""
        if self._process is not None or time.monotonic() < self._started_at + RETRY_SECONDS:
            return
        self._started_at = time.monotonic()
        # A separate session: Ctrl-C in the terminal is for us. The process ends when its input does.
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_WORKER), self._model],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=worker_environment(),
            start_new_session=True,
            text=True,
        )
        os.setpriority(os.PRIO_PROCESS, self._process.pid, self._niceness)
        self._loaded, self._waiting = Future(), queue.SimpleQueue()
        self._waiting.put(self._loaded)
        threading.Thread(
            target=self._read_answers, args=(self._process, self._waiting), name="encoder", daemon=True
        ).start()

    def _send(
        self, process: "subprocess.Popen[str]", texts: Sequence[str]
    ) -> "Future[Sequence[Vector]] | None":
        assert process.stdin is not None
        answer: Future[Sequence[Vector]] = Future()
        answer.set_running_or_notify_cancel()  # who no longer waits must not cancel what is answered in order
        self._waiting.put(answer)
        try:
            process.stdin.write(json.dumps(list(texts)) + "\n")
            process.stdin.flush()
        except OSError:  # it has just ended
            return None
        return answer

    def _read_answers(
        self, process: "subprocess.Popen[str]", waiting: "queue.SimpleQueue[Future[Sequence[Vector]]]"
    ) -> None:
        """Give each line to who waits for it, in order; in the end nobody waits any more."""
        assert process.stdout is not None
        with suppress(OSError), process:  # closes its pipes
            for line in process.stdout:
                waiting.get().set_result(json.loads(line))
            with self._lock:  # nobody sends to it from now on
                if self._process is process:
                    self._process = None
                    logger.warning("encoder_ended")
        while not waiting.empty():
            waiting.get().set_exception(NotEncoded())


_shared: dict[str, ModelEncoder] = {}
_sharing = threading.Lock()


def configured_encoder() -> ModelEncoder | None:
    """Return this process's encoder for the configured model; None where recall goes by words alone."""
    model: str = settings.SAGE_EMBEDDING_MODEL
    if not (model and has_packages()):
        return None
    with _sharing:
        if model not in _shared:
            _shared[model] = ModelEncoder(model)
            atexit.register(_shared[model].close)
        return _shared[model]


@cache
def has_packages() -> bool:
    """Say whether the extra `semantic` is installed."""
    return all(find_spec(name) for name in _PACKAGES)
