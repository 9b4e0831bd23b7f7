"""Rounds as they go back to the model: with ids of their own, behind the messages of a request."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from coaching.engine.messages import (
    FinishedRound,
    ModelRequest,
    append_round,
    call_ids_in,
    shorten_saved,
    unique_ids,
    with_call_ids,
)
from coaching.engine.profiles import profile_for
from coaching.engine.reply import Reply
from coaching.engine.tools import SavedFields, ToolCall, ToolResult

_log = logging.getLogger(__name__)


def with_unique_ids(reply: Reply, used: set[str]) -> Reply:
    """Return a reply whose calls have ids that are new to the turn, and add them: a model may repeat one."""
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
    """Return a reply's calls, in the order written."""
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
    """Return the request with a round and all its results behind its messages.

    The blocks are verbatim where the model binds thinking to its turn; elsewhere saved text is
    left out from the first time on. The API wants every id once in a request, so a call whose id an
    earlier turn had goes under another one. A runner that takes the turn over builds the same bytes.
    """
    blocks: Sequence[dict[str, Any]] = finished.blocks
    if not profile_for(request.model).is_thinking_bound:
        blocks = [_without_saved_text(block, results, saved_fields) for block in blocks]
    ids = {}
    if finished.calls:
        ids = unique_ids([call.tool_use_id for call in finished.calls], call_ids_in(request.messages))
        blocks = with_call_ids(blocks, ids)
    answered = [(ids[call.tool_use_id], results[call.tool_use_id]) for call in finished.calls]
    return replace(request, messages=append_round(request.messages, blocks, answered))


def _without_saved_text(
    block: dict[str, Any], results: Mapping[str, ToolResult], saved_fields: SavedFields
) -> dict[str, Any]:
    if block["type"] != "tool_use" or block["name"] not in saved_fields:
        return block
    result = results.get(block["id"])
    if result is None or result.is_error:
        return block
    return {**block, "input": shorten_saved(block["name"], block["input"], saved_fields, is_error=False)}
