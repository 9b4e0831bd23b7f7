"""What a call that writes a next step rests on: the user's own words in this conversation.

`library.promises` weighs them. After texts of others a call always asks, and in a turn with a card it does
nothing: a message that speaks of danger is no evidence.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from coaching.clock.days import local_day
from coaching.engine.errors import ToolError, ToolInputError
from coaching.engine.tools import ToolCall
from coaching.legacy_text.blocks import strip_block_tags
from coaching.library.promises import Claim, weigh
from coaching.library.quote_context import Said
from coaching.safety.card import kept_danger
from coaching.tools.context import CallContext, ToolContext
from coaching.tools.decisions import Decision
from coaching.tools.presentation import SageTool
from sessions_app.errors import Refused
from sessions_app.history import PROGRAM_KEY
from sessions_app.models import (
    Message,
    MessageRole,
    Round,
    SafetyVerdict,
    ToolCallRecord,
    ToolCallState,
    Turn,
    VerdictLevel,
)

MAX_MESSAGES = 20
"""Of the conversation's last messages, in which a quote is looked for."""
FOREIGN = "foreign"
IN_DANGER = (
    "Nothing was written: the user's message had a card with help lines. Stay with them; steps can wait for "
    "another day."
)
NOTHING_SAID = Decision(asks=True, why="not said")


def decide(tool: SageTool[Any], context: ToolContext, call: ToolCall, *, is_tainted: bool) -> Decision | None:
    """Return whether a call that rests on the user's words asks first; None for any other. Sync ORM code.

    A call that can't be read, or is refused, needs no decision: it is refused when it runs.
    """
    if tool.decides is None:
        return None
    try:
        return tool.decides(context, tool.parse(call.input_json), is_tainted)
    except (ToolInputError, ToolError, Refused) as error:
        return Decision(asks=False, refusal=str(error))


def decision_on(context: ToolContext, claim: Claim, *, is_tainted: bool) -> Decision:
    """Weigh a claim by what the user said in the conversation. Raises `ToolError` in a turn with a card."""
    refuse_in_danger(context)
    if context.session_id is None:
        return NOTHING_SAID
    weighed = weigh(claim, list(_said(context, context.session_id)))
    why = weighed.why or (FOREIGN if is_tainted else "")
    return Decision(asks=bool(why), why=why, sentence=weighed.sentence, number=weighed.number)


def refuse_in_danger(context: CallContext) -> None:
    """Raise `ToolError` if the call's turn has a card. Sync ORM code."""
    if context.session_id is None:
        return
    turn = Turn.of(context.user_id).filter(session=context.session_id, calls__tool_use_id=context.tool_use_id)
    found = turn.only("id").order_by("-started_at").first() or _open_turn(context)
    if found is not None and _has_card(found):
        raise ToolError(IN_DANGER)


def _open_turn(context: CallContext) -> Turn | None:
    """Return the turn that runs: a call is decided on before it is stored."""
    turns = Turn.of(context.user_id).filter(session=context.session_id, ended_at=None)
    return turns.only("id").first()


def _has_card(turn: Turn) -> bool:
    said = Message.within(turn.session).filter(turn=turn, role=MessageRole.USER)
    for message in said.select_related("safety_verdict"):
        verdict = message.known_verdict
        if kept_danger(message.metadata) or (verdict and verdict.level != VerdictLevel.NONE):
            return True
    return any(kept_danger(metadata) for metadata in turn.calls.values_list("metadata", flat=True))


def _said(context: ToolContext, session_id: UUID) -> Iterator[Said]:
    """Yield what the user said, the newest first: what they typed, tapped, and wrote in forms.

    Hidden, imported and withdrawn messages, those of programs, and those of danger, are left out.
    """
    messages = Message.of(context.user_id).filter(
        session_id=session_id, role=MessageRole.USER, turn__is_withdrawn=False
    )
    messages = messages.exclude(metadata__has_any_keys=["is_hidden", "imported_id", "safety", PROGRAM_KEY])
    verdicts = SafetyVerdict.of(context.user_id).filter(session_id=session_id)
    in_danger = verdicts.exclude(level=VerdictLevel.NONE).values("message_id")
    newest = list(messages.exclude(id__in=in_danger).order_by("-number")[:MAX_MESSAGES])
    numbers = {message.turn_id: message.number for message in newest}
    taps = _taps(context, numbers)
    for place, message in enumerate(newest):
        yield from taps.get(message.number, ())
        day = local_day(message.created_at, context.timezone)
        asked = _asked_before(message) if place == 0 else ""
        yield Said(number=message.number, text=strip_block_tags(message.content), day=day, asked=asked)


def _asked_before(message: Message) -> str:
    """Return what Sage said before a message, with the questions that it asked."""
    before = Message.within(message.session).filter(
        number__lt=message.number, role=MessageRole.ASSISTANT, turn__is_withdrawn=False
    )
    answer = before.order_by("-number").only("content", "metadata").first()
    if answer is None:
        return ""
    asked = (question_in(call.get("input")) for call in answer.metadata.get("tool_calls", ()))
    return "\n".join([strip_block_tags(answer.content), *asked])


def _taps(context: ToolContext, numbers: Mapping[Any, int]) -> Mapping[int, list[Said]]:
    """Return what was tapped and written in forms, the newest first, by the number of its turn's message."""
    calls = ToolCallRecord.of(context.user_id).filter(
        turn__in=list(numbers), state=ToolCallState.ANSWERED, value__isnull=False
    )
    found: dict[int, list[Said]] = {}
    for call in calls.exclude(metadata__has_key="safety").order_by("-round_number", "-position"):
        number = numbers[call.turn_id]
        asked = f"{_text_of(call)}\n{question_in(call.input)}"
        day = local_day(call.finished_at or call.created_at, context.timezone)
        for words in _words(call):
            said = Said(number=number, text=words, day=day, asked=asked, is_tapped=True)
            found.setdefault(number, []).append(said)
    return found


def _text_of(call: ToolCallRecord) -> str:
    rounds = Round.within(call.turn).filter(number=call.round_number).values_list("text", flat=True)
    return rounds.first() or ""


def question_in(given: object) -> str:
    """Return the words of a question: its prompt and its options."""
    if not isinstance(given, Mapping):
        return ""
    options = [each for each in given.get("options") or () if isinstance(each, Mapping)]
    words = [given.get("prompt"), *(each.get("label") for each in options)]
    return "\n".join(word for word in words if isinstance(word, str))


def _words(call: ToolCallRecord) -> Iterator[str]:
    """Yield the words of an answer: the label that was tapped, or the note of a form."""
    value = call.value
    if isinstance(value, Mapping):
        note = value.get("note")
        yield from [note] if isinstance(note, str) and note.strip() else []
    elif isinstance(value, str):
        options = call.input.get("options") if isinstance(call.input, Mapping) else None
        labels = [
            each.get("label")
            for each in options or ()
            if isinstance(each, Mapping) and value in (each.get("value"), each.get("label"))
        ]
        yield from [label for label in labels[:1] if isinstance(label, str)] or [value]
