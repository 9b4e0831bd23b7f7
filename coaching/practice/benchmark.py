"""Answers for benchmarks: a fixed number of tokens whose bytes are prepared once.

One token is one delta of about 14 characters, as in the project's performance notes.
"""

from dataclasses import dataclass

from coaching.practice.api.cache import CacheShare
from coaching.practice.api.compose import Answer, Part
from coaching.practice.api.delivery import Pace, due_times, http_chunk
from coaching.practice.api.wire import Frame, Gate, stream_frames

ONE_DELTA = "measured word "


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedStream:
    """The bytes of one benchmark answer.

    `chunks` are its events, framed as HTTP chunks, each due `due` seconds after the headers;
    `body` is the same without framing, for a stream without a pace.
    """

    chunks: tuple[bytes, ...]
    due: tuple[float, ...]
    body: bytes


def prepare_stream(tokens: int, pace: Pace) -> PreparedStream:
    """Prepare an answer of `tokens` deltas at a pace."""
    text = ONE_DELTA * tokens
    answer = Answer(
        message_id="msg_01benchmark0000000000000",
        model="claude-sonnet-5-5",
        parts=[Part({"type": "text", "text": text}, text)],
        stop_reason="end_turn",
        stop_sequence=None,
        share=CacheShare(input_tokens=tokens),
    )
    frames = [_as_one_token(frame) for frame in stream_frames(answer, len(ONE_DELTA))]
    return PreparedStream(
        chunks=tuple(http_chunk(frame.data) for frame in frames),
        due=tuple(due_times(frames, pace)),
        body=b"".join(frame.data for frame in frames),
    )


def _as_one_token(frame: Frame | Gate) -> Frame:
    if not isinstance(frame, Frame):
        raise TypeError("a benchmark answer has no gates")
    return Frame(frame.kind, frame.data, 1.0 if frame.tokens else 0.0)
