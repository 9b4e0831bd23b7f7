"""Stores a turn's rounds, results and usage under its fencing number."""

from collections.abc import Mapping, Sequence

from coaching.engine.errors import StaleRunnerError
from coaching.engine.messages import FinishedRound
from coaching.engine.tools import ToolCall, ToolKind, ToolResult
from coaching.engine.usage import RoundUsage
from coaching.events import Publish, RoundClosed
from coaching.model_client.usage import usage_row
from coaching.tools import CHAT_TOOLS
from coaching.tools.decisions import Decision
from coaching.tools.tainted import NO_RULINGS, Ruling
from coaching.tools.tiers import CHAT
from coaching.turns.tool_session import ToolSession
from sessions_app import turn_records
from sessions_app.database import in_database
from sessions_app.errors import StaleFence
from sessions_app.models import Round
from sessions_app.text import mended
from sessions_app.turn_endings import LastRound
from sessions_app.turn_records import CallResult, NewCall

NO_DECISIONS: Mapping[str, Decision] = {}


class TurnRecorder:
    """The engine's `Recorder` for one turn. Its `last_round` is committed when the turn is closed."""

    last_round: LastRound | None = None

    def __init__(self, tool_session: ToolSession, publish: Publish) -> None:
        self._tool_session = tool_session
        self._key = tool_session.setup.key
        self._publish = publish

    async def record_round(self, finished: FinishedRound, usage: RoundUsage | None) -> None:
        """Commit a round and its calls, then publish that its text is final; keep the last for the end."""
        cost = None if usage is None else usage_row(usage)
        row = Round(
            number=finished.number,
            blocks=finished.blocks_json,
            text=finished.text,
            notes=finished.notes,
            stop_reason=finished.stop_reason,
            is_partial=finished.is_partial,
            upstream_id=finished.message_id,
            model=finished.model,
        )
        if finished.is_last:
            self.last_round = LastRound(round=row, usage=cost)
            return
        rulings = await self._rule_on(finished)
        decisions = await self._decide(finished)
        calls = [
            self._new_call(
                finished, call, made=(rulings.get(call.tool_use_id), decisions.get(call.tool_use_id))
            )
            for call in finished.calls
        ]
        try:
            await in_database(turn_records.store_round, self._key, row, calls=calls, usage=cost)
        except StaleFence as error:
            if cost is not None:  # the tokens are spent, whoever holds the turn now
                await in_database(turn_records.store_usage, self._key, usage=cost)
            raise StaleRunnerError(str(error)) from error
        self._publish(
            RoundClosed(
                turn_id=str(self._key.turn_id),
                number=finished.number,
                text=mended(finished.text),
                notes=mended(finished.notes),
            )
        )

    def _new_call(
        self, finished: FinishedRound, call: ToolCall, *, made: Sequence[Ruling | Decision | None]
    ) -> NewCall:
        """Return a call of a round as it is stored; `made` is what was ruled and decided about it."""
        return NewCall(
            tool_use_id=call.tool_use_id,
            name=call.name,
            position=call.position,
            input=_input_projection(finished, call),
            is_interactive=self._waits(call),
            metadata={name: value for each in made if each for name, value in each.as_metadata().items()},
        )

    async def _rule_on(self, finished: FinishedRound) -> Mapping[str, Ruling]:
        """Rule on a round's calls by what the model had read when it wrote them."""
        if not self._tool_session.has_to_rule(finished.calls):
            return NO_RULINGS
        return await in_database(self._tool_session.rule, finished.calls)

    async def _decide(self, finished: FinishedRound) -> Mapping[str, Decision]:
        """Decide about the calls of a round that rest on the user's words."""
        if not any(_kind(call.name) == "evidence" for call in finished.calls):
            return NO_DECISIONS
        return await in_database(self._tool_session.decide, finished.calls)

    def _waits(self, call: ToolCall) -> bool:
        kind = _kind(call.name)
        if kind == "evidence":
            return self._tool_session.has_to_ask(call)
        return kind in CHAT.waiting_kinds or self._tool_session.is_held(call)

    async def record_result(self, call: ToolCall, result: ToolResult) -> None:
        """Commit a call's result, unless that was done with its effect."""
        self._tool_session.read(result)
        if self._tool_session.committed.get(call.tool_use_id) == result:
            return
        stored = CallResult(content=result.content, is_error=result.is_error, foreign=result.foreign)
        try:
            await in_database(turn_records.store_result, self._key, call.tool_use_id, stored)
        except StaleFence as error:
            raise StaleRunnerError(str(error)) from error

    async def record_usage(self, usage: RoundUsage) -> None:
        """Store the cost of an answer that becomes no round."""
        await in_database(turn_records.store_usage, self._key, usage=usage_row(usage))


def _kind(name: str) -> ToolKind | None:
    tool = CHAT_TOOLS.get(name)
    return tool.kind if tool else None


def _input_projection(finished: FinishedRound, call: ToolCall) -> object:
    """Return the call's input from the round's block, where it is parsed if possible."""
    for block in finished.blocks:
        if block.get("type") == "tool_use" and block.get("id") == call.tool_use_id:
            return block.get("input", {})
    return {}
