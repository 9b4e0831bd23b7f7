"""The setup of a turn that resumes: it waited for the user, or its runner was lost.

It resumes from exactly the prefix that it began with and its committed rounds. If model or tools have
changed, all its thinking is dropped and the present ones are used.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.utils import timezone

from coaching.context.frame import TAIL_CACHE, build_frame
from coaching.context.life import Life, LifeQuery, read_life
from coaching.context.prompt import build_smaller_turn, build_turn
from coaching.engine.budget import PartLimits
from coaching.engine.messages import INTERRUPTED, FinishedRound, ModelRequest, canonical_json
from coaching.engine.rounds import extend_request
from coaching.engine.setup import ResumedRound
from coaching.engine.tools import ToolCall, ToolResult
from coaching.events import RoundShown
from coaching.model_client.context_size import most_result_bytes
from coaching.model_client.patience import turn_tokens
from coaching.models import Profile
from coaching.tools import CHAT_TOOLS, OFFERED, offered_tools
from coaching.turns.care import care_of_turn
from coaching.turns.pictures import with_pictures
from coaching.turns.setup import TurnSetup, limits_left, state_of, stored_prompt_of, with_taint
from sessions_app.models import MessageRole, Round, ToolCallRecord, ToolCallState, Turn
from sessions_app.stored_prompts import store_prompt
from sessions_app.turn_locks import TurnKey

SHRUNK_AFTER = "shrunk_after_round"
"""In a turn's metadata: the thinking of the rounds up to this one was bound to a larger window."""
_THINKING_TYPES = ("thinking", "redacted_thinking")


def load_setup(key: TurnKey) -> TurnSetup:
    """Read the turn's setup; build and store its first request if it has none.

    Raises `StaleFence` where the turn is no longer this runner's.
    """
    turn = Turn.unscoped.select_related("session").get(id=key.turn_id)
    profile, _ = Profile.of(turn.session.user_id).select_related("user").get_or_create()
    rounds = list(turn.rounds.order_by("number"))
    request, metadata = _stored_request(turn), turn.metadata
    if request is None:
        request, metadata = _late_request(key, turn, profile)
    request, is_whole = with_pictures(request, user_id=turn.session.user_id)
    setup = TurnSetup(
        key=key,
        user_id=turn.session.user_id,
        session_id=turn.session_id,
        timezone=profile.zone,
        state=state_of(turn.session),
        request=request,
        limits=_read_limits_left(turn, rounds),
        is_stop_requested=turn.is_stop_requested,
        is_opening=turn.is_unanswered_opening,
        began_with=frozenset(tool["name"] for tool in request.tools),
    )
    calls = list(turn.calls.all()) if rounds else []
    setup = with_taint(setup, metadata, calls)
    if rounds:
        ids = tuple(call.tool_use_id for call in calls)
        setup = _with_rounds(replace(setup, call_ids=ids), turn, rounds, profile, is_whole=is_whole)
    return _with_kept_words(setup, turn) if setup.is_too_late else setup


def shrink_turn(key: TurnKey) -> ModelRequest | None:
    """Give the turn a smaller window and return its request; None if it can't get any smaller.

    That changes its prefix, so later requests drop the thinking of the rounds before. Raises `StaleFence`.
    """
    turn = Turn.unscoped.select_related("session").get(id=key.turn_id)
    profile, _ = Profile.of(turn.session.user_id).select_related("user").get_or_create()
    life = _read_life(turn, profile)
    care = care_of_turn(life, turn.session, turn.messages.get(role=MessageRole.USER))
    built = build_smaller_turn(turn.session, life=life, tools=offered_tools(profile), care=care)
    if built is None:
        return None
    stored = stored_prompt_of(built)
    metadata = {**stored.turn_metadata, SHRUNK_AFTER: turn.rounds.count()}
    store_prompt(key, replace(stored, turn_metadata=metadata))
    return load_setup(key).request


def _late_request(key: TurnKey, turn: Turn, profile: Profile) -> tuple[ModelRequest, dict[str, Any]]:
    """Build and store the request of a turn that was opened without one; return it with its metadata."""
    life = _read_life(turn, profile)
    built = build_turn(
        turn.session,
        profile=profile,
        tools=offered_tools(profile),
        now=life.now,
        life=life,
        care=care_of_turn(life, turn.session, turn.messages.get(role=MessageRole.USER)),
    )
    store_prompt(key, stored_prompt_of(built))
    return built.request, built.turn_metadata


def _read_life(turn: Turn, profile: Profile) -> Life:
    return read_life(LifeQuery(profile=profile, session_id=turn.session_id, now=timezone.now()))


def _stored_request(turn: Turn) -> ModelRequest | None:
    if not turn.prefix:
        return None
    prefix = json.loads(turn.prefix)
    return ModelRequest(
        model=turn.model,
        system=prefix["system"],
        tools=prefix["tools"],
        messages=prefix["messages"],
        max_tokens=turn_tokens(),
        cache_control=TAIL_CACHE,
        most_result_bytes=most_result_bytes(turn.model),
    )


def _read_limits_left(turn: Turn, rounds: Sequence[Round]) -> PartLimits:
    """Return what is left of the part's budget after its committed rounds and calls."""
    spent_rounds = [row.number for row in rounds if row.part == turn.part]
    calls = turn.calls.filter(round_number__in=spent_rounds)
    return limits_left(
        turn,
        rounds=len(spent_rounds),
        calls=calls.exclude(state__in=[ToolCallState.RUNNING, ToolCallState.PENDING]).count(),
        requests=turn.usage.filter(created_at__gte=turn.part_started_at).count(),
    )


def _with_rounds(
    setup: TurnSetup, turn: Turn, rounds: Sequence[Round], profile: Profile, *, is_whole: bool
) -> TurnSetup:
    """Return the setup with the committed rounds in its request; the last one may be unfinished.

    `is_whole`: no picture of its messages is missing.
    """
    request = setup.request
    is_same_frame = _is_as_it_was(request)
    is_thinking_valid = is_same_frame and is_whole
    if not is_same_frame:
        today = build_frame(turn.session, tools=offered_tools(profile))
        request = replace(today, messages=request.messages)
    *earlier, last = [_read_finished(row, turn, is_thinking_valid=is_thinking_valid) for row in rounds]
    for finished, results in earlier:
        request = extend_request(request, finished, results, CHAT_TOOLS.saved_fields)
    setup = replace(setup, rounds=tuple(_shown(row) for row in rounds))
    finished, results = last
    if finished.is_partial:
        return replace(setup, request=request, is_cut=True)
    if finished.calls and any(call.tool_use_id not in results for call in finished.calls):
        in_this_part = sum(row.part == turn.part for row in rounds)
        resumed = ResumedRound(
            finished=finished, results=results, is_words_only=in_this_part >= settings.SAGE_MAX_ROUNDS
        )
        return replace(setup, request=request, resumed=resumed)
    if not finished.calls and finished.stop_reason != "pause_turn" and rounds[-1].part == turn.part:
        return replace(setup, request=request, closing_stop_reason=finished.stop_reason)
    return replace(setup, request=extend_request(request, finished, results, CHAT_TOOLS.saved_fields))


def _with_kept_words(setup: TurnSetup, turn: Turn) -> TurnSetup:
    """Return the setup with the last text that the lost runner had shown: an interrupted turn keeps it."""
    text, notes = turn.words_of_running_round()
    if not text:
        return setup
    kept = RoundShown(number=len(setup.rounds) + 1, text=text, notes=notes, is_finished=True)
    return replace(setup, rounds=(*setup.rounds, kept))


def _is_as_it_was(request: ModelRequest) -> bool:
    offered = [json.loads(canonical_json(tools.definitions())) for tools in OFFERED]
    return request.model == settings.SAGE_MODEL and request.tools in offered


def _read_finished(
    row: Round, turn: Turn, *, is_thinking_valid: bool
) -> tuple[FinishedRound, dict[str, ToolResult]]:
    """Convert a committed round for the engine, with the results of its calls."""
    blocks: list[dict[str, Any]] = json.loads(row.blocks)
    if not is_thinking_valid or row.number <= turn.metadata.get(SHRUNK_AFTER, 0):
        blocks = [block for block in blocks if block["type"] not in _THINKING_TYPES]
    records = list(turn.calls.filter(round_number=row.number).order_by("position"))
    inputs = {block["id"]: block["input"] for block in blocks if block["type"] == "tool_use"}
    finished = FinishedRound(
        number=row.number,
        blocks=tuple(blocks),
        blocks_json=canonical_json(blocks),
        text=row.text,
        notes=row.notes,
        calls=tuple(
            ToolCall(
                tool_use_id=record.tool_use_id,
                name=record.name,
                input_json=canonical_json(inputs[record.tool_use_id]),
                round_number=record.round_number,
                position=record.position,
            )
            for record in records
        ),
        stop_reason=row.stop_reason,
        message_id=row.upstream_id,
        model=row.model,
        is_partial=row.is_partial,
    )
    return finished, {record.tool_use_id: result for record in records if (result := _result_of(record))}


def _result_of(record: ToolCallRecord) -> ToolResult | None:
    """Return a call's result; None if it may run now: it waits, or its effect can't have happened."""
    if record.state == ToolCallState.PENDING:
        return None
    if record.state == ToolCallState.RUNNING:
        tool = CHAT_TOOLS.get(record.name)
        if tool is None or tool.is_transactional:
            return None
        return ToolResult.error(INTERRUPTED)
    return ToolResult(content=record.result, is_error=record.is_error)


def _shown(row: Round) -> RoundShown:
    return RoundShown(number=row.number, text=row.text, notes=row.notes, is_finished=True)
