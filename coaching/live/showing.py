"""What readers are shown of a session's facts: the same here and elsewhere, at once and later.

A fact holds no words. They are read here from their rows, unless the process that wrote them has the rows in
hand; what was withdrawn or deleted meanwhile is left out. Synchronous: for the database's threads.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from coaching.events import (
    AnswerChosen,
    ArcCompleted,
    CallAnswered,
    CallPending,
    DocumentMoved,
    ErrorShown,
    HistoryChanged,
    MessagePlace,
    MessageStored,
    ModeChanged,
    SafetyShown,
    SessionClosed,
    SessionCompleted,
    StepShown,
    TitleChanged,
    TurnDone,
    TurnEvent,
    TurnStarted,
)
from coaching.library.rows.attached import attached_to, read_attached, read_moved
from coaching.models import ActionItem
from coaching.safety.card import kept_danger
from coaching.tools.presentation import text_in
from coaching.tools.step_results import step_values
from coaching.tools.tainted import Ruling
from coaching.transcript.cards import late_card, read_card_of_answer, read_card_of_new, read_cards
from coaching.transcript.old_replies import text_of_reply
from coaching.turns.answering import turn_done
from coaching.turns.kept import read_kept
from sessions_app import session_events as facts
from sessions_app.history import PROGRAM_KEY
from sessions_app.models import (
    Message,
    MessageRole,
    Session,
    SessionStatus,
    TitleSource,
    ToolCallRecord,
    Turn,
)
from sessions_app.pending_calls import UNDONE
from sessions_app.turn_records import CARD_DETAILS


def shown(session_id: UUID, fact: facts.Fact) -> Sequence[TurnEvent]:
    """Return the events that show a fact of a session, whose readers' access was checked."""
    return SHOWN[type(fact)](session_id, fact)


def _said(session_id: UUID, fact: facts.Said) -> Sequence[MessageStored | SafetyShown]:
    message = fact.message or _message(session_id, fact.number)
    if message is None:
        return []
    stored = MessageStored(
        id=message.client_id or "",
        number=message.number,
        text=message.content,
        turn_id=str(message.turn_id),
        place=_place(message, fact),
        documents=attached_to(message, read_attached([message])),
        program=message.metadata.get(PROGRAM_KEY, ""),
    )
    card = read_card_of_new(message)
    return [stored, card] if card else [stored]


def _place(message: Message, fact: facts.Said) -> MessagePlace | None:
    if not fact.zone:
        return None
    return MessagePlace(
        session_id=str(message.session_id),
        title=message.session.title,
        said_at=message.created_at,
        before_at=datetime.fromisoformat(fact.before_at) if fact.before_at else None,
        timezone=fact.zone,
    )


def _message(session_id: UUID, number: int) -> Message | None:
    said = Message.unscoped.filter(session_id=session_id, number=number, turn__is_withdrawn=False)
    return said.select_related("session").first()


def _turn_opened(session_id: UUID, fact: facts.TurnOpened) -> Sequence[TurnStarted]:
    if fact.turn is None and not _is_in_history(session_id, fact.turn_id):
        return []
    return [TurnStarted(turn_id=fact.turn_id)]


def _is_in_history(session_id: UUID, turn_id: str) -> bool:
    return Turn.unscoped.filter(id=turn_id, session_id=session_id, is_withdrawn=False).exists()


def _part_ended(session_id: UUID, fact: facts.PartEnded) -> Sequence[ErrorShown | TurnDone]:
    turn, answer = fact.turn, fact.answer
    if turn is None:
        turn = Turn.unscoped.filter(id=fact.turn_id, session_id=session_id).defer("prefix").first()
        if turn is None:
            return []
        answer = turn.messages.filter(role=MessageRole.ASSISTANT).first()
    is_shown = turn.status == fact.status and not turn.is_withdrawn
    answer = answer if is_shown else None
    done = turn_done(turn.id, status=fact.status, stop_reason=fact.stop_reason, answer=answer)
    return [ErrorShown(message=turn.user_notice), done] if is_shown and turn.user_notice else [done]


def _call_asked(session_id: UUID, fact: facts.CallAsked) -> Sequence[CallPending]:
    call = fact.call or _call(session_id, fact.turn_id, fact.tool_use_id)
    return [pending_of(call)] if call else []


def _call_ended(session_id: UUID, fact: facts.CallEnded) -> Sequence[CallAnswered | SafetyShown]:
    call = fact.call or _call(session_id, fact.turn_id, fact.tool_use_id)
    if call is None:
        return []
    answered = CallAnswered(
        turn_id=fact.turn_id, tool_use_id=call.tool_use_id, state=call.shown_state, value=call.value
    )
    card = read_cards(session_id, [call]).of_answer(call) if kept_danger(call.metadata) else None
    return [answered, card] if card else [answered]


def _call(session_id: UUID, turn_id: str, tool_use_id: str) -> ToolCallRecord | None:
    calls = ToolCallRecord.unscoped.filter(turn__session=session_id, turn__is_withdrawn=False)
    found = calls.filter(turn_id=turn_id, tool_use_id=tool_use_id)
    return found.select_related("turn__session").first()


def pending_of(call: ToolCallRecord) -> CallPending:
    ruling = Ruling.of(call.metadata)
    return CallPending(
        tool_use_id=call.tool_use_id,
        name=call.name,
        input=call.input,
        details=call.metadata.get(CARD_DETAILS, {}),
        sources=ruling.sources if ruling else (),
    )


def _card_given(session_id: UUID, fact: facts.CardGiven) -> Sequence[SafetyShown]:
    if not fact.number:
        call = _call(session_id, fact.turn_id, fact.tool_use_id)
        card = read_card_of_answer(call, is_replaced=fact.is_replaced) if call else None
        return [card] if card else []
    message = _message(session_id, fact.number)
    given = read_cards(session_id, [message]).of_message(message) if message else None
    if given is None or message is None:
        return []
    return [late_card(given, message, is_replaced=fact.is_replaced) if fact.is_late else given]


def _withdrawn(_: UUID, fact: facts.Withdrawn) -> Sequence[HistoryChanged]:
    turn_ids = () if fact.is_choice else [UUID(turn_id) for turn_id in fact.turn_ids]
    kept, effects = read_kept(turn_ids)
    return [
        HistoryChanged(
            withdrawn=tuple(fact.turn_ids), first_number=fact.first_number, kept=kept, effects=effects
        )
    ]


def _answer_picked(session_id: UUID, fact: facts.AnswerPicked) -> Sequence[AnswerChosen]:
    answers = Message.unscoped.filter(turn_id=fact.turn_id, session=session_id, turn__is_withdrawn=False)
    answer = answers.filter(role=MessageRole.ASSISTANT).first()
    if answer is None:
        return []
    return [AnswerChosen(turn_id=fact.turn_id, number=answer.number, text=text_of_reply(answer))]


def _arc_entered(_: UUID, fact: facts.ArcEntered) -> Sequence[ModeChanged]:
    return [ModeChanged(arc=fact.arc)]


def _arc_left(_: UUID, fact: facts.ArcLeft) -> Sequence[ArcCompleted]:
    return [ArcCompleted(arc=fact.arc)]


def _titled(session_id: UUID, _: facts.Titled) -> Sequence[TitleChanged]:
    told = (TitleSource.MODEL, TitleSource.USER)  # first words come with their message
    titles = Session.unscoped.filter(id=session_id, title_source__in=told).values_list("title", flat=True)
    title = titles.first()
    return [TitleChanged(session_id=str(session_id), title=title)] if title else []


def _document_state_changed(session_id: UUID, fact: facts.DocumentStateChanged) -> Sequence[DocumentMoved]:
    return [DocumentMoved(document=each) for each in read_moved(session_id, [fact.document_id])]


def _step_told(session_id: UUID, fact: facts.StepTold) -> Sequence[StepShown]:
    step = ActionItem.unscoped.filter(id=fact.step_id, user__coaching_sessions=session_id).first()
    call = _call_of(session_id, fact.tool_use_id) if fact.tool_use_id else None
    if step is None or (fact.tool_use_id and call is None):
        return []
    return [
        StepShown(
            id=step.pk,
            state=step.state,
            title=step.title,
            due=step.due_date.isoformat() if step.due_date else "",
            quote=step.quote,
            tool_use_id=fact.tool_use_id,
            shown=step_values(step),
            became=text_in(call.input, "state") if call else "",
            is_changed=fact.is_changed,
            is_undone=bool(call and call.metadata.get(UNDONE)),
        )
    ]


def _call_of(session_id: UUID, tool_use_id: str) -> ToolCallRecord | None:
    calls = ToolCallRecord.unscoped.filter(turn__session=session_id, turn__is_withdrawn=False)
    return calls.filter(tool_use_id=tool_use_id).order_by("-pk").first()


def _ended(_: UUID, fact: facts.Ended) -> Sequence[SessionCompleted | SessionClosed]:
    if fact.status == SessionStatus.COMPLETED:
        return [SessionCompleted()]
    return [SessionClosed(status=fact.status)]


SHOWN: Mapping[type[facts.Fact], Callable[[UUID, Any], Sequence[TurnEvent]]] = {
    facts.Said: _said,
    facts.TurnOpened: _turn_opened,
    facts.PartEnded: _part_ended,
    facts.CallAsked: _call_asked,
    facts.CallEnded: _call_ended,
    facts.CardGiven: _card_given,
    facts.Withdrawn: _withdrawn,
    facts.AnswerPicked: _answer_picked,
    facts.ArcEntered: _arc_entered,
    facts.ArcLeft: _arc_left,
    facts.Titled: _titled,
    facts.DocumentStateChanged: _document_state_changed,
    facts.StepTold: _step_told,
    facts.Ended: _ended,
}
"""One function for each fact. Its return type says what it shows: a test holds both against the tables."""
