"""A reply of a model without a profile, cleaned while it streams. `cleaner` says what that means."""

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

from coaching.engine.cleaner import Cleaner
from coaching.engine.events import TextDelta
from coaching.engine.messages import canonical_json
from coaching.engine.ports import ReplyStream
from coaching.engine.reply import MessageRestarted, Reply, ReplyCall, ReplyDelta, ThinkingDelta
from coaching.engine.request_size import tokens_of_bytes
from coaching.engine.shown_pieces import Piece
from coaching.engine.usage import TokenCounts
from coaching.engine.written_calls import WrittenCall

REPETITION = "repetition"
"""The stop reason of a reply that was ended because it repeated itself."""
_ENDS_IN_CALLS = frozenset({"end_turn", "stop_sequence", "tool_use"})


class CleanedReplyStream:
    """A `ReplyStream` that ends where the cleaned reply does. `names` are the tools that text may call.

    `count_prompt` estimates the tokens of the prompt: servers say how many there were at the end of a stream,
    which isn't read where the reply ends before.
    """

    def __init__(
        self,
        stream: ReplyStream,
        names: frozenset[str],
        *,
        count_prompt: Callable[[], int],
        is_structured: bool = False,
    ) -> None:
        self._stream = stream
        self._new_cleaner = partial(Cleaner, names, is_structured=is_structured)
        self._cleaner = self._new_cleaner()
        self._count_prompt = count_prompt
        self._is_read = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Sequence[ReplyDelta]:
        while not (self._is_read or self._cleaner.is_over):
            try:
                deltas = self._clean(await self._stream.__anext__())
            except StopAsyncIteration:
                self._is_read = True
                is_cut = not _ends_in_words(self._stream.reply())
                deltas = list(_deltas_of(self._cleaner.close(is_cut=is_cut)))
            if deltas:
                return deltas
        raise StopAsyncIteration

    def reply(self) -> Reply:
        reply = self._stream.reply()
        found = cleaned(reply, self._new_cleaner())
        is_ended_early = self._cleaner.is_over and not reply.is_whole
        return replace(found, tokens=self._estimated(reply)) if is_ended_early else found

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

    def _estimated(self, reply: Reply) -> TokenCounts:
        """Return what a reply has cost that was ended before the server said so."""
        written = sum(len(canonical_json(block).encode()) for block in reply.blocks)
        return replace(
            reply.tokens,
            input_tokens=reply.tokens.input_tokens if reply.tokens.prompt_tokens else self._count_prompt(),
            output_tokens=max(reply.tokens.output_tokens, tokens_of_bytes(written)),
        )


def cleaned(reply: Reply, cleaner: Cleaner) -> Reply:
    """Return the reply with its text cleaned by a new cleaner, and the calls that it ends with as blocks.

    A reply that had to be ended is whole with what came until then.
    """
    blocks: list[dict[str, Any]] = []
    last_kind = ""
    for block in reply.blocks:
        last_kind = block["type"]
        if last_kind == "text":
            _add_pieces(blocks, cleaner.feed(block["text"]))
        else:
            blocks.append(block)
        if cleaner.is_over:
            break
    open_kind = cleaner.open_kind
    _add_pieces(blocks, cleaner.close(is_cut=not _ends_in_words(reply)))
    written: list[dict[str, Any]] = []
    if last_kind == "text" and (cleaner.ended or reply.stop_reason in _ENDS_IN_CALLS):
        written = [_written_block(call) for call in cleaner.calls]
    kept = {block["id"] for block in blocks if block["type"] == "tool_use"}
    calls = [call for call in reply.calls if call.tool_use_id in kept]
    calls += [_call_of(block, call) for block, call in zip(written, cleaner.calls, strict=False)]
    return replace(
        reply,
        blocks=(*(block for block in blocks if not _is_blank(block)), *written),
        text="".join(block["text"] for block in blocks if block["type"] == "text"),
        calls=tuple(calls),
        ends_in=open_kind if reply.ends_in == "text" else reply.ends_in,
        stop_reason=_stop_reason(cleaner, reply, has_written=bool(written), has_calls=bool(calls)),
        is_whole=reply.is_whole or bool(cleaner.ended),
    )


def cleaned_text(text: str) -> str:
    """Return the text of a whole structured reply, cleaned."""
    cleaner = Cleaner(is_structured=True)
    blocks: list[dict[str, Any]] = []
    _add_pieces(blocks, cleaner.feed(text))
    _add_pieces(blocks, cleaner.close())
    return "".join(block["text"] for block in blocks if block["type"] == "text")


def _ends_in_words(reply: Reply) -> bool:
    """Whether a reply is whole with its last text."""
    return reply.is_whole and reply.ends_in == "text" and reply.stop_reason in _ENDS_IN_CALLS


def _stop_reason(cleaner: Cleaner, reply: Reply, *, has_written: bool, has_calls: bool) -> str | None:
    if cleaner.ended == "repetition":
        return REPETITION
    if cleaner.ended:
        may_call = reply.stop_reason is None or reply.stop_reason in _ENDS_IN_CALLS
        return "tool_use" if has_calls and may_call else "end_turn"
    return "tool_use" if has_written else reply.stop_reason


def _deltas_of(pieces: Iterable[Piece]) -> Iterable[ReplyDelta]:
    for each in pieces:
        match each.kind:
            case "text":
                yield TextDelta(each.text)
            case "thinking":
                yield ThinkingDelta(each.text)
            case "void_text":
                yield MessageRestarted()


def _add_pieces(blocks: list[dict[str, Any]], pieces: Iterable[Piece]) -> None:
    for each in pieces:
        match each.kind:
            case "text":
                blocks.append({"type": "text", "text": each.text})
            case "thinking":
                blocks.append(_thinking(each.text))
            case "void_text":
                blocks[:] = [
                    _thinking(block["text"]) if block["type"] == "text" else block for block in blocks
                ]
            case "void_thinking":
                while blocks and blocks[-1]["type"] == "thinking":
                    blocks.pop()


def _thinking(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": ""}


def _is_blank(block: dict[str, Any]) -> bool:
    return block["type"] == "text" and not block["text"].strip()


def _call_of(block: dict[str, Any], call: WrittenCall) -> ReplyCall:
    return ReplyCall(
        tool_use_id=block["id"],
        name=block["name"],
        input_json=call.broken or canonical_json(block["input"]),
        is_closed=True,
    )


def _written_block(call: WrittenCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex}", "name": call.name, "input": call.input}
