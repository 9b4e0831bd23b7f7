"""Upstream failures that a test can inject.

A fault works on one of three levels: the HTTP response (`HTTP_KINDS`), the reply before it is written
(`reshape_reply`), or the events of its stream (the server's `spoil_frames`).
"""

from dataclasses import dataclass, replace
from typing import Literal

from coaching.practice.script import Hold, Note, Reply, StopReason, Text, Thinking, ToolUse

FaultKind = Literal[
    "status",  # an HTTP error response; `status`, `retry_after`, `message`
    "slow_start",  # the first byte comes after `seconds`
    "empty_body",  # 200 with an empty body
    "stall",  # silence at `place` for `seconds`, permanently if None
    "cut",  # the connection is closed at `place`, in the middle of an event
    "reset",  # the same with an RST
    "end_early",  # the body ends normally at `place`, but too early
    "broken_json",  # a line at `place` that isn't JSON
    "error_event",  # an `error` event at `place` (`status` says which), then the end
    "unknown_event",  # an unknown event type at `place`
    "changed_message_id",  # a second message_start at `place`, with another id
    "duplicate_message_start",  # the same message_start again at `place`
    "tool_use_without_block",  # stop_reason tool_use, but no call
    "max_tokens_in_tool",  # truncated by max_tokens inside a call's JSON
    "max_tokens_in_text",
    "refusal",
    "pause_turn",  # pauses half-way; the rest follows when the turn is sent back
    "context_window_exceeded",
]
Place = Literal[
    "before_first_byte",
    "after_headers",
    "at_start",  # after message_start
    "in_text",
    "in_thinking",
    "in_tool_json",
    "before_message_delta",
    "before_message_stop",
]

HTTP_KINDS = frozenset({"status", "slow_start", "empty_body"})
_HARMLESS_KINDS = frozenset({"slow_start", "unknown_event", "refusal", "pause_turn"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A failure, and the requests that it affects.

    It hits the first `times` matching requests after `skip` of them: those whose newest user text contains
    `key`, and whose model is `model`; empty matches all. `after_events` and `after_bytes` set an exact
    position and override `place`. `is_reply_kept`: whether a scripted reply stays queued for the retry; by
    default it does if a client would retry.
    """

    kind: FaultKind
    place: Place = "in_text"
    status: int = 529
    retry_after: str | None = None
    message: str = ""
    seconds: float | None = None
    after_events: int | None = None
    after_bytes: int | None = None
    key: str = ""
    model: str = ""
    skip: int = 0
    times: int = 1
    is_reply_kept: bool | None = None

    @property
    def keeps_reply(self) -> bool:
        """Whether a scripted reply stays queued because it wasn't fully delivered."""
        if self.is_reply_kept is not None:
            return self.is_reply_kept
        return self.kind not in _HARMLESS_KINDS


class FaultBook:
    def __init__(self) -> None:
        self._waiting: list[Fault] = []

    def push(self, *faults: Fault) -> None:
        """Add faults; the first that matches a request is used."""
        self._waiting.extend(faults)

    def take(self, *, model: str, last_user_text: str) -> Fault | None:
        """Return the fault for this request, if any, and count its use."""
        taken: Fault | None = None
        kept: list[Fault] = []
        for fault in self._waiting:
            is_match = fault.key in last_user_text and fault.model in {"", model}
            if not is_match or taken is not None:
                kept.append(fault)
            elif fault.skip:
                kept.append(replace(fault, skip=fault.skip - 1))
            else:
                taken = fault
                if fault.times > 1:
                    kept.append(replace(fault, times=fault.times - 1))
        self._waiting = kept
        return taken

    def __len__(self) -> int:
        return len(self._waiting)


def reshape_reply(fault: Fault | None, reply: Reply) -> tuple[Reply, Reply | None]:
    """Return the reply as the fault changes it, and the rest to say after a pause."""
    kind = fault.kind if fault else None
    match kind:
        case "tool_use_without_block":
            blocks = tuple(block for block in reply.blocks if not isinstance(block, ToolUse))
            return replace(reply, blocks=blocks, stop_reason="tool_use"), None
        case "max_tokens_in_tool":
            return _cut_first_call(reply), None
        case "max_tokens_in_text":
            return _halved(reply, "max_tokens")[0], None
        case "refusal":
            return _halved(reply, "refusal")[0], None
        case "context_window_exceeded":
            return _halved(reply, "model_context_window_exceeded")[0], None
        case "pause_turn":
            return _halved(reply, "pause_turn")
        case _:
            return reply, None


def _cut_first_call(reply: Reply) -> Reply:
    for position, block in enumerate(reply.blocks):
        if isinstance(block, ToolUse):
            blocks = (*reply.blocks[:position], replace(block, is_cut=True))
            return replace(reply, blocks=blocks, stop_reason="max_tokens")
    return _halved(reply, "max_tokens")[0]


def _halved(reply: Reply, stop_reason: StopReason) -> tuple[Reply, Reply]:
    """Split a reply in the middle of its first text, before any call."""
    for position, block in enumerate(reply.blocks):
        if isinstance(block, ToolUse):
            break
        if isinstance(block, Text) and len(block.text) > 1:
            middle = _middle(block.text)
            first = (*reply.blocks[:position], Text(block.text[:middle]))
            rest = (Text(block.text[middle:]), *reply.blocks[position + 1 :])
            return replace(reply, blocks=first, stop_reason=stop_reason), replace(reply, blocks=rest)
    opening = tuple(block for block in reply.blocks if isinstance(block, Thinking | Hold))
    rest = tuple(block for block in reply.blocks if isinstance(block, Text | Note | ToolUse))
    first = (*opening, Text("One moment."))
    return replace(reply, blocks=first, stop_reason=stop_reason), replace(reply, blocks=rest)


def _middle(text: str) -> int:
    """Return an offset near the middle, between a word and the following space."""
    space = text.find(" ", len(text) // 2)
    return space if 0 < space < len(text) else max(1, len(text) // 2)
