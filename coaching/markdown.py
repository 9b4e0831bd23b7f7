"""Markdown for pages and stream: rendered and sanitised in worker processes, in bounded time.

A text of a few kilobytes can keep a markdown parser busy for ten seconds, so no parser runs in this process:
a worker that isn't done in time is killed and its text is shown plain. Nothing here may render by itself.
"""

import asyncio
import atexit
import hashlib
import os
import queue
import select
import struct
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import structlog
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

RENDER_SECONDS = 2.0
MAX_CHARACTERS = 200_000
WORKER_COUNT = 2
CACHED_CHARACTERS = 16 * 1024 * 1024

_LENGTH = struct.Struct("!I")
_WORKER = Path(__file__).with_name("markdown_worker.py")
_READ_BYTES = 1 << 16

logger = structlog.get_logger(__name__)


class RenderTimeoutError(Exception):
    """The worker wasn't done in time, or died of the text. It is gone; the next text gets a new one."""


class _Worker:
    """One worker process. Used by one thread at a time."""

    def __init__(self) -> None:
        # A session of its own: Ctrl-C in the terminal is for us, who then close it.
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def render(self, text: str, *, deadline: float) -> str:
        """Return the HTML of `text`. Raises `RenderTimeoutError` after `deadline` (monotonic seconds)."""
        body = text.encode("utf-8", "replace")
        pending = _LENGTH.pack(len(body)) + body
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            _write(self._process.stdin.fileno(), pending, deadline)
            answer = self._process.stdout.fileno()
            (length,) = _LENGTH.unpack(_read(answer, _LENGTH.size, deadline))
            return _read(answer, length, deadline).decode()
        except OSError as error:
            raise RenderTimeoutError from error

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            _close_quietly(pipe.close)


def _close_quietly(close: Callable[[], None]) -> None:
    try:
        close()
    except OSError:
        return


def _wait(descriptor: int, event: int, deadline: float) -> None:
    left = deadline - time.monotonic()
    poll = select.poll()
    poll.register(descriptor, event)
    if left <= 0 or not poll.poll(left * 1000):
        raise RenderTimeoutError


def _write(descriptor: int, data: bytes, deadline: float) -> None:
    view = memoryview(data)
    while view:
        _wait(descriptor, select.POLLOUT, deadline)
        # At most what a pipe takes without blocking once it says that it is writable.
        view = view[os.write(descriptor, view[: select.PIPE_BUF]) :]


def _read(descriptor: int, size: int, deadline: float) -> bytes:
    parts: list[bytes] = []
    while size:
        _wait(descriptor, select.POLLIN, deadline)
        part = os.read(descriptor, min(size, _READ_BYTES))
        if not part:
            raise RenderTimeoutError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class MarkdownRenderer:
    """A few workers and a cache of what they made. Safe to use from any thread."""

    def __init__(self, *, worker_count: int = WORKER_COUNT, seconds: float = RENDER_SECONDS) -> None:
        self._seconds = seconds
        # None is a worker to be started when it is needed.
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(worker_count):
            self._idle.put(None)
        self._worker_count = worker_count
        self._cache: OrderedDict[bytes, SafeString] = OrderedDict()
        self._cached_characters = 0
        self._lock = threading.Lock()
        self._is_closed = False
        self.threads = ThreadPoolExecutor(max_workers=worker_count, thread_name_prefix="markdown")

    def warm(self) -> None:
        """Start the workers, so that the first reader doesn't wait for them."""
        idle = [self._idle.get() for _ in range(self._worker_count)]
        for worker in idle:
            self._idle.put(worker or _Worker())

    def cached(self, text: str) -> SafeString | None:
        """Return what was made of this text before, if it is still here."""
        with self._lock:
            markup = self._cache.get(_key(text))
            if markup is not None:
                self._cache.move_to_end(_key(text))
            return markup

    def render(self, text: str) -> SafeString:
        """Render markdown as sanitised HTML; what takes too long comes back as plain text, escaped."""
        if not text.strip():
            return SafeString("")
        if (markup := self.cached(text)) is not None:
            return markup
        markup = self._render_or_plain(text)
        with self._lock:
            if _key(text) not in self._cache:
                self._cache[_key(text)] = markup
                self._cached_characters += len(markup)
            while self._cached_characters > CACHED_CHARACTERS:
                self._cached_characters -= len(self._cache.popitem(last=False)[1])
        return markup

    def _render_or_plain(self, text: str) -> SafeString:
        if len(text) > MAX_CHARACTERS:
            return plain_text(text)
        deadline = time.monotonic() + self._seconds
        try:
            worker = self._idle.get(timeout=self._seconds)
        except queue.Empty:
            return plain_text(text)
        try:
            worker = worker or _Worker()
            # Sanitised by the worker: the one place where markup of a text is trusted.
            return mark_safe(worker.render(text, deadline=deadline))  # noqa: S308
        except RenderTimeoutError:
            logger.warning("markdown_shown_plain", characters=len(text))
            if worker:
                worker.close()
            worker = None
            return plain_text(text)
        finally:
            if worker and self._is_closed:
                worker.close()
                worker = None
            self._idle.put(worker)

    def close(self) -> None:
        """End the workers. A later text starts a new one, which ends with its text."""
        self._is_closed = True
        self.threads.shutdown(wait=False, cancel_futures=True)
        for _ in range(self._worker_count):
            try:
                worker = self._idle.get_nowait()
            except queue.Empty:
                return
            if worker:
                worker.close()
            self._idle.put(None)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def plain_text(text: str) -> SafeString:
    """Return a text as it is, escaped."""
    return format_html('<p class="plain">{}</p>', text)


_renderer = MarkdownRenderer()
atexit.register(_renderer.close)


def warm_markdown() -> None:
    """Start the workers of this process ahead of the first text."""
    _renderer.warm()


def render_markdown(text: str) -> SafeString:
    """Render markdown as sanitised HTML, in at most `RENDER_SECONDS`, else as escaped plain text."""
    return _renderer.render(text)


async def render_markdown_async(text: str) -> SafeString:
    """Do the same without holding the event loop up."""
    if (markup := _renderer.cached(text)) is not None:
        return markup
    return await asyncio.get_running_loop().run_in_executor(_renderer.threads, _renderer.render, text)
