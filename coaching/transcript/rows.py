"""Reads the rows that a page shows of a session.

Rendering can take seconds for a hostile text, so no database connection or thread may wait for it: callers
read here first, and build with `conversation` afterwards.
"""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from zoneinfo import ZoneInfo

from django.utils import timezone

from coaching.events import CallAnswered
from coaching.models import Profile
from coaching.transcript.arcs import EndingItem, HeadItem, head_of, read_ending
from coaching.transcript.calls import SHOWN_STATES
from coaching.transcript.cards import NO_CARDS, Cards, read_cards
from sessions_app import selectors
from sessions_app.models import CallState, Message, MessageRole, Session, ToolCallRecord, Turn
from sessions_app.spending import Spending, read_spending_of_turn, read_spending_of_turns

PAGE_MESSAGES = 60
"""How many messages a page shows at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRows:
    """A piece of a session's history, with calls, costs and cards of its turns."""

    messages: Sequence[Message]
    calls: Mapping[uuid.UUID, Sequence[ToolCallRecord]]
    spent: Mapping[uuid.UUID, Spending]
    cards: Cards
    has_earlier: bool

    @property
    def first_number(self) -> int:
        """The number of the first message; 0 without messages."""
        return self.messages[0].number if self.messages else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRows:
    """The calls of one turn that a page may show, with the cards of their answers."""

    calls: Sequence[ToolCallRecord]
    cards: Cards


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRows:
    """A closed turn with its answer, shown calls and cost."""

    turn: Turn
    answer: Message | None
    shown: CallRows
    spent: Spending | None
    zone: ZoneInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneRows:
    """The end of a part: the closed turn, or the calls of a waiting one."""

    turn: TurnRows | None
    open_calls: Sequence[ToolCallRecord]
    head: HeadItem
    ending: EndingItem | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidRows:
    """A user's message with the previous one, and its session's title."""

    message: Message
    before: Message | None
    title: str
    zone: ZoneInfo


def read_zone(user_id: int) -> ZoneInfo:
    """Read the user's time zone; UTC if unknown."""
    profile = Profile.of(user_id).first()
    return profile.zone if profile else ZoneInfo("UTC")


def read_history(session: Session, *, before: int | None = None, limit: int = PAGE_MESSAGES) -> HistoryRows:
    """Read the end of a session's history, or what precedes message number `before`.

    A turn that doesn't fit is left out entirely, so an answer never appears without its question.
    """
    messages, has_earlier = selectors.history_page(session, before=before, limit=limit)
    turns = {message.turn_id: message.turn for message in messages}
    calls = ToolCallRecord.within(*turns.values()).filter(state__in=SHOWN_STATES)
    by_turn: dict[uuid.UUID, list[ToolCallRecord]] = defaultdict(list)
    for call in calls.order_by("round_number", "position"):
        by_turn[call.turn_id].append(call)
    return HistoryRows(
        messages=messages,
        calls=by_turn,
        spent=read_spending_of_turns(turns),
        cards=read_cards(session.id, chain(messages, *by_turn.values())),
        has_earlier=has_earlier,
    )


def read_said(turn_id: str, *, number: int) -> SaidRows:
    """Read a user's message, and what is needed to place it in the session."""
    message = Message.unscoped.select_related("session").get(
        session__turns=uuid.UUID(turn_id), number=number
    )  # not by its own turn: a retry may have moved it
    before = (
        message.session.messages.filter(role=MessageRole.USER, number__lt=number, turn__is_withdrawn=False)
        .exclude(metadata__has_key="is_hidden")
        .order_by("-number")
        .first()
    )
    title, zone = message.session.title, read_zone(message.session.user_id)
    return SaidRows(message=message, before=before, title=title, zone=zone)


def read_done(turn_id: str) -> DoneRows:
    """Read the end of a part."""
    turn = Turn.unscoped.select_related("session").get(id=uuid.UUID(turn_id))
    return DoneRows(
        turn=_read_turn_rows(turn),
        open_calls=read_calls(turn.id).calls if turn.is_open else (),
        head=head_of(turn.session),
        ending=read_ending(turn.session, now=timezone.now()),
    )


def read_answered(event: CallAnswered) -> TurnRows | CallRows | None:
    """Read the end of a pending call: its turn if that is closed, otherwise the call.

    After an answer the turn goes on, and its own end is shown later.
    """
    turn = Turn.unscoped.select_related("session").get(id=uuid.UUID(event.turn_id))
    if event.state != CallState.ANSWERED and not turn.is_open:
        return _read_turn_rows(turn)
    call = turn.calls.filter(tool_use_id=event.tool_use_id).first()
    return CallRows(calls=(call,), cards=read_cards(turn.session_id, (call,))) if call else None


def read_calls(turn_id: uuid.UUID) -> CallRows:
    """Read the calls of a turn that a page may show."""
    shown = ToolCallRecord.unscoped.filter(turn_id=turn_id, state__in=SHOWN_STATES).select_related("turn")
    calls = list(shown.order_by("round_number", "position"))
    return CallRows(calls=calls, cards=read_cards(calls[0].turn.session_id, calls) if calls else NO_CARDS)


def _read_turn_rows(turn: Turn) -> TurnRows | None:
    """Read a turn that is closed and not withdrawn; None for any other."""
    if turn.is_open or turn.is_withdrawn:
        return None
    answer = turn.messages.filter(role=MessageRole.ASSISTANT).first()
    return TurnRows(
        turn=turn,
        answer=answer,
        shown=read_calls(turn.id),
        spent=read_spending_of_turn(turn.id),
        zone=read_zone(turn.session.user_id),
    )
