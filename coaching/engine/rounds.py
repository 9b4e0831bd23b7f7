"""Prepares rounds for sending them back to the model."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from coaching.engine.messages import (
    FinishedRound,
    ModelRequest,
    append_round,
    call_ids_in,
    excerpt_result,
    shorten_saved,
    unique_ids,
    with_call_ids,
)
from coaching.engine.profiles import profile_for
from coaching.engine.reply import Reply
from coaching.engine.tools import SavedFields, ToolCall, ToolResult

_log = logging.getLogger(__name__)


def with_unique_ids(reply: Reply, used: set[str]) -> Reply:
    """Return the reply with ids that are new to the turn, and add them to `used`: a model may repeat one."""
    given = [call.tool_use_id for call in reply.calls]
    ids = unique_ids(given, used)
    used.update(ids.values())
    if given == list(ids.values()):
        return reply
    _log.warning("%s call ids were used before in this turn", sum(new != old for old, new in ids.items()))
    return replace(
        reply,
        blocks=tuple(with_call_ids(reply.blocks, ids)),
        calls=tuple(replace(call, tool_use_id=ids[call.tool_use_id]) for call in reply.calls),
    )


def calls_of(reply: Reply, round_number: int) -> tuple[ToolCall, ...]:
    """Return the calls of a reply, in the order written."""
    return tuple(
        ToolCall(
            tool_use_id=call.tool_use_id,
            name=call.name,
            input_json=call.input_json,
            round_number=round_number,
            position=position,
        )
        for position, call in enumerate(reply.calls)
    )


def extend_request(
    request: ModelRequest,
    finished: FinishedRound,
    results: Mapping[str, ToolResult],
    saved_fields: SavedFields,
) -> ModelRequest:
    """Return the request with a round and all its results appended to its messages.

    The blocks are verbatim if the model binds thinking to its turn; otherwise saved text is left out
    from the start. Thinking without a signature isn't sent, since some servers refuse it. Ids must be
    unique in a request, so a call whose id an earlier turn had gets another one. A runner that takes over
    the turn builds the same bytes.
    """
    blocks: Sequence[dict[str, Any]] = [block for block in finished.blocks if not _is_unsigned(block)]
    if not profile_for(request.model).is_thinking_bound:
        blocks = [_without_saved_text(block, results, saved_fields) for block in blocks]
    ids = {}
    if finished.calls:
        ids = unique_ids([call.tool_use_id for call in finished.calls], call_ids_in(request.messages))
        blocks = with_call_ids(blocks, ids)
    answered = [
        (ids[call.tool_use_id], _short_enough(request, call, results[call.tool_use_id]))
        for call in finished.calls
    ]
    return replace(request, messages=append_round(request.messages, blocks, answered))


def _short_enough(request: ModelRequest, call: ToolCall, result: ToolResult) -> ToolResult:
    most = request.most_result_bytes
    if most is None:
        return result
    return replace(result, content=excerpt_result(call.name, call.tool_use_id, result.content, most=most))


def _is_unsigned(block: Mapping[str, Any]) -> bool:
    return block["type"] == "thinking" and not block.get("signature")


def _without_saved_text(
    block: dict[str, Any], results: Mapping[str, ToolResult], saved_fields: SavedFields
) -> dict[str, Any]:
    if block["type"] != "tool_use" or block["name"] not in saved_fields:
        return block
    result = results.get(block["id"])
    if result is None or result.is_error:
        return block
    return {**block, "input": shorten_saved(block["name"], block["input"], saved_fields, is_error=False)}
