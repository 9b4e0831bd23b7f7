"""A reply of a model without a profile, cleaned while it streams. `cleaner` says what that means."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

from coaching.engine.cleaner import Cleaner, Piece
from coaching.engine.events import TextDelta
from coaching.engine.messages import canonical_json
from coaching.engine.ports import ReplyStream
from coaching.engine.reply import MessageRestarted, Reply, ReplyCall, ReplyDelta, ThinkingDelta
from coaching.engine.written_calls import WrittenCall

REPETITION = "repetition"
"""The stop reason of a reply that was ended because it repeated itself."""
_ENDS_IN_CALLS = frozenset({"end_turn", "stop_sequence", "tool_use"})


class CleanedReplyStream:
    """A `ReplyStream` that ends where the cleaned reply does. `names` are the tools that text may call."""

    def __init__(self, stream: ReplyStream, names: frozenset[str], *, is_structured: bool = False) -> None:
        self._stream = stream
        self._new_cleaner = partial(Cleaner, names, is_structured=is_structured)
        self._cleaner = self._new_cleaner()
        self._is_read = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Sequence[ReplyDelta]:
        while not (self._is_read or self._cleaner.ended):
            try:
                deltas = self._clean(await self._stream.__anext__())
            except StopAsyncIteration:
                self._is_read = True
                deltas = list(_deltas_of(self._cleaner.close()))
            if deltas:
                return deltas
        raise StopAsyncIteration

    def reply(self) -> Reply:
        return cleaned(self._stream.reply(), self._new_cleaner())

    def _clean(self, deltas: Sequence[ReplyDelta]) -> list[ReplyDelta]:
        shown: list[ReplyDelta] = []
        for delta in deltas:
            if isinstance(delta, TextDelta):
                shown += _deltas_of(self._cleaner.feed(delta.text))
            else:
                shown.append(delta)
            if isinstance(delta, MessageRestarted):
                self._cleaner = self._new_cleaner()
        return shown


def cleaned(reply: Reply, cleaner: Cleaner) -> Reply:
    """Return the reply with its text cleaned by a new cleaner, and the calls that it ends with as blocks.

    A reply that had to be ended is whole with what came until then.
    """
    blocks: list[dict[str, Any]] = []
    last_kind = ""
    for block in reply.blocks:
        last_kind = block["type"]
        blocks += _blocks_of(cleaner.feed(block["text"])) if last_kind == "text" else [block]
        if cleaner.ended:
            break
    open_kind = cleaner.open_kind
    blocks += _blocks_of(cleaner.close())
    written: list[dict[str, Any]] = []
    if last_kind == "text" and (cleaner.ended or reply.stop_reason in _ENDS_IN_CALLS):
        written = [_written_block(call) for call in cleaner.calls]
    kept = {block["id"] for block in blocks if block["type"] == "tool_use"}
    calls = [call for call in reply.calls if call.tool_use_id in kept]
    calls += [_call_of(block) for block in written]
    return replace(
        reply,
        blocks=(*(block for block in blocks if not _is_blank(block)), *written),
        text="".join(block["text"] for block in blocks if block["type"] == "text"),
        calls=tuple(calls),
        ends_in=open_kind if reply.ends_in == "text" else reply.ends_in,
        stop_reason=_stop_reason(cleaner, reply, has_written=bool(written), has_calls=bool(calls)),
        is_whole=reply.is_whole or bool(cleaner.ended),
    )


def _stop_reason(cleaner: Cleaner, reply: Reply, *, has_written: bool, has_calls: bool) -> str | None:
    if cleaner.ended == "repetition":
        return REPETITION
    if cleaner.ended:
        return "tool_use" if has_calls else "end_turn"
    return "tool_use" if has_written else reply.stop_reason


def _deltas_of(pieces: Iterable[Piece]) -> Iterable[ReplyDelta]:
    return (TextDelta(each.text) if each.kind == "text" else ThinkingDelta(each.text) for each in pieces)


def _blocks_of(pieces: Iterable[Piece]) -> list[dict[str, Any]]:
    return [
        {"type": "text", "text": each.text}
        if each.kind == "text"
        else {"type": "thinking", "thinking": each.text, "signature": ""}
        for each in pieces
    ]


def _is_blank(block: dict[str, Any]) -> bool:
    return block["type"] == "text" and not block["text"].strip()


def _call_of(block: dict[str, Any]) -> ReplyCall:
    return ReplyCall(
        tool_use_id=block["id"],
        name=block["name"],
        input_json=canonical_json(block["input"]),
        is_closed=True,
    )


def _written_block(call: WrittenCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex}", "name": call.name, "input": call.input}
