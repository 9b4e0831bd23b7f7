"""What a test wants the model to say, reply by reply.

A `Reply` is written in terms of meaning (text, a note, a call); how it looks on the wire depends on
the request's thinking settings and is `wire.py`'s concern.
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
    """Words of the answer. Between two calls a current model sends them as a note."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning before the answer; its text shows only where the request asks for summaries."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A word on progress between calls: in a thinking block where the model thinks, else text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call. `input_json` replaces the JSON that is streamed for it, broken or not.

    `is_cut`: only the first half of the JSON is sent, and nothing of the reply after it.
    """

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    input_json: str | None = None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """A place where the stream waits until `PracticeServer.release(gate)`."""

    gate: str


Block = Text | Thinking | Note | ToolUse | Hold


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model.

    `stop_reason` follows from the blocks when it is None. `tokens_per_second` (0: no delay),
    `first_token_seconds` and `chunk_characters` replace the server's own pace.
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
    def calls(self) -> tuple[ToolUse, ...]:
        """Return the calls in order."""
        return tuple(block for block in self.blocks if isinstance(block, ToolUse))


class ScriptBook:
    """The replies that tests have queued, some of them for one conversation only."""

    def __init__(self) -> None:
        self._queues: dict[str, deque[Reply]] = {}

    def push(self, replies: Iterable[Reply | str], key: str = "") -> None:
        """Queue replies in order; with a `key` only for requests whose newest words contain it."""
        queue = self._queues.setdefault(key, deque())
        queue.extend(Reply.of(reply) if isinstance(reply, str) else reply for reply in replies)

    def next_reply(self, last_user_text: str, *, is_kept: bool = False) -> Reply | None:
        """Return the next reply for a request, or None when the coach should answer.

        `is_kept` leaves it in its queue: the client will have to ask again.
        """
        for key in self._keys_for(last_user_text):
            queue = self._queues[key]
            if queue:
                return queue[0] if is_kept else queue.popleft()
        return None

    def clear(self) -> None:
        """Forget all that is queued."""
        self._queues.clear()

    def _keys_for(self, last_user_text: str) -> Sequence[str]:
        """Return the queues to look in: those with a key first, the common one last."""
        keyed = [key for key in self._queues if key and key in last_user_text]
        return [*keyed, ""] if "" in self._queues else keyed
