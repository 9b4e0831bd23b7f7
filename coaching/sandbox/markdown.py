"""Markdown for pages and stream: rendered and sanitised in processes without rights, in bounded time.

A few kilobytes can keep a markdown parser busy for ten seconds, so no parser runs in this process: one that
isn't done in time is killed and its text is shown plain.
"""

import hashlib
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from html import unescape

import structlog
from django.utils.html import escape, format_html, strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from coaching.sandbox.blocks import Block, split_blocks
from coaching.sandbox.errors import AllBusy, NotAnswered
from coaching.sandbox.host import ProcessHost
from coaching.sandbox.leaving import through_page
from coaching.sandbox.limits import MEGABYTE, Limits

MAX_CHARACTERS = 200_000
CACHED_CHARACTERS = 16 * 1024 * 1024
SLOW_SECONDS = 300.0
SLOW_TEXTS = 1000

BLOCK_MARK = "\x1e"
ROW_MARK = "\x1f"
"""Stand before each block of a text that is rendered by block, and before the columns of a row of a table. No
text keeps these characters."""

_TABLE = 'aria-label="Table"><table>'
"""How the process names each table, in English."""

_HOST = re.compile(r'<bdi class="link-host">[^<]*+</bdi>')
"""The host after a link's words, as the process writes it."""

MODULE = "coaching.sandbox.markdown_worker"
LIMITS = Limits(
    memory_bytes=768 * MEGABYTE, cpu_seconds=60, seconds=2.0, answer_bytes=16 * MEGABYTE, requests=10_000
)
"""One process renders many texts, because a streamed reply is rendered block by block. What parses them is
Python, and what sanitises them Rust, so that no text can take a process over."""

logger = structlog.get_logger(__name__)


class MarkdownRenderer:
    """A host with a cache. Thread-safe.

    Only rendered texts are cached. A text that took too long isn't retried for `slow_seconds`; one that found
    every process busy is retried the next time.
    """

    def __init__(self, host: ProcessHost, *, slow_seconds: float = SLOW_SECONDS) -> None:
        self._host = host
        self._slow_seconds = slow_seconds
        self._cache: OrderedDict[bytes, SafeString] = OrderedDict()
        self._cached_characters = 0
        self._slow_until: OrderedDict[bytes, float] = OrderedDict()
        self._lock = threading.Lock()

    def render(self, text: str) -> SafeString:
        """Render markdown as sanitised HTML; a text that takes too long becomes escaped plain text."""
        return self.render_all([text])[text]

    def render_all(self, texts: Iterable[str], *, is_by_block: bool = False) -> Mapping[str, SafeString]:
        """Render all texts of a page within one time limit; each that takes too long is shown plain."""
        return self._rendered({text: _request_of(text, is_by_block=is_by_block) for text in texts})

    def render_blocks(self, blocks: Sequence[Block]) -> SafeString:
        """Render blocks that follow each other."""
        text = "\n".join(block.text for block in blocks)
        return self._rendered({text: _request_of_blocks(blocks)})[text]

    def _rendered(self, asked: Mapping[str, bytes]) -> Mapping[str, SafeString]:
        shown = {text: self._without_process(text, request) for text, request in asked.items()}
        missing = [text for text, markup in shown.items() if markup is None]
        answers = self._host.ask_all([asked[text] for text in missing]) if missing else []
        rendered = {
            text: self._taken(text, asked[text], answer)
            for text, answer in zip(missing, answers, strict=True)
        }
        return {
            text: _labelled(rendered[text] if markup is None else markup) for text, markup in shown.items()
        }

    def _without_process(self, text: str, request: bytes) -> SafeString | None:
        """Return what needs no process: an empty or cached text, or a known slow one as plain text."""
        if not text.strip():
            return SafeString("")
        key = _key_of(request)
        if (markup := self._cached(key)) is not None:
            return markup
        return plain_text(text) if len(text) > MAX_CHARACTERS or self._is_slow(key) else None

    def _taken(self, text: str, request: bytes, answer: bytes | NotAnswered | AllBusy) -> SafeString:
        if isinstance(answer, bytes):
            # Sanitised by the process: the only place that trusts a text's markup.
            markup = through_page(mark_safe(answer.decode()))  # noqa: S308 - the sanitiser wrote it
            self._keep(_key_of(request), markup)
            return markup
        is_slow = isinstance(answer, NotAnswered)
        logger.warning("markdown_shown_plain", characters=len(text), reason="slow" if is_slow else "busy")
        if is_slow:
            self._remember_slow(_key_of(request))
        return plain_text(text)

    def _cached(self, key: bytes) -> SafeString | None:
        with self._lock:
            markup = self._cache.get(key)
            if markup is not None:
                self._cache.move_to_end(key)
            return markup

    def _keep(self, key: bytes, markup: SafeString) -> None:
        with self._lock:
            if key not in self._cache:
                self._cache[key] = markup
                self._cached_characters += len(markup)
            while self._cached_characters > CACHED_CHARACTERS:
                self._cached_characters -= len(self._cache.popitem(last=False)[1])

    def _is_slow(self, key: bytes) -> bool:
        with self._lock:
            return self._slow_until.get(key, 0.0) > time.monotonic()

    def _remember_slow(self, key: bytes) -> None:
        with self._lock:
            self._slow_until[key] = time.monotonic() + self._slow_seconds
            self._slow_until.move_to_end(key)
            while len(self._slow_until) > SLOW_TEXTS:
                self._slow_until.popitem(last=False)


def _request_of(text: str, *, is_by_block: bool) -> bytes:
    """Return the request for a text: the text itself, or its blocks."""
    if is_by_block and len(text) <= MAX_CHARACTERS:
        return _request_of_blocks(split_blocks(text))
    return _without_marks(text).encode("utf-8", "replace")


def _request_of_blocks(blocks: Iterable[Block]) -> bytes:
    parts = []
    for block in blocks:
        columns = f"{ROW_MARK}{block.columns}\n" if block.columns else ""
        parts.append(f"{BLOCK_MARK}{columns}{_without_marks(block.text)}")
    return "".join(parts).encode("utf-8", "replace")


def _without_marks(text: str) -> str:
    return text.replace(BLOCK_MARK, " ").replace(ROW_MARK, " ")


def _key_of(request: bytes) -> bytes:
    return hashlib.blake2b(request, digest_size=16).digest()


def _labelled(markup: SafeString) -> SafeString:
    """Name tables in the reader's language; the cached markup names them in English.

    Text has its angle brackets escaped, so only a table's own wrapper is found.
    """
    if _TABLE not in markup:
        return markup
    label = escape(gettext("Table"))
    return mark_safe(markup.replace(_TABLE, _TABLE.replace("Table", label)))  # noqa: S308 - an escaped label in the sanitiser's markup


def plain_text(text: str) -> SafeString:
    return format_html('<p class="plain">{}</p>', text)


_host = ProcessHost(MODULE, LIMITS, slow_slots=2, has_spares=True)
_renderer = MarkdownRenderer(_host)


def warm_markdown() -> None:
    """Start this process's renderers before the first text."""
    _host.warm()


def render_markdown(text: str) -> SafeString:
    """Render markdown as sanitised HTML within two seconds, otherwise as escaped plain text. Blocks."""
    return _renderer.render(text)


def plain_words(texts: Iterable[str]) -> Mapping[str, str]:
    """Return the words of markdown texts on one line each, without marks. Blocks like `render_markdown`.

    There are no links in them, so no hosts after their words either.
    """
    rendered = _renderer.render_all(texts)
    return {
        text: " ".join(unescape(strip_tags(_HOST.sub("", markup))).split())
        for text, markup in rendered.items()
    }


def render_texts(texts: Iterable[str]) -> Mapping[str, SafeString]:
    """Render all texts of a page in one call, within two seconds in total. Blocks like `render_markdown`."""
    return _renderer.render_all(texts)


def render_replies(texts: Iterable[str]) -> Mapping[str, SafeString]:
    """Render replies of a page in one call, within two seconds in total, each of their blocks alone.

    Waits: read everything first.
    """
    return _renderer.render_all(texts, is_by_block=True)


def render_blocks(blocks: Sequence[Block]) -> SafeString:
    """Render blocks that were cut from a reply, as they stand in the whole of it. Waits."""
    return _renderer.render_blocks(blocks)
