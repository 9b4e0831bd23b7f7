"""`complete_session`: ends an arc or a whole conversation.

If an arc lacks something, the first call returns what is missing and only the second one completes it.
A summary that isn't given is written by a job later.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_noop as _
from pydantic import Field

from coaching.clock.days import local_day, with_weekday
from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolInput, ToolResult
from coaching.files.attributes import StorableText
from coaching.life.arcs import PULSE, next_checkin, read_lacking_artefacts
from coaching.model_client.context_size import is_compact
from coaching.models import Profile
from coaching.tools.context import ToolContext
from coaching.tools.presentation import ARC, Presentation, Question, SageTool, held, text_in
from sessions_app.arcs import CurrentArc, complete_arc, current_arc, note_told
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind, SessionStatus, ToolCallRecord
from sessions_app.selectors import accessible_session
from sessions_app.session_services import end_session
from sessions_app.summaries import give_summary

DESCRIPTION = (
    "Type 'arc' ends the current arc, and the conversation goes on; 'session' ends the conversation. Use it "
    "when the arc's files are saved and the user is content; in close_day only after they have confirmed the "
    "log. If something is still missing, the result names it and nothing is completed: save it, or call "
    "again if the user wants to end without it. Never in the same turn as show_options or show_pulse_check. "
    "Afterwards a short, warm goodbye; after an arc one line."
)
ONLY_IN_A_CONVERSATION = "Only a conversation can be completed."
NO_ARC = "This conversation is in no arc, so there is none to complete. It simply goes on."
ENDED = {
    SessionStatus.COMPLETED: "This conversation is completed already; nothing was changed.",
    SessionStatus.EXPIRED: (
        "This conversation expired before it was completed; nothing was changed. What was saved stays. "
        "The next message begins a new one."
    ),
    SessionStatus.ABANDONED: "The user ended this conversation before; nothing was changed.",
}
INCOMPLETE = (
    "Not completed yet: something that this arc leaves behind is still missing. Save it now with what the "
    "user said, or ask for it. If they want to end without it, call complete_session again."
)

RATE, RATE_IN_PAGE = "show_pulse_check", "updated_rating of a domain"
"""Where a rating goes that an arc lacks; the second where the tool for it isn't offered."""


class CompleteSessionInput(ToolInput):
    type: Literal["session", "arc"]
    summary: Annotated[StorableText, Field(max_length=2000)] | None = Field(
        default=None, description="Two or three sentences for later; may be left out."
    )


async def _run(context: ToolContext, given: CompleteSessionInput) -> ToolResult:
    session_id = context.session_id
    if session_id is None:
        raise ToolError(ONLY_IN_A_CONVERSATION)
    return await context.commit(lambda: _complete(context, session_id, given))


def _complete(context: ToolContext, session_id: UUID, given: CompleteSessionInput) -> ToolResult:
    session = accessible_session(user_id=context.user_id, session_id=session_id, is_locked=True)
    if session.status != SessionStatus.ACTIVE:
        return _not_completed(session.status, ENDED[SessionStatus(session.status)])
    arc = current_arc(session)
    if arc is None and given.type == "arc":
        return _not_completed("no_arc", NO_ARC)
    missing = _lacking(context, arc)
    if arc and missing and not _was_told(session, arc, context.tool_use_id):
        note_told(session, told_by=context.tool_use_id)
        return _not_completed("incomplete", INCOMPLETE, missing=missing)
    summary = (given.summary or "").strip()
    if arc:
        complete_arc(session, still_missing=missing, summary=summary, now=context.now)
    is_session_over = given.type == "session" or session.kind != SessionKind.OPEN_CONVERSATION
    if is_session_over and summary:  # an arc stores its own
        give_summary(session, summary)
    if is_session_over:
        end_session(user_id=context.user_id, session_id=session_id, status=SessionStatus.COMPLETED)
    return ToolResult.of(
        success=True,
        completed="session" if is_session_over else "arc",
        **({"arc": arc.arc, "still_missing": missing} if arc else {}),
        next_checkin=_next_checkin(context),
    )


async def _check(context: ToolContext, given: CompleteSessionInput) -> Mapping[str, Any]:
    """Return the arc that would end. Raises `ToolError` for what `_complete` wouldn't complete either."""
    if context.session_id is None:
        raise ToolError(ONLY_IN_A_CONVERSATION)
    arc, refusal = await in_database(_check_end, context, context.session_id, given)
    if refusal:
        raise ToolError(refusal)
    return {ARC: arc} if arc else {}


@transaction.atomic
def _check_end(context: ToolContext, session_id: UUID, given: CompleteSessionInput) -> tuple[str, str]:
    """Return the arc that would end, empty without one, and why nothing can end."""
    session = accessible_session(user_id=context.user_id, session_id=session_id, is_locked=True)
    if session.status != SessionStatus.ACTIVE:
        return "", ENDED[SessionStatus(session.status)]
    arc = current_arc(session)
    if arc is None:
        return "", NO_ARC if given.type == "arc" else ""
    missing = _lacking(context, arc)
    if missing and not _was_told(session, arc, context.tool_use_id):
        note_told(session, told_by=context.tool_use_id)
        return "", f"{INCOMPLETE} Missing: {'; '.join(missing)}."
    return str(arc.arc), ""


def _lacking(context: ToolContext, arc: CurrentArc | None) -> list[str]:
    if arc is None:
        return []
    lacking = read_lacking_artefacts(
        user_id=context.user_id, arc=arc.arc, since=arc.started_at, now=context.now, timezone=context.timezone
    )
    how = RATE_IN_PAGE if is_compact(settings.SAGE_MODEL) else RATE
    return [f"{name} ({how})" if name == PULSE else name for name in lacking]


def _was_told(session: Session, arc: CurrentArc, tool_use_id: str) -> bool:
    """Whether the model has read what is missing: a call of the same round was written before it could."""
    if not arc.told_by or arc.told_by == tool_use_id:
        return False
    calls = ToolCallRecord.within(session)
    told = calls.filter(tool_use_id=arc.told_by).order_by("-turn__messages__number").first()
    return (
        told is None
        or not calls.filter(
            tool_use_id=tool_use_id, turn_id=told.turn_id, round_number=told.round_number
        ).exists()
    )


def _next_checkin(context: ToolContext) -> str:
    profile, _ = Profile.of(context.user_id).get_or_create()
    return with_weekday(next_checkin(profile, today=local_day(context.now, context.timezone)))


def _not_completed(reason: str, message: str, **values: list[str]) -> ToolResult:
    return ToolResult.of(success=False, reason=reason, **values, message=message)


def _arc_ended(result: Mapping[str, Any]) -> str:
    # The end of a whole session is shown below its last words.
    is_arc = result.get("success") is True and result.get("completed") == "arc"
    return text_in(result, "arc") if is_arc else ""


def _summary(values: Mapping[str, Any]) -> str:
    return text_in(values, "summary")


_OF_AN_ARC = held(
    _("Shall I finish this part?"),
    yes=_("Finish it"),
    done=_("Finished. The conversation goes on."),
    text=_summary,
)
_OF_A_SESSION = held(
    _("Shall I end this conversation?"),
    yes=_("End it"),
    done=_("The conversation has ended."),
    text=_summary,
)


def _question(values: Mapping[str, Any]) -> Question:
    return (_OF_AN_ARC if values.get("type") == "arc" else _OF_A_SESSION)(values)


COMPLETE_SESSION: SageTool[CompleteSessionInput] = SageTool(
    name="complete_session",
    description=DESCRIPTION,
    input_model=CompleteSessionInput,
    kind="lifecycle",
    phase="last",
    run=_run,
    check=_check,
    presentation=Presentation(
        once=_("wrapped up"),
        often=_("wrapped up"),
        activity=_("Wrapping up"),
        arc_ended=_arc_ended,
        question=_question,
    ),
)
