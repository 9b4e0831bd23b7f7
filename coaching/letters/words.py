"""What a letter about a month may rest on: what the person typed here, in conversations of their own.

Left out are turns in danger, hidden, imported and withdrawn messages, conversations that were deleted, that
are about a client, or that are about the safety plan.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Exists, OuterRef, Q, QuerySet

from coaching.clock.days import day_bounds, local_day
from coaching.clock.weeks import month_after
from coaching.legacy_text.blocks import strip_block_tags
from coaching.library.rows.proposals import for_models
from coaching.models import (
    ActionItem,
    ActionOrigin,
    ActionState,
    ClientType,
    Profile,
    StepChange,
)
from coaching.safety.card import ELSEWHERE_KEY, METADATA_KEY, danger_in
from coaching.tools.private_calls import without_private
from sessions_app.history import PROGRAM_KEY
from sessions_app.models import (
    USED,
    BriefCorrection,
    Message,
    MessageRole,
    SafetyVerdict,
    Session,
    ToolCallRecord,
    VerdictLevel,
)

MIN_CONVERSATIONS = 3
MAX_STEPS = 30
_NOT_SAID_HERE = ("is_hidden", "imported_id", PROGRAM_KEY, METADATA_KEY, ELSEWHERE_KEY)


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidWords:
    """A message of the person, and the day of theirs on which they wrote it."""

    session_id: UUID
    number: int
    text: str
    day: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A next step that was set or changed in the month; `quote` is the sentence that it comes from."""

    title: str
    quote: str
    state: str
    outcome: str
    set_on: date
    changes: Sequence[tuple[str, date]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthWords:
    """A month of a person's: their words in order, by conversation, and what they set out to do."""

    month: date
    said: Sequence[SaidWords]
    steps: Sequence[Step] = ()
    corrections: Sequence[BriefCorrection] = ()

    @property
    def conversations(self) -> Sequence[Sequence[SaidWords]]:
        return [list(words) for _, words in groupby(self.said, key=lambda each: each.session_id)]

    @property
    def is_enough(self) -> bool:
        return len({each.session_id for each in self.said}) >= MIN_CONVERSATIONS


def month_before(now: datetime, zone: ZoneInfo) -> date:
    """Return the first day of the person's month before the one at `now`."""
    return month_after(local_day(now, zone), -1)


def has_enough(*, profile: Profile, month: date) -> bool:
    """Return whether there are enough conversations for a letter about a month. Sync ORM code."""
    begin, end = _bounds(month, profile.zone)
    said = _said(profile.user_id, begin, end).filter(session=OuterRef("pk"))
    sessions = _own_sessions(profile.user_id, begin, end).filter(Exists(said)).order_by()
    return len(sessions.values_list("pk")[:MIN_CONVERSATIONS]) >= MIN_CONVERSATIONS


def read_month(*, profile: Profile, month: date) -> MonthWords:
    """Read what a letter about a month may rest on. Sync ORM code."""
    begin, end = _bounds(month, profile.zone)
    sessions = list(_own_sessions(profile.user_id, begin, end).values_list("pk", flat=True))
    rows = _said(profile.user_id, begin, end).filter(session__in=sessions)
    rows = rows.order_by("session__started_at", "session_id", "number")
    said = [
        SaidWords(
            session_id=session_id,
            number=number,
            text=strip_block_tags(text),
            day=local_day(at, profile.zone),
        )
        for session_id, number, text, at in rows.values_list("session_id", "number", "content", "created_at")
    ]
    corrections = BriefCorrection.of(profile.user_id).filter(session__in=sessions).order_by("pk")
    return MonthWords(
        month=month,
        said=[words for words in said if words.text.strip()],
        steps=_read_steps(profile, begin, end),
        corrections=list(corrections),
    )


def _bounds(month: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    return day_bounds(month, zone)[0], day_bounds(month_after(month), zone)[0]


def _own_sessions(user_id: int, begin: datetime, end: datetime) -> QuerySet[Session]:
    """Return the person's own sessions that were used between two moments, without those of private files."""
    own = Session.of(user_id).filter(USED, last_active_at__gte=begin, started_at__lt=end)
    own = own.filter(Q(scope=None) | Q(scope__client__client_type=ClientType.SELF))
    return without_private(own, user_id=user_id)


def _said(user_id: int, begin: datetime, end: datetime) -> QuerySet[Message]:
    """Return what the person typed between two moments, outside of turns in danger."""
    messages = Message.of(user_id).filter(
        role=MessageRole.USER, turn__is_withdrawn=False, created_at__gte=begin, created_at__lt=end
    )
    in_turn = {"turn": OuterRef("turn")}
    marked = Message.of(user_id).filter(**in_turn, metadata__has_any_keys=[METADATA_KEY, ELSEWHERE_KEY])
    judged = SafetyVerdict.of(user_id).filter(message__turn=OuterRef("turn")).exclude(level=VerdictLevel.NONE)
    answered = ToolCallRecord.of(user_id).filter(**in_turn, metadata__has_key=METADATA_KEY)
    messages = messages.exclude(metadata__has_any_keys=_NOT_SAID_HERE)
    messages = messages.exclude(turn__metadata__has_key="is_imported")
    return messages.filter(~Exists(marked), ~Exists(judged), ~Exists(answered))


def _read_steps(profile: Profile, begin: datetime, end: datetime) -> Sequence[Step]:
    """Return the person's own steps that were set or changed between two moments, without words of danger.

    A step of a conversation that has none any more is of one that was deleted.
    """
    changed = StepChange.of(profile.user_id).filter(at__gte=begin, at__lt=end).order_by("at", "id")
    steps = for_models(ActionItem.of(profile.user_id)).exclude(
        ~Q(quote="") | Q(origin=ActionOrigin.CONVERSATION), session=None, document=None
    )
    steps = steps.filter(
        Q(created_at__gte=begin, created_at__lt=end) | Q(pk__in=changed.values("action_item")),
        client__client_type=ClientType.SELF,
        session__deleted_at=None,
        state__in=[ActionState.OPEN, ActionState.DONE, ActionState.DROPPED],
    )
    listed = list(steps.order_by("created_at", "id")[:MAX_STEPS])
    changes: dict[int, list[tuple[str, date]]] = {}
    for step_id, kind, at in changed.values_list("action_item_id", "kind", "at"):
        changes.setdefault(step_id, []).append((kind, local_day(at, profile.zone)))
    return [
        Step(
            title=step.title,
            quote=step.quote,
            state=step.state,
            outcome=step.outcome,
            set_on=local_day(step.created_at, profile.zone),
            changes=changes.get(step.pk, ()),
        )
        for step in listed
        if danger_in(f"{step.title}\n{step.quote}\n{step.outcome}") is None
    ]
