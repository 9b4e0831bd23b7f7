"""`enter_structured_arc`: starts an arc in an open conversation. What may be written changes at once."""

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from django.utils.translation import gettext_noop as _

from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolInput, ToolResult
from coaching.files.permissions import WRITABLE
from coaching.life.arcs import arc_skill_text
from coaching.models import SkillKind
from coaching.skills.callers import SkillTool
from coaching.tools.context import ToolContext
from coaching.tools.presentation import ARC, Presentation, SageTool, held, text_in
from sessions_app.arcs import current_arc, enter_arc
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind, SessionStatus
from sessions_app.selectors import accessible_session

DESCRIPTION = (
    "Begin an arc in this open conversation: open_day plans the day (two minutes), close_day ends it with "
    "a log (three), weekly_checkin reviews the week (fifteen), life_mapping writes a page for each life "
    "domain (ten minutes a part). Use it when the user asks for one or says yes to your offer, and only "
    "then; not while another is open. The result brings its guidance and what may be written, at once: "
    "save_file in the same round may already write the arc's files."
)
ONLY_IN_A_CONVERSATION = "An arc can be entered in a conversation only."
ENDED = "This conversation has ended ({status}); no arc can begin in it. A new message begins a new one."
ALREADY_IN_IT = "This conversation is in that arc already. Go on with it."
IN_ANOTHER = (
    "This conversation is in another arc ({arc}). Go on with it, or close it with complete_session first."
)


class EnterStructuredArcInput(ToolInput):
    arc: Literal["open_day", "close_day", "weekly_checkin", "life_mapping"]


async def _run(context: ToolContext, given: EnterStructuredArcInput) -> ToolResult:
    session_id = context.session_id
    if session_id is None:
        raise ToolError(ONLY_IN_A_CONVERSATION)
    return await context.commit(lambda: _enter(context, session_id, SessionKind(given.arc)))


def _enter(context: ToolContext, session_id: UUID, arc: SessionKind) -> ToolResult:
    session = accessible_session(user_id=context.user_id, session_id=session_id, is_locked=True)
    if refusal := _refusal(session, arc):
        return refusal
    skill = arc_skill_text(session, arc)  # first, since no arc begins without its guidance
    enter_arc(session, arc=arc, entered_by=context.tool_use_id, now=context.now)
    return ToolResult.of(
        success=True, arc=arc, may_write=[str(file_type) for file_type in WRITABLE[arc]], skill=skill
    )


async def _check(context: ToolContext, given: EnterStructuredArcInput) -> Mapping[str, Any]:
    """Return the arc that the user is asked about. Raises `ToolError` where it can't begin."""
    if context.session_id is None:
        raise ToolError(ONLY_IN_A_CONVERSATION)
    session = await in_database(accessible_session, user_id=context.user_id, session_id=context.session_id)
    if refusal := _refusal(session, SessionKind(given.arc)):
        raise ToolError(refusal.content)
    return {ARC: given.arc}


def _refusal(session: Session, arc: SessionKind) -> ToolResult | None:
    """Return why no arc can begin now, or None."""
    if session.status != SessionStatus.ACTIVE:
        return _not_entered(session.status, ENDED.format(status=session.status))
    current = current_arc(session)
    if current is None:
        return None
    if current.arc == arc:
        return _not_entered("in_this_arc", ALREADY_IN_IT)
    return _not_entered("in_another_arc", IN_ANOTHER.format(arc=current.arc))


def _not_entered(reason: str, message: str) -> ToolResult:
    return ToolResult.of(success=False, reason=reason, message=message)


def _arc_begun(result: Mapping[str, Any]) -> str:
    return text_in(result, "arc") if result.get("success") is True else ""


ENTER_STRUCTURED_ARC: SageTool[EnterStructuredArcInput] = SageTool(
    name="enter_structured_arc",
    description=DESCRIPTION,
    input_model=EnterStructuredArcInput,
    kind="lifecycle",
    phase="first",
    run=_run,
    check=_check,
    presentation=Presentation(
        once=_("started a guided session"),
        often=_("started {count} guided sessions"),
        activity=_("Starting a guided session"),
        arc_begun=_arc_begun,
        question=held(_("Shall I start this?"), yes=_("Start it"), done=_("Started.")),
    ),
    skills=SkillTool(kind=SkillKind.ARC, field="arc"),
)
