"""Catches readers up from the database: with the log's facts after a number, and the open turn's progress.

Facts are told in their order. Streamed text is in no fact: before a fact that ends with it, and at the end,
the open turn is read as stored, and told as more text where it is only that, else as a snapshot.
"""

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import FilteredRelation, Q

from coaching.events import RoundShown, Sync, TextDelta, TurnEvent
from coaching.live.showing import pending_of, shown
from coaching.people.languages import in_language_of
from coaching.transcript.old_replies import text_of_reply
from sessions_app import selectors
from sessions_app import session_events as facts
from sessions_app.database import one_snapshot
from sessions_app.models import MessageRole, Session, SessionStatus, ToolCallState, Turn, TurnStatus
from sessions_app.pending_calls import read_pending_calls
from sessions_app.verdicts import read_levels

Progress = tuple[object, ...]
"""Differs whenever a running turn has got further: its id, its fence, what was stored of its last round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far a session is: its last fact, and the progress of the turn that runs in it, if any."""

    seq: int
    progress: Progress = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What readers are to be told, and where they are then.

    `is_about_turn`: it depends on what they were shown of the open turn; `is_snapshot`: it replaces that.
    """

    position: Position
    sync: Sync
    events: Sequence[TurnEvent] = ()
    is_about_turn: bool = False
    is_snapshot: bool = False


def read_positions(session_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Position]:
    """Return how far these sessions are, in one statement."""
    running = FilteredRelation("turns", condition=Q(turns__status=TurnStatus.RUNNING))
    sessions = Session.unscoped.filter(id__in=session_ids).annotate(running=running).order_by()
    rows = sessions.values_list("id", "event_seq", "running__id", "running__fence", "running__shown")
    return {
        session_id: Position(seq=seq, progress=tuple(progress) if progress[0] else ())
        for session_id, seq, *progress in rows
    }


def read_news(session_id: uuid.UUID, seq: int | None, before: Sync, *, running: str = "") -> News:
    """Read what happened after the fact `seq`, for readers who have been shown `before` of the open turn.

    Without `seq`, or where facts are gone, that is a snapshot. `running` is the turn that runs here, whose
    text they get as it comes. The caller has checked that its readers may read the session.
    Raises `Session.DoesNotExist`.
    """
    with one_snapshot():
        session = Session.unscoped.select_related("user__profile").defer("opening").get(id=session_id)
        position = read_positions([session_id])[session_id]
        now = read_sync(session)
        known = None if seq is None else facts.read_since(session, seq)
        is_here = bool(running) and running == now.turn_id
        if known is None:
            snapshot = [] if is_here else [now]
            return News(position=position, sync=now, events=snapshot, is_snapshot=True)
        follower = Follower(session_id, before)
        with in_language_of(session.user):
            events = [event for _, fact in known for event in follower.events_of(fact)]
        if not is_here:
            events += follower.last(now)
        return News(position=position, sync=now, events=events, is_about_turn=follower.has_told_turn)


class Follower:
    """What readers have been shown of the open turn, while facts are told in order."""

    def __init__(self, session_id: uuid.UUID, before: Sync) -> None:
        self.has_told_turn = False
        self._session_id = session_id
        self._before = before
        self._is_closed = False

    def events_of(self, fact: facts.Fact) -> Iterator[TurnEvent]:
        """Return the events that tell a fact, after the text that came before it."""
        match fact:
            case facts.TurnOpened():
                events = shown(self._session_id, fact)
                if events:
                    self._before = Sync(status="running", turn_id=fact.turn_id, running={})
                    self.has_told_turn = True
                yield from events
            case facts.CallAsked() | facts.PartEnded():
                if fact.turn_id == self._before.turn_id:  # else nobody has been told of this turn
                    self.has_told_turn = True
                    yield from self._events_with_text(fact)
            case facts.Ended():
                self._is_closed = fact.status != SessionStatus.COMPLETED
                yield from shown(self._session_id, fact)
            case _:
                yield from shown(self._session_id, fact)

    def _events_with_text(self, fact: facts.CallAsked | facts.PartEnded) -> Iterator[TurnEvent]:
        turn = Turn.unscoped.filter(id=fact.turn_id).defer("prefix").first()
        if turn is not None and not turn.is_withdrawn:
            text = _text_until(turn, fact)
            if text is not None:
                yield from _progress(self._before, text)
                self._before = text
        yield from shown(self._session_id, fact)
        if isinstance(fact, facts.PartEnded):
            is_waiting = fact.status == TurnStatus.AWAITING_USER
            idle = Sync(status="idle", running={})
            self._before = replace(self._before, status="awaiting_user") if is_waiting else idle

    def last(self, now: Sync) -> Iterator[TurnEvent]:
        """Return what leads from the last fact to the present."""
        if self._is_closed:
            yield now  # says that the session has ended
        elif now.turn_id or self._before.turn_id:
            yield from _progress(self._before, now)


def _text_until(turn: Turn, fact: facts.CallAsked | facts.PartEnded) -> Sync | None:
    """Return a turn as it was shown when it asked, or ended; None where its question told that before."""
    if isinstance(fact, facts.PartEnded):
        if fact.status == TurnStatus.AWAITING_USER:
            return None
        rounds = read_shown_rounds(turn)
        answer = turn.messages.filter(role=MessageRole.ASSISTANT).first()
        text = text_of_reply(answer) if answer else ""
        return _sync_of(turn, rounds, text=text)
    asked_in = turn.calls.filter(tool_use_id=fact.tool_use_id).values_list("round_number", flat=True)
    until = max(asked_in, default=0)
    return _sync_of(turn, [row for row in read_shown_rounds(turn) if row.number <= until])


def _sync_of(turn: Turn, rounds: Sequence[RoundShown], *, text: str | None = None) -> Sync:
    return Sync(
        status="running",
        turn_id=str(turn.id),
        text="\n\n".join(row.text for row in rounds if row.text) if text is None else text,
        notes=tuple(row.notes for row in rounds if row.notes),
        rounds=tuple(rounds),
        running={},
    )


def _progress(before: Sync, now: Sync) -> list[TurnEvent]:
    """Return how a turn went on: as text if only text came, else as a snapshot."""
    has_same_calls = dict(before.running) == dict(now.running)
    if before.turn_id != now.turn_id or not has_same_calls or not _has_only_more_text(before, now):
        return [now]
    return [TextDelta(now.text[len(before.text) :])] if now.text != before.text else []


def _has_only_more_text(before: Sync, now: Sync) -> bool:
    """Say whether all that was added is text of the round that was shown last.

    Text of a new round is more than that: its reader may have been sent the boundary before it already.
    """
    had = [row.text for row in before.rounds] or [""]
    texts = [row.text for row in now.rounds] or [""]
    is_running_on = bool(had[-1]) or not before.text or texts == had
    return (
        (len(texts), texts[:-1]) == (len(had), had[:-1])
        and is_running_on
        and before.notes == now.notes
        and now.text.startswith(before.text)
    )


def read_sync(session: Session) -> Sync:
    """Build the snapshot of a session's open turn, or of an idle session."""
    turn = selectors.read_open_turn(session)
    ended = "" if session.status == SessionStatus.ACTIVE else session.status
    cards = tuple((number, level) for _, number, level in read_levels([session.id]))
    number = session.last_message_number
    if turn is None:
        return Sync(status="idle", running={}, last_number=number, ended=ended, cards=cards)
    is_waiting = turn.status == TurnStatus.AWAITING_USER
    return replace(
        _sync_of(turn, read_shown_rounds(turn)),
        status="awaiting_user" if is_waiting else "running",
        running={
            call.tool_use_id: call.name for call in turn.calls.all() if call.state == ToolCallState.RUNNING
        },
        # They are shown one after another.
        pending=tuple(pending_of(call) for call in read_pending_calls(turn)[:1]) if is_waiting else (),
        last_number=number,
        ended=ended,
        cards=cards,
    )


def read_shown_rounds(turn: Turn) -> tuple[RoundShown, ...]:
    """Return what each round has shown, with what was last stored of the running one."""
    rounds = [
        RoundShown(number=row.number, text=row.text, notes=row.notes, is_finished=True)
        for row in turn.rounds.all()
    ]
    text, notes = turn.words_of_running_round()
    if text or notes:
        number = rounds[-1].number + 1 if rounds else 1
        rounds.append(RoundShown(number=number, text=text, notes=notes, is_finished=False))
    return tuple(rounds)
