"""One function for each stop reason, in a table that a test compares with the SDK's type.

The stop reason decides, never the content: a call runs only where the model's word is `tool_use`.
A decision returns what follows, and changes the part's state only by the part's methods.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from coaching.engine.calls import NOTHING_KNOWN
from coaching.engine.cleaned_reply import REPETITION
from coaching.engine.errors import UpstreamError
from coaching.engine.json_text import is_object
from coaching.engine.messages import FinishedRound, with_format_in_words
from coaching.engine.part import Part
from coaching.engine.ports import PartWords
from coaching.engine.profiles import profile_for
from coaching.engine.reply import Reply
from coaching.engine.rounds import extend_request
from coaching.engine.tools import ToolResult
from coaching.engine.transitions import NextRound, PartResult, SameRound, Transition, failed

MAX_SHRINKS = 5
"""Halved as often, sixty thousand tokens are two thousand."""

_log = logging.getLogger(__name__)


async def on_end(part: Part[Any], reply: Reply) -> Transition:
    """End the part. A call in the same reply was not meant to run and isn't kept.

    Prose in place of structured output is asked for once more, in words, if there is as much time again.
    """
    is_prose = part.request.output_format is not None and not is_object(reply.text)
    if is_prose and "format_in_words" not in part.tried and part.has_time(reply.duration_ms / 1000):
        return SameRound(request=with_format_in_words(part.request), remedy="format_in_words")
    if reply.calls:
        await part.record_words(reply)
    else:
        await part.record(reply, is_last=True)
    return _completed(part, reply.stop_reason)


async def on_calls(part: Part[Any], reply: Reply) -> Transition:
    """Run the calls, or refuse those of a paused reply; then go on, wait for the user, or give up.

    A last round that only was told so, and calls all the same, is requested once more without tools.
    """
    if part.forbids_tools_in_text:
        return SameRound(request=part.request, remedy="no_tools")
    return await finish_calls(part, await part.record(reply))


async def finish_calls(
    part: Part[Any], finished: FinishedRound, *, known: Mapping[str, ToolResult] = NOTHING_KNOWN
) -> Transition:
    """Run the calls of a recorded round that have no `known` result, and decide what follows."""
    ran = await part.run_calls(finished, known=known)
    if ran.pending:
        return PartResult(outcome="awaiting_user", stop_reason="tool_use", pending=tuple(ran.pending))
    if part.round.is_words_only:  # asked for words only, and called all the same
        return _completed(part, finished.stop_reason)
    if part.failed_rounds >= 2:
        failure = UpstreamError("tools_failing", detail="two rounds of failed calls")
        return failed(failure, part.setup.words)
    return _next_round(part, finished, ran.results)


async def on_max_tokens(part: Part[Any], reply: Reply) -> Transition:
    """Keep an answer that was cut in its text; otherwise retry once with twice the tokens and time."""
    is_cut_in_words = reply.ends_in == "text" and bool(reply.text.strip())
    may_retry = "more_tokens" not in part.tried and part.has_time(2 * reply.duration_ms / 1000)
    if not is_cut_in_words and may_retry:
        most = profile_for(part.request.model).max_output_tokens
        doubled = replace(part.request, max_tokens=min(2 * part.request.max_tokens, most))
        return SameRound(request=doubled, remedy="more_tokens")
    await part.record_words(reply)
    words = part.setup.words
    message = words.cut_in_words if is_cut_in_words else words.cut_in_call
    return PartResult(outcome="completed", stop_reason="max_tokens", user_message=message)


async def on_refusal(part: Part[Any], reply: Reply) -> Transition:
    """Replace whatever was shown by a fixed sentence."""
    details = reply.stop_details or {}
    _log.warning("model refused: category %s, message %s", details.get("category"), reply.message_id)
    part.replace_shown(part.setup.words.refused)
    await part.record_words(reply)
    return PartResult(outcome="completed", stop_reason="refusal")


async def on_repetition(part: Part[Any], reply: Reply) -> Transition:
    """Keep an answer that was ended because it repeated itself, and tell the user."""
    await part.record_words(reply)
    return PartResult(
        outcome="completed", stop_reason=REPETITION, user_message=part.setup.words.repeated_itself
    )


async def on_full_window(part: Part[Any], reply: Reply) -> Transition:
    """Retry once with a smaller window."""
    if not part.shrinks and (again := await _with_smaller_window(part)):
        return again
    await part.record_words(reply)
    return PartResult(
        outcome="completed" if reply.text.strip() else "failed",
        stop_reason="model_context_window_exceeded",
        user_message=part.setup.words.too_long,
    )


async def on_too_long(part: Part[Any], failure: UpstreamError) -> Transition:
    """Retry with a smaller window what the server refused to read: that has cost no time."""
    smaller = await _with_smaller_window(part) if part.shrinks < MAX_SHRINKS else None
    return smaller or failed(failure, part.setup.words)


DECISIONS: Mapping[str, Callable[[Part[Any], Reply], Awaitable[Transition]]] = {
    "end_turn": on_end,
    "stop_sequence": on_end,
    "tool_use": on_calls,
    "max_tokens": on_max_tokens,
    "pause_turn": on_calls,
    "refusal": on_refusal,
    "model_context_window_exceeded": on_full_window,
    REPETITION: on_repetition,
}


async def decide(part: Part[Any], reply: Reply) -> Transition:
    """Call the function for a reply's stop reason; an unknown one ends the part."""
    handler = DECISIONS.get(reply.stop_reason or "")
    if handler is None:
        _log.warning("unknown stop reason %.40r", reply.stop_reason)
        handler = on_end
    return await handler(part, reply)


def ended_before(stop_reason: str, words: PartWords) -> PartResult:
    """Return the result of a part whose last round was recorded by a lost runner."""
    notices = {
        "max_tokens": words.cut_in_words,
        "model_context_window_exceeded": words.too_long,
        REPETITION: words.repeated_itself,
    }
    return PartResult(outcome="completed", stop_reason=stop_reason, user_message=notices.get(stop_reason))


async def _with_smaller_window(part: Part[Any]) -> SameRound | None:
    """Return the round with a smaller window; None if it can't get smaller."""
    shrink = part.setup.shrink
    if shrink is None:
        return None
    smaller = await shrink(part.request)
    return None if smaller is None else SameRound(request=smaller, remedy="smaller_window")


def _next_round(part: Part[Any], finished: FinishedRound, results: Mapping[str, ToolResult]) -> NextRound:
    saved_fields = part.setup.toolset.saved_fields
    return NextRound(request=extend_request(part.request, finished, results, saved_fields))


def _completed(part: Part[Any], stop_reason: str | None) -> PartResult:
    return PartResult(
        outcome="completed",
        stop_reason=stop_reason or "",
        user_message=None if part.has_shown_anything else part.setup.words.nothing_said,
    )
