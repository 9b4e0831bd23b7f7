"""The events of a running part: facts only, no HTML and no model rows.

The union `EngineEvent` is closed. A test checks that every event has a frame and a fragment.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    """A call is complete and about to run."""

    tool_use_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallFinished:
    """A call that was started has its result."""

    tool_use_id: str


@dataclass(frozen=True, slots=True)
class RoundBoundary:
    """The next round begins. Emitted once between two rounds, just before the first output of the later one.

    Joined texts have a blank line at a boundary with text on both sides.
    """


@dataclass(frozen=True, slots=True)
class RoundRestarted:
    """The running round is requested again: its text and notes since the last boundary are void.

    The boundary itself isn't repeated.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPending:
    """A call waits for the user. It is returned with the part's result, not emitted.

    `input` is the validated input as plain JSON values, and `details` what its tool's `check` adds to it.
    `sources` are the texts of others that may have asked for it.
    """

    tool_use_id: str
    name: str
    input: Mapping[str, Any]
    details: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()


EngineEvent = TextDelta | NoteDelta | ToolCallStarted | ToolCallFinished | RoundBoundary | RoundRestarted
