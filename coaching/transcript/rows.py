"""Reads the rows that a page shows of a session.

Rendering can take seconds for a hostile text, so no database connection or thread may wait for it: callers
read here first, and build with `conversation` and `turn_items` afterwards.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from coaching.clock.timezones import UNKNOWN_TIMEZONE
from coaching.clock.travel import zone_after
from coaching.events import AttachedDocument, CallAnswered, MessagePlace
from coaching.library.rows.attached import read_attached
from coaching.models import AnswerFeedback, Profile, UserFile
from coaching.transcript.arcs import EndingItem, HeadItem, head_of, read_ending
from coaching.transcript.calls import SHOWN_STATES, written_texts
from coaching.transcript.cards import NO_CARDS, Cards, read_cards
from coaching.transcript.made_files import written_paths
from coaching.transcript.old_replies import old_calls
from sessions_app import selectors
from sessions_app.models import (
    MARKS_DAY,
    Message,
    MessageRole,
    SafetyVerdict,
    Session,
    ToolCallRecord,
    ToolCallState,
    Turn,
)
from sessions_app.queries import Columns, parameter, prepared, run_queries, run_query
from sessions_app.spending import Spending, read_spending_of_turns, spending_of
from sessions_app.turn_answers import content_of, content_queries

PAGE_MESSAGES = 60
"""How many messages a page shows at once."""

_MESSAGE, _VERDICT = Columns(Message), Columns(SafetyVerdict)
_TURN = Columns(Turn, without=("prefix", "shown"))
_SESSION = Columns(Session, "session__", without=("opening",))


@prepared
def _place() -> QuerySet[Any, Any]:
    # By the turn's session: a retry may have moved the message to another turn.
    messages = Message.unscoped.filter(session__turns=parameter("turn"), number=parameter("number"))
    earlier = Message.unscoped.filter(
        session=OuterRef("session"), role=MessageRole.USER, number__lt=OuterRef("number")
    )
    shown = earlier.filter(MARKS_DAY, turn__is_withdrawn=False)
    before = Subquery(shown.order_by("-number").values("created_at")[:1])
    zone = "session__user__profile__timezone"
    return messages.order_by().values_list("session", "session__title", "created_at", before, zone)


@prepared
def _turn() -> QuerySet[Any, Any]:
    turns = Turn.unscoped.filter(id=parameter("turn")).order_by()
    zones = ("session__user__profile__timezone", "session__user__profile__earlier_timezones")
    return turns.values_list(*zones, *_TURN.lookups, *_SESSION.lookups)


@prepared
def _answer() -> QuerySet[Any, Any]:
    answers = Message.unscoped.filter(turn=parameter("turn"), role=MessageRole.ASSISTANT).order_by()
    return answers.values_list(*_MESSAGE.lookups)


@prepared
def _verdict() -> QuerySet[Any, Any]:
    verdicts = SafetyVerdict.unscoped.filter(message__turn=parameter("turn")).order_by()
    return verdicts.values_list(*_VERDICT.lookups)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRows:
    """A piece of a session's history, with calls, costs and cards of its turns.

    `old_files` are the paths in its old replies of which the user has a file. `answered_by` are the turns of
    each message that has several answers, by its number. `ratings` are the person's, by turn.
    """

    messages: Sequence[Message]
    calls: Mapping[uuid.UUID, Sequence[ToolCallRecord]]
    spent: Mapping[uuid.UUID, Spending]
    cards: Cards
    has_earlier: bool
    old_files: Collection[str] = ()
    documents: Mapping[int, AttachedDocument] = field(default_factory=dict)
    answered_by: Mapping[int, Sequence[uuid.UUID]] = field(default_factory=dict)
    ratings: Mapping[uuid.UUID, str] = field(default_factory=dict)

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
    """A closed turn with its answer, shown calls and cost, and the verdict about its message.

    `old_files` as in `HistoryRows`; `said_next` is the user's next message, where it was read, too.
    `answered_by` are all turns of its message if that has several answers. `has_message` is false for
    imported answers to nothing, and `documents` are those of imported answers. `rating` is the person's.
    """

    turn: Turn
    answer: Message | None
    shown: CallRows
    spent: Spending | None
    verdict: SafetyVerdict | None
    zone: ZoneInfo
    old_files: Collection[str] = ()
    said_next: str = ""
    answered_by: Sequence[uuid.UUID] = ()
    has_message: bool = True
    documents: Mapping[int, AttachedDocument] = field(default_factory=dict)
    rating: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneRows:
    """The end of a part: the closed turn, or the calls of a waiting one."""

    turn: TurnRows | None
    open_calls: Sequence[ToolCallRecord]
    head: HeadItem
    ending: EndingItem | None


def read_history(session: Session, *, before: int | None = None, limit: int = PAGE_MESSAGES) -> HistoryRows:
    """Read the end of a session's history, or what precedes message number `before`.

    A turn that doesn't fit is left out entirely, so an answer never appears without its question.
    """
    messages, has_earlier = selectors.history_page(session, before=before, limit=limit)
    turns = {message.turn_id: message.turn for message in messages}
    calls = ToolCallRecord.within(*turns.values()).filter(Q(state__in=SHOWN_STATES) | Q(value__isnull=False))
    by_turn: dict[uuid.UUID, list[ToolCallRecord]] = defaultdict(list)
    for call in calls.order_by("round_number", "position"):
        by_turn[call.turn_id].append(call)
    return HistoryRows(
        messages=messages,
        calls=by_turn,
        spent=read_spending_of_turns(turns),
        cards=read_cards(session.id, chain(messages, *by_turn.values())),
        has_earlier=has_earlier,
        old_files=_read_old_files(session, messages),
        documents=read_attached(messages),
        answered_by=selectors.read_alternatives(session, turns.values()),
        ratings=_read_ratings(*turns.values()),
    )


def _read_ratings(*turns: Turn) -> Mapping[uuid.UUID, str]:
    return dict(AnswerFeedback.within(*turns).values_list("turn_id", "rating")) if turns else {}


def _read_old_files(session: Session, messages: Sequence[Message]) -> Collection[str]:
    """Return which files of old replies the user has; reads nothing where there are none."""
    if not any(map(written_texts, messages)):
        return ()
    profile = Profile.of(session.user_id).first() or Profile(user_id=session.user_id)
    calls = (call for message in messages for call in old_calls(message, zone=profile.zone))
    paths = dict.fromkeys(written_paths(calls))
    files = UserFile.of(session.user_id).filter(path__in=paths, version_number__gt=0)
    return frozenset(files.values_list("path", flat=True))


def read_place(turn_id: str, *, number: int) -> MessagePlace:
    """Read where a stored user message stands. Raises `Message.DoesNotExist`."""
    found = run_query(_place(turn=uuid.UUID(turn_id), number=number))
    if not found:
        raise Message.DoesNotExist
    session_id, title, said_at, before_at, timezone_name = found[0]
    return MessagePlace(
        session_id=str(session_id),
        title=title,
        said_at=said_at,
        before_at=before_at,
        timezone=timezone_name or UNKNOWN_TIMEZONE,
    )


def read_done(turn_id: str) -> DoneRows:
    """Read the end of a part."""
    turn, shown, rows = _read_turn(uuid.UUID(turn_id))
    return DoneRows(
        turn=rows,
        open_calls=shown.calls if turn.is_open else (),
        head=head_of(turn.session),
        ending=read_ending(turn.session, now=timezone.now()),
    )


def read_answered(event: CallAnswered) -> TurnRows | CallRows | None:
    """Read the end of a pending call: its turn if that is closed, otherwise the call.

    After an answer the turn goes on, and its own end is shown later.
    """
    turn, shown, rows = _read_turn(uuid.UUID(event.turn_id))
    if event.state != ToolCallState.ANSWERED and not turn.is_open:
        return rows
    call = next((call for call in shown.calls if call.tool_use_id == event.tool_use_id), None)
    return replace(shown, calls=(call,)) if call else None


def read_calls(turn_id: uuid.UUID) -> CallRows:
    is_shown = Q(state__in=SHOWN_STATES) | Q(value__isnull=False)
    shown = ToolCallRecord.unscoped.filter(is_shown, turn_id=turn_id).select_related("turn")
    calls = list(shown.order_by("round_number", "position"))
    return CallRows(calls=calls, cards=read_cards(calls[0].turn.session_id, calls) if calls else NO_CARDS)


def read_turn(turn_id: uuid.UUID) -> TurnRows | None:
    """Read a turn that is over, whether or not it is in the history; None if it isn't over."""
    turn, _, rows = _read_turn(turn_id, is_withdrawn_shown=True)
    return replace(rows, rating=_read_ratings(turn).get(turn_id, "")) if rows else None


def _read_turn(
    turn_id: uuid.UUID, *, is_withdrawn_shown: bool = False
) -> tuple[Turn, CallRows, TurnRows | None]:
    """Read a turn with its session and calls, in one round trip; its rows where it is over and in history."""
    queries = [_turn(turn=turn_id), _answer(turn=turn_id), _verdict(turn=turn_id), *content_queries(turn_id)]
    found, answers, verdicts, *rows = run_queries(queries)
    if not found:
        raise Turn.DoesNotExist
    timezone_name, earlier, *values = found[0]
    turn = _TURN.object_of(values[: len(_TURN)])
    turn.session = _SESSION.object_of(values[len(_TURN) :])
    content = content_of(rows)
    calls = [call for call in content.calls if call.state in SHOWN_STATES or call.is_allowed]
    shown = CallRows(calls=calls, cards=read_cards(turn.session_id, calls) if calls else NO_CARDS)
    if turn.is_open or (turn.is_withdrawn and not is_withdrawn_shown):
        return turn, shown, None
    answered_by = selectors.read_alternatives(turn.session, [turn])
    answer = _MESSAGE.object_of(answers[0]) if answers else None
    ended = TurnRows(
        turn=turn,
        answer=answer,
        shown=shown,
        spent=spending_of(content.usage) if content.usage else None,
        verdict=_VERDICT.object_of(verdicts[0]) if verdicts else None,
        zone=zone_after(timezone_name or UNKNOWN_TIMEZONE, earlier or ""),
        answered_by=answered_by.get(turn.message_number or 0, ()),
        documents=read_attached([answer]) if answer else {},
    )
    return turn, shown, ended
