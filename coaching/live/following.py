"""Follows turns that run in other processes: reads them from the database and returns what changed as events.

A change becomes the same events that the running process publishes, or a snapshot where it isn't a small one.
"""

import uuid
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import replace
from itertools import groupby

from coaching.events import (
    AnswerChosen,
    ArcCompleted,
    AttachedDocument,
    CallAnswered,
    DocumentMoved,
    ErrorShown,
    HistoryChanged,
    MessageStored,
    ModeChanged,
    SessionClosed,
    SessionCompleted,
    SessionFacts,
    Sync,
    TextDelta,
    TitleChanged,
    TurnDone,
    TurnEvent,
    TurnStarted,
)
from coaching.library.rows.attached import attached_to, read_attached, read_moved, read_states
from coaching.live.stored_turn import read_shown_rounds, read_sync, title_for_readers
from coaching.transcript.cards import NO_CARDS, Cards, late_card, read_cards
from coaching.transcript.old_replies import text_of_reply
from coaching.turns.answering import turn_done
from sessions_app.database import one_snapshot
from sessions_app.models import (
    OPEN_TURN_STATUSES,
    CallState,
    Message,
    MessageRole,
    Session,
    SessionStatus,
    ToolCallRecord,
    Turn,
    TurnStatus,
)
from sessions_app.services import OpenedTurn, last_turn
from sessions_app.verdicts import read_levels

Signature = tuple[object, ...]
_ENDS_OF_QUESTIONS = frozenset({CallState.SUPERSEDED, CallState.EXPIRED})
"""Stop reasons of turns whose question got no answer, so that no part followed it."""


def read_signatures(session_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Signature]:
    """Return for each session values that change whenever a reader's view of it does."""
    wanted = list(session_ids)
    signatures: dict[uuid.UUID, Signature] = {
        session_id: (number, status, arc, title_for_readers(*title))
        for session_id, number, status, arc, *title in Session.unscoped.filter(id__in=wanted).values_list(
            "id", "last_message_number", "status", "active_arc", "title", "title_source"
        )
    }
    withdrawn = Turn.unscoped.filter(session_id__in=wanted, is_withdrawn=True).order_by("id")
    for turn_id, session_id in withdrawn.values_list("id", "session_id"):
        signatures[session_id] += (turn_id,)
    for session_id, number, level in read_levels(wanted):
        signatures[session_id] += ((number, level),)
    for session_id, document_id, state in read_states(wanted):
        signatures[session_id] += ((document_id, state),)
    turns = Turn.unscoped.filter(session_id__in=wanted, status__in=OPEN_TURN_STATUSES)
    open_turns = {}
    for turn_id, session_id, *values in turns.values_list("id", "session_id", "status", "fence", "shown"):
        signatures[session_id] += (turn_id, *values)
        open_turns[turn_id] = session_id
    calls = ToolCallRecord.unscoped.filter(turn_id__in=open_turns).order_by("id")
    for turn_id, state in calls.values_list("turn_id", "state"):
        signatures[open_turns[turn_id]] += (state,)
    return signatures


def idle_signature(last_number: int, facts: SessionFacts) -> Signature:
    """Return the signature of a session without an open turn whose readers know these facts."""
    withdrawn = sorted(map(uuid.UUID, facts.withdrawn))
    return (
        last_number,
        facts.status,
        facts.arc,
        facts.title,
        *withdrawn,
        *sorted(facts.cards),
        *sorted(facts.documents),
    )


def read_changes(
    session_id: uuid.UUID, before: Sync | None, *, ended: str = ""
) -> tuple[Sync, list[TurnEvent]]:
    """Read the present state, and the events that lead to it from what was shown before.

    `ended` is the turn whose end was published last; empty if there is none. The caller has checked that its
    readers may read the session. Raises `Session.DoesNotExist`.
    """
    with one_snapshot():
        return _read_changes(Session.unscoped.get(id=session_id), before, ended=ended)


def read_missed(session_id: uuid.UUID, before: Sync, *, ended: str, opened: OpenedTurn) -> list[TurnEvent]:
    """Read what happened after what was shown before and until a turn was opened.

    `ended` is the turn whose end was published last. The pending calls that the opened turn superseded are
    left out. Raises `Session.DoesNotExist`.
    """
    with one_snapshot():
        session = Session.unscoped.get(id=session_id)
        events: list[TurnEvent] = []
        if before.turn_id:
            superseded = {call.tool_use_id for call in opened.superseded}
            events += [
                event
                for event in _read_ended_calls(before, session.id)
                if not (isinstance(event, CallAnswered) and event.tool_use_id in superseded)
            ]
            events += _read_ending(session, before)
        known = {before.turn_id, ended}
        return [*events, *_read_news(session, before.last_number, known, until=opened.first_own_number)]


def _read_changes(session: Session, before: Sync | None, *, ended: str) -> tuple[Sync, list[TurnEvent]]:
    now = read_sync(session)
    events: list[TurnEvent] = []
    if before is None:
        return now, events
    if before.turn_id:
        events += _read_ended_calls(before, session.id)
    known = {before.turn_id, now.turn_id, ended}
    changed = _read_changed_facts(session, before, now.facts)
    changed += _read_late_cards(session, before, now.facts)
    if before.turn_id and before.turn_id != now.turn_id:
        events += [*changed, *_read_ending(session, before)]
        before = Sync(status="idle", running={}, last_number=before.last_number)
    else:
        events += changed
    events += _read_news(session, before.last_number, known)
    if not now.turn_id and any(isinstance(event, HistoryChanged) for event in changed):
        events += _read_silent_turn(session, before.last_number, known)
    if now.turn_id and not before.turn_id:
        events.append(TurnStarted(turn_id=now.turn_id))
    if now.turn_id:
        events += _progress(before, now)
    if any(isinstance(event, SessionClosed) for event in events):
        events.append(now)  # says that it has ended, and what may still run
    return now, events


def _read_changed_facts(session: Session, shown: Sync, now: SessionFacts | None) -> list[TurnEvent]:
    """Return what changed in the session itself: withdrawn turns, arcs, documents, its end.

    Where no facts were shown yet, only whether the turn that was shown has been withdrawn.
    """
    if now is None:
        return []
    before = shown.facts or replace(now, withdrawn=now.withdrawn - {shown.turn_id})
    events: list[TurnEvent] = []
    events += _read_withdrawn(session, now.withdrawn - before.withdrawn)
    events += _read_chosen(session, before.withdrawn - now.withdrawn)
    if before.arc and before.arc != now.arc:
        events.append(ArcCompleted(arc=before.arc))
    if now.arc and before.arc != now.arc:
        events.append(ModeChanged(arc=now.arc))
    if now.title and before.title != now.title:
        events.append(TitleChanged(session_id=str(session.id), title=now.title))
    moved = {document_id for document_id, _ in now.documents - before.documents}
    if moved:
        events += [DocumentMoved(document=each) for each in read_moved(session.id, moved)]
    if now.status == SessionStatus.COMPLETED != before.status:
        events.append(SessionCompleted())
    elif now.status != before.status:
        events.append(SessionClosed(status=now.status))
    return events


def _read_withdrawn(session: Session, turn_ids: Collection[str]) -> list[TurnEvent]:
    if not turn_ids:
        return []
    first = session.messages.filter(turn_id__in=turn_ids).order_by("number").first()
    # A turn that said nothing leaves no message: its question was moved to the turn that answers again.
    first_number = first.number if first else session.last_message_number + 1
    shared = session.turns.filter(id__in=turn_ids, message_number__lt=first_number)
    # An answer to a shared message: everything after the message goes, whichever answer it was.
    for number in shared.values_list("message_number", flat=True):
        first_number = min(first_number, (number or 0) + 1)
    return [HistoryChanged(withdrawn=tuple(sorted(turn_ids)), first_number=first_number)]


def _read_chosen(session: Session, turn_ids: Collection[str]) -> list[TurnEvent]:
    """Return the answer that was chosen again, unless it is in the history no more."""
    if not turn_ids:
        return []
    answers = session.messages.filter(turn_id__in=turn_ids, role=MessageRole.ASSISTANT)
    return [
        AnswerChosen(turn_id=str(answer.turn_id), number=answer.number, text=text_of_reply(answer))
        for answer in answers
    ]


def _read_late_cards(session: Session, before: Sync, now: SessionFacts | None) -> list[TurnEvent]:
    """Return the cards that messages got after they were shown: from a second look, or from Sage."""
    if before.facts is None or now is None:
        return []
    had = {number for number, _ in before.facts.cards}
    numbers = [number for number, _ in now.cards - before.facts.cards if number <= before.last_number]
    messages = list(session.messages.filter(number__in=numbers).order_by("number")) if numbers else []
    cards = read_cards(session.id, messages) if messages else NO_CARDS
    return [
        late_card(shown, message, is_replaced=message.number in had)
        for message in messages
        if (shown := cards.of_message(message))
    ]


def _read_ended_calls(before: Sync, session_id: uuid.UUID) -> list[TurnEvent]:
    shown = [pending.tool_use_id for pending in before.pending]
    ended = ToolCallRecord.unscoped.filter(turn_id=before.turn_id, tool_use_id__in=shown)
    calls = list(ended.exclude(state=CallState.PENDING))
    cards = read_cards(session_id, calls)
    events: list[TurnEvent] = []
    for call in calls:
        events.append(
            CallAnswered(
                turn_id=before.turn_id,
                tool_use_id=call.tool_use_id,
                state=call.shown_state,
                value=call.value,
            )
        )
        if card := cards.of_answer(call):
            events.append(card)
    return events


def _read_ending(session: Session, before: Sync) -> list[TurnEvent]:
    """Return the last text of a turn that has closed, and its end."""
    turn = Turn.unscoped.get(id=before.turn_id)
    if turn.session_id != session.id or _read_is_end_published(turn, before):
        return []
    events, done = _read_end_of(turn, before)
    return [*events, done]


def _read_is_end_published(turn: Turn, before: Sync) -> bool:
    """Whether the end of the turn's last part was published before: only its question has ended since.

    A new part would have committed a round before it could ask again.
    """
    if before.status != "awaiting_user" or turn.stop_reason not in _ENDS_OF_QUESTIONS:
        return False
    shown = [pending.tool_use_id for pending in before.pending]
    asked_in = turn.calls.filter(tool_use_id__in=shown).values_list("round_number", flat=True)
    return not turn.rounds.filter(number__gt=max(asked_in, default=0)).exists()


def read_end(before: Sync) -> tuple[list[TurnEvent], TurnDone]:
    """Read how the part that `before` shows ended: the events that lead there, and its end.

    A turn that is open has gone on after an answer: that part ended with its question.
    """
    turn = Turn.unscoped.get(id=before.turn_id)
    if turn.is_open:
        return [], turn_done(turn.id, status=TurnStatus.AWAITING_USER, stop_reason="tool_use")
    return _read_end_of(turn, before)


def _read_end_of(turn: Turn, before: Sync | None) -> tuple[list[TurnEvent], TurnDone]:
    """Return the events from what was shown of a turn (None for nothing) to its end, and the end.

    Of a turn that was withdrawn, its end alone.
    """
    if turn.is_withdrawn:
        return [], turn_done(turn.id, status=turn.status, stop_reason=turn.stop_reason)
    message = turn.messages.filter(role=MessageRole.ASSISTANT).first()
    text = text_of_reply(message) if message else ""
    rounds = read_shown_rounds(turn)
    notes = tuple(row.notes for row in rounds if row.notes)
    events: list[TurnEvent] = []
    end = Sync(status="running", turn_id=str(turn.id), text=text, notes=notes, rounds=rounds, running={})
    if before is None or not _has_only_more_text(before, end):
        events.append(end)
    elif text != before.text:
        events.append(TextDelta(text[len(before.text) :]))
    if turn.user_notice:
        events.append(ErrorShown(message=turn.user_notice))
    done = turn_done(turn.id, status=turn.status, stop_reason=turn.stop_reason, answer=message)
    return events, done


def _read_news(
    session: Session, shown_number: int, known: Container[str], *, until: int | None = None
) -> list[TurnEvent]:
    """Return the new messages before `until`; a turn that began and ended in between is included whole."""
    news = session.messages.filter(number__gt=shown_number, turn__is_withdrawn=False)
    if until is not None:
        news = news.filter(number__lt=until)
    fresh = list(news.select_related("turn").order_by("number"))
    cards = read_cards(session.id, fresh)
    documents = read_attached(fresh)
    events: list[TurnEvent] = []
    for turn, messages in groupby(fresh, lambda row: row.turn):
        for message in messages:
            if message.role == MessageRole.USER and not message.metadata.get("is_hidden"):
                events += _said(message, cards, documents)
        if not turn.is_open and str(turn.id) not in known:
            told, done = _read_end_of(turn, None)
            events += [TurnStarted(turn_id=str(turn.id)), *told, done]
    return events


def _read_silent_turn(session: Session, shown_number: int, known: Container[str]) -> list[TurnEvent]:
    """Return a turn that answered a shown message again and left no message, as it failed before a word."""
    turn = last_turn(session)
    if turn is None or turn.is_open or str(turn.id) in known:
        return []
    if turn.messages.exclude(role=MessageRole.USER, number__lte=shown_number).exists():
        return []
    told, done = _read_end_of(turn, None)
    return [TurnStarted(turn_id=str(turn.id)), *told, done]


def _said(message: Message, cards: Cards, documents: Mapping[int, AttachedDocument]) -> list[TurnEvent]:
    stored = MessageStored(
        id=message.client_id or "",
        number=message.number,
        text=message.content,
        turn_id=str(message.turn_id),
        documents=attached_to(message, documents),
    )
    card = cards.of_message(message)
    return [stored, card] if card else [stored]


def _has_only_more_text(before: Sync, now: Sync) -> bool:
    """Say whether all that was added is text of the round that was shown last.

    Text of a new round is more than that: its reader may have been sent the boundary before it already.
    """
    shown = [row.text for row in before.rounds] or [""]
    texts = [row.text for row in now.rounds] or [""]
    is_running_on = bool(shown[-1]) or not before.text or texts == shown
    return (
        (len(texts), texts[:-1]) == (len(shown), shown[:-1])
        and is_running_on
        and before.notes == now.notes
        and now.text.startswith(before.text)
    )


def _progress(before: Sync, now: Sync) -> list[TurnEvent]:
    """Return how the open turn went on: as text if only text came, else as a snapshot."""
    has_same_calls = dict(before.running) == dict(now.running)
    events: list[TurnEvent] = []
    if before.turn_id != now.turn_id or not has_same_calls or not _has_only_more_text(before, now):
        events.append(now)
    elif now.text != before.text:
        events.append(TextDelta(now.text[len(before.text) :]))
    if now.pending != before.pending:
        events += list(now.pending)
    if now.status == "awaiting_user" and before.status != "awaiting_user":
        events.append(TurnDone(turn_id=now.turn_id, stop_reason="tool_use", status="awaiting_user"))
    return events
