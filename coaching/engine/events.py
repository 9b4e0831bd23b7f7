"""What the engine says while it works: one frozen class per fact, no HTML, no model rows.

The union `EngineEvent` is closed: whoever shows events has a function for each, and a test says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Streamed text of the answer, as the model wrote it (markdown, unescaped)."""

    text: str


@dataclass(frozen=True, slots=True)
class NoteDelta:
    """Streamed text of a note: what the model writes about its progress between tool calls."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStarted:
    """A call is whole in the reply and is about to run."""

    tool_use_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallFinished:
    """A call that was started has its result."""

    tool_use_id: str


@dataclass(frozen=True, slots=True)
class RoundBoundary:
    """The next round begins. Said once between any two rounds, just before the later one's first output.

    Whoever joins text sets a blank line where text stands on both sides of boundaries.
    """


@dataclass(frozen=True, slots=True)
class RoundRestarted:
    """The running round is asked again: its text and notes since the last boundary are void.

    The boundary itself stands and isn't said again.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPending:
    """An interactive call waits for the user. It comes with the part's result: whoever runs it shows it.

    `input` is the call's validated input as plain JSON values.
    """

    tool_use_id: str
    name: str
    input: Mapping[str, Any]


EngineEvent = TextDelta | NoteDelta | ToolCallStarted | ToolCallFinished | RoundBoundary | RoundRestarted
