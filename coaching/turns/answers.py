"""Turns the user's answer to a pending call into the tool's result; the tool decides what an answer is."""

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext_noop as _

from coaching.engine.errors import ToolError, ToolInputError
from coaching.engine.tools import ToolResult
from coaching.people.languages import in_model_language
from coaching.safety.card import danger_in, metadata_of_danger
from coaching.tools import CHAT_TOOLS
from coaching.tools.confirmed import DECLINED, UNKNOWN_PART, YES_OR_NO
from coaching.tools.decisions import Decision
from coaching.tools.tainted import Ruling
from coaching.tools.tiers import CHAT, Binding, Tier
from coaching.turns.answer_second_looks import look_due_at
from coaching.turns.care import hear_answer
from coaching.turns.last_question import danger_of_words, question_of_call
from sessions_app.errors import Refused
from sessions_app.models import Session, ToolCallRecord
from sessions_app.pending_calls import Answer
from sessions_app.turn_records import CARD_DETAILS, CallResult

NO_ANSWER_POSSIBLE = _("This question can’t be answered any more. Please send a message instead.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswerContext:
    """`coaching.tools.context.AnswerContext` for a conversation."""

    user_id: int
    session_id: uuid.UUID
    tool_use_id: str
    now: datetime
    tier: Tier = CHAT
    binding: Binding | None = None
    is_answer: bool = True
    decision: Decision | None = None


def _of_held(value: object) -> Answer:
    """Return the answer to a call that waits because of texts of others. Raises `Refused`."""
    is_yes = value.get("accept") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(is_yes, bool):
        raise Refused(YES_OR_NO)
    if set(value) - {"accept", "input"} or value.get("input"):
        raise Refused(UNKNOWN_PART)
    said_no = CallResult(content=ToolResult.of(success=False, message=DECLINED).content, is_error=False)
    return Answer(result=None if is_yes else said_no, value={"accept": is_yes})


def builder_for(*, user_id: int, value: object) -> Callable[[Session, ToolCallRecord], Answer]:
    """Return a function that builds the answer inside the transaction that records it.

    It raises `Refused` with the tool's own sentence if the value is no answer to the call.
    """

    def build(session: Session, call: ToolCallRecord) -> Answer:
        tool = CHAT_TOOLS.get(call.name)
        ruling = Ruling.of(call.metadata)
        if tool is not None and ruling is not None and ruling.is_held:
            return _of_held(value)
        if tool is None or tool.answer is None:
            raise Refused(NO_ANSWER_POSSIBLE)
        context = ChatAnswerContext(
            user_id=user_id,
            session_id=session.id,
            tool_use_id=call.tool_use_id,
            now=timezone.now(),
            decision=Decision.of(call.metadata),
        )
        try:
            with in_model_language():
                answered = tool.answer(context, tool.parse(json.dumps(call.input)), value)
        except (ToolInputError, ToolError) as error:
            raise Refused(str(error)) from error
        result = CallResult(content=answered.result.content, is_error=answered.result.is_error)
        words = answered.words or answered.value
        asked = question_of_call(session, call)
        danger = danger_of_words(words, asked=asked) or danger_in(words)
        metadata = metadata_of_danger(danger)
        if not metadata:
            hear_answer(session, call, words, now=context.now)
        details = {CARD_DETAILS: answered.details} if answered.details is not None else {}
        return Answer(
            result=result,
            value=answered.value,
            metadata={**metadata, **details},
            look_due_at=look_due_at(answered.value, danger, now=context.now),
        )

    return build
