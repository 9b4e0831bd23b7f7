"""What came of a situation, read from the rows: words, calls, files, steps, cards, tokens."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from coaching.models import ActionItem, FileSource, UserFileVersion
from sessions_app.models import (
    Message,
    MessageRole,
    ModelUsage,
    SafetyVerdict,
    Session,
    ToolCallRecord,
    ToolCallState,
)
from tests.evals.situation import Situation


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a tool. `is_refused`: it had an error as its result, or none yet."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    result: str = ""
    is_refused: bool = False
    is_pending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What followed one line: all that Sage said until it was the person's turn again."""

    asked: str
    text: str
    calls: Sequence[Call] = ()
    status: str = "completed"
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """A version of a file that Sage has written."""

    type: str
    path: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundStep:
    """A step as it stands now; `is_new` if it wasn't there before."""

    title: str
    quote: str = ""
    due: date | None = None
    state: str = "open"
    outcome: str = ""
    is_new: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What the model was paid for; the cost is None if a price isn't known."""

    micro_usd: int | None = 0
    input_tokens: int = 0
    output_tokens: int = 0


NOTHING = Spent()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One run of a situation. `card` is the highest level of the cards that were shown."""

    answers: Sequence[Answer]
    saved: Sequence[Saved] = ()
    steps: Sequence[FoundStep] = ()
    card: str = "none"
    entered: Sequence[str] = ()
    completed: Sequence[str] = ()
    spent: Spent = NOTHING

    @property
    def calls(self) -> Sequence[Call]:
        return [call for answer in self.answers for call in answer.calls]

    def to_text(self) -> str:
        """Return it for a reader: lines, answers, calls."""
        return "\n\n".join(_lines(self))


def _lines(transcript: Transcript) -> Iterator[str]:
    for answer in transcript.answers:
        yield f"> {answer.asked}"
        if answer.text:
            yield answer.text
        for call in answer.calls:
            yield f"[{call.name} {dict(call.input)}{' refused' if call.is_refused else ''}]"
    for file in transcript.saved:
        yield f"[saved {file.path}]\n{file.content}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What was there before the model's first answer."""

    message_number: int
    step_ids: frozenset[int]


def read_before(session: Session) -> Before:
    """Read it. Blocks."""
    steps = frozenset(ActionItem.of(session.user_id).values_list("id", flat=True))
    return Before(message_number=session.last_message_number, step_ids=steps)


def read_answer(session: Session, *, asked: str, seconds: float) -> Answer:
    """Return what the session's newest turn has said and done. Blocks."""
    turn = session.turns.filter(is_withdrawn=False).latest("started_at")
    words = turn.messages.filter(role=MessageRole.ASSISTANT).values_list("content", flat=True)
    waiting = turn.rounds.order_by("number").values_list("text", flat=True)
    said = list(words) or [text for text in waiting if text]
    calls = ToolCallRecord.of(session.user_id).filter(turn=turn).order_by("round_number", "position")
    return Answer(
        asked=asked,
        text="\n\n".join(said),
        calls=[_call(row) for row in calls],
        status=turn.status,
        seconds=seconds,
    )


def _call(row: ToolCallRecord) -> Call:
    return Call(
        name=row.name,
        input=row.input,
        result=row.result,
        is_refused=row.is_error,
        is_pending=row.state == ToolCallState.PENDING,
    )


def read_transcript(
    situation: Situation, session: Session, before: Before, answers: Sequence[Answer]
) -> Transcript:
    """Read what the answers have brought. Blocks."""
    session.refresh_from_db()
    arcs = session.metadata.get("arcs", [])
    return Transcript(
        answers=answers,
        saved=_saved(session),
        steps=_steps(session, before),
        card=_card(session, before),
        entered=[arc["arc"] for arc in arcs if arc.get("entered_by")],
        completed=session.metadata.get("completed_arcs", []),
        spent=_spent(session),
    )


def _saved(session: Session) -> Sequence[Saved]:
    versions = UserFileVersion.of(session.user_id).filter(source=FileSource.TOOL, session=session)
    return [
        Saved(type=each.file.file_type, path=each.file.path, content=each.content)
        for each in versions.select_related("file").order_by("created_at", "id")
    ]


def _steps(session: Session, before: Before) -> Sequence[FoundStep]:
    return [
        FoundStep(
            title=row.title,
            quote=row.quote,
            due=row.due_date,
            state=row.state,
            outcome=getattr(row, "outcome", ""),
            is_new=row.pk not in before.step_ids,
        )
        for row in ActionItem.of(session.user_id).order_by("id")
    ]


_LEVELS = ("none", "concern", "immediate")


def _card(session: Session, before: Before) -> str:
    """Return the highest level that the rules, a second look or Sage gave since the model's first answer."""
    messages = Message.of(session.user_id).filter(session=session, number__gt=before.message_number)
    verdicts = SafetyVerdict.of(session.user_id).filter(message__in=messages)
    levels = [level for row in verdicts.values_list("level", "noticed") for level in row if level]
    return max(levels, key=_LEVELS.index, default="none")


def _spent(session: Session) -> Spent:
    """Add up what the person's situation has cost: answers, and the second look at their words."""
    rows = list(ModelUsage.of(session.user_id))
    costs = [row.cost_micro_usd for row in rows]
    known = [cost for cost in costs if cost is not None]
    return Spent(
        micro_usd=sum(known) if len(known) == len(costs) else None,
        input_tokens=sum(
            row.input_tokens
            + row.cache_read_tokens
            + row.cache_creation_5m_tokens
            + row.cache_creation_1h_tokens
            for row in rows
        ),
        output_tokens=sum(row.output_tokens for row in rows),
    )
