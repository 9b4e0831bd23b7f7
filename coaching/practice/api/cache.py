"""Prompt-cache accounting by comparing real prefixes.

Each breakpoint writes an entry, which only hits if the same model and key send the same blocks from the
start. A breakpoint looks back at most 20 blocks. Only digests are stored, no content.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

import orjson

from coaching.practice.api.prefix import Json, Unit, extend_digest

LOOK_BACK_BLOCKS = 20
TTL_SECONDS = {"5m": 300.0, "1h": 3600.0}
MAX_ENTRIES = 20_000

Ttl = Literal["5m", "1h"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheShare:
    """How a request's input tokens divide; their sum is the whole input."""

    input_tokens: int
    cache_read_tokens: int = 0
    cache_5m_tokens: int = 0
    cache_1h_tokens: int = 0

    def usage(self) -> dict[str, Any]:
        """Return the input side of the API's usage object."""
        return {
            "input_tokens": self.input_tokens,
            "cache_creation_input_tokens": self.cache_5m_tokens + self.cache_1h_tokens,
            "cache_read_input_tokens": self.cache_read_tokens,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.cache_5m_tokens,
                "ephemeral_1h_input_tokens": self.cache_1h_tokens,
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Breakpoint:
    position: int
    ttl: Ttl


@dataclass(slots=True)
class _Entry:
    expires_at: float
    ttl_seconds: float


class PromptCache:
    """The cache of one server: prefix digests with their expiry.

    `clock` returns monotonic seconds.
    """

    def __init__(self, minimum_tokens: int = 1024, clock: Callable[[], float] = time.monotonic) -> None:
        self._minimum_tokens = minimum_tokens
        self._clock = clock
        self._entries: dict[bytes, _Entry] = {}

    def account(self, body: Json, units: Sequence[Unit], tokens: Sequence[int], api_key: str) -> CacheShare:
        """Look up the request, write its breakpoints, and divide its input tokens: so many for each unit."""
        ends = list(accumulate(tokens))
        total = ends[-1] if ends else 0
        marks = [mark for mark in _breakpoints(body, units) if self._is_long(ends[mark.position])]
        if not marks:
            return CacheShare(input_tokens=total)
        digests = _digests(body, units, api_key)
        read = self._find(digests, marks)
        self._write(digests, marks)
        return _divide(ends, marks, read)

    def _is_long(self, tokens: int) -> bool:
        return tokens >= self._minimum_tokens

    def _find(self, digests: Sequence[bytes], marks: Sequence[_Breakpoint]) -> int:
        """Return the position of the longest known prefix, or -1; a hit renews it."""
        now = self._clock()
        for mark in reversed(marks):
            for position in range(mark.position, max(-1, mark.position - LOOK_BACK_BLOCKS), -1):
                entry = self._entries.get(digests[position])
                if entry is not None and entry.expires_at > now:
                    entry.expires_at = now + entry.ttl_seconds
                    return position
        return -1

    def _write(self, digests: Sequence[bytes], marks: Sequence[_Breakpoint]) -> None:
        now = self._clock()
        if len(self._entries) > MAX_ENTRIES:
            self._entries = {key: entry for key, entry in self._entries.items() if entry.expires_at > now}
        for mark in marks:
            seconds = TTL_SECONDS[mark.ttl]
            known = self._entries.get(digests[mark.position])
            if known is not None and known.expires_at > now:
                seconds = max(seconds, known.ttl_seconds)
            self._entries[digests[mark.position]] = _Entry(now + seconds, seconds)


def _divide(ends: Sequence[int], marks: Sequence[_Breakpoint], read: int) -> CacheShare:
    """Charge every new segment at the rate of the breakpoint that ends it."""
    read_tokens = ends[read] if read >= 0 else 0
    written = {"5m": 0, "1h": 0}
    done = read_tokens
    for mark in marks:
        if ends[mark.position] > done:
            written[mark.ttl] += ends[mark.position] - done
            done = ends[mark.position]
    return CacheShare(
        input_tokens=ends[-1] - done,
        cache_read_tokens=read_tokens,
        cache_5m_tokens=written["5m"],
        cache_1h_tokens=written["1h"],
    )


def _breakpoints(body: Json, units: Sequence[Unit]) -> list[_Breakpoint]:
    """Return the explicit breakpoints and the automatic one, in order, one per position."""
    found: dict[int, Ttl] = {}
    for position, unit in enumerate(units):
        control = unit.block.get("cache_control") or _inner_control(unit.block)
        if control:
            found[position] = control.get("ttl", "5m")
    automatic = body.get("cache_control")
    if automatic:
        last = _last_cacheable(units)
        if last is not None:
            found.setdefault(last, automatic.get("ttl", "5m"))
    return [_Breakpoint(position=position, ttl=found[position]) for position in sorted(found)]


def _inner_control(block: Json) -> Json | None:
    """Return the marker inside a tool result's content: it counts for the whole result."""
    content = block.get("content")
    if block.get("type") != "tool_result" or not isinstance(content, list):
        return None
    return next((part["cache_control"] for part in content if part.get("cache_control")), None)


def _last_cacheable(units: Sequence[Unit]) -> int | None:
    for position in range(len(units) - 1, -1, -1):
        if not units[position].is_thinking:
            return position
    return None


def _digests(body: Json, units: Sequence[Unit], api_key: str) -> list[bytes]:
    """Return the digest of the prefix that ends with each block.

    Settings that invalidate only the messages' part of the cache are added where the messages start: the tool
    choice, the kind of thinking, and whether there are images.
    """
    digests: list[bytes] = []
    digest = extend_digest(b"", orjson.dumps([api_key, body["model"]]))
    has_messages_begun = False
    for unit in units:
        if unit.section == "messages" and not has_messages_begun:
            has_messages_begun = True
            digest = extend_digest(digest, _messages_settings(body, units))
        digest = extend_digest(digest, unit.content)
        digests.append(digest)
    return digests


def _messages_settings(body: Json, units: Sequence[Unit]) -> bytes:
    has_images = any(_has_image(unit.block) for unit in units if unit.section == "messages")
    thinking = (body.get("thinking") or {}).get("type")
    return orjson.dumps([body.get("tool_choice"), thinking, has_images])


def _has_image(block: Json) -> bool:
    content = block.get("content")
    if block.get("type") == "tool_result" and isinstance(content, list):
        return any(part.get("type") == "image" for part in content)
    return block.get("type") == "image"
