"""Scripted replies for tests.

A `Reply` describes meaning (text, a note, a call); its form on the wire depends on the request's thinking
settings and is decided in `wire.py`.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

StopReason = Literal[
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
]


@dataclass(frozen=True, slots=True)
class Text:
    """Text of the answer. Between two calls, current models send it as a note."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning before the answer; its text is only shown if the request asks for summaries."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """Progress text between calls: in a thinking block if the model thinks, otherwise text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call. `input_json` replaces the streamed JSON, valid or not.

    `is_cut`: only the first half of the JSON is sent, and nothing of the reply after it.
    """

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    input_json: str | None = None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """A point where the stream waits until `PracticeServer.release(gate)`."""

    gate: str


Block = Text | Thinking | Note | ToolUse | Hold


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model.

    `stop_reason` follows from the blocks if it is None. `tokens_per_second` (0: no delay),
    `first_token_seconds` and `chunk_characters` override the server's pace.
    """

    blocks: tuple[Block, ...]
    stop_reason: StopReason | None = None
    tokens_per_second: float | None = None
    first_token_seconds: float | None = None
    chunk_characters: int | None = None

    @classmethod
    def of(cls, *blocks: Block | str, **options: Any) -> "Reply":
        """Build a reply from its blocks in order; a string is a `Text`."""
        built = tuple(Text(block) if isinstance(block, str) else block for block in blocks)
        return cls(built, **options)

    @property
    def words(self) -> str:
        """Return what it says."""
        return "\n\n".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        """Return the calls in order."""
        return tuple(block for block in self.blocks if isinstance(block, ToolUse))


class ScriptBook:
    """Queued replies, some for one conversation only."""

    def __init__(self) -> None:
        self._queues: dict[str, deque[Reply]] = {}

    def push(self, replies: Iterable[Reply | str], key: str = "") -> None:
        """Queue replies in order; with a `key` only for requests whose newest text contains it."""
        queue = self._queues.setdefault(key, deque())
        queue.extend(Reply.of(reply) if isinstance(reply, str) else reply for reply in replies)

    def next_reply(self, last_user_text: str, *, is_kept: bool = False) -> Reply | None:
        """Return the next reply for a request, or None if the coach should answer.

        `is_kept` leaves it in its queue, because the client will retry.
        """
        for key in self._keys_for(last_user_text):
            queue = self._queues[key]
            if queue:
                return queue[0] if is_kept else queue.popleft()
        return None

    def clear(self) -> None:
        """Delete all queued replies."""
        self._queues.clear()

    def _keys_for(self, last_user_text: str) -> Sequence[str]:
        """Return the queues to check: those with a key first, the common one last."""
        keyed = [key for key in self._queues if key and key in last_user_text]
        return [*keyed, ""] if "" in self._queues else keyed
