"""`resolve_action_item`: notes what became of a next step, on the user's own words, or asks them."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal

from django.utils.translation import gettext_noop as _
from pydantic import Field

from coaching.clock.days import local_day
from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolInput, ToolResult
from coaching.files.attributes import StorableText
from coaching.library.drafts import MAX_OUTCOME
from coaching.library.evidence import MAX_QUOTE
from coaching.library.promises import Claim
from coaching.library.resolutions import Resolution, resolve
from coaching.library.rows.proposals import for_models
from coaching.models import ActionItem, ActionState, Profile
from coaching.tools.confirmed import NOT_WITHOUT_A_YES, answers, checks
from coaching.tools.context import CallContext, ToolContext
from coaching.tools.decisions import Decision
from coaching.tools.evidence import decision_on, refuse_in_danger
from coaching.tools.presentation import CardField, Presentation, SageTool, card
from coaching.tools.reach import reached_clients
from coaching.tools.results import Id
from coaching.tools.step_results import step_values, tell_step
from sessions_app.errors import Refused

DESCRIPTION = (
    "Note that a next step is done, dropped, or open (again, or moved to due_date). Use it when the user "
    "says so, and quote their words: then it is noted at once."
)
NO_STEP = "There is no next step with that id. next_steps and list_action_items have the ids."
STEP, WORDS = _("Next step"), _("In your words")
STATES = (("done", _("Done")), ("dropped", _("Dropped")), ("open", _("Still to be done")))
FIELDS = (
    CardField(name="state", label=_("What became of it"), kind="choice", choices=STATES, is_required=True),
    CardField(name="due_date", label=_("Due"), kind="date"),
    CardField(name="outcome", label=_("How it went"), kind="text", max_length=MAX_OUTCOME),
)


class ResolveActionItemInput(ToolInput):
    """The input of `resolve_action_item`."""

    id: Id
    state: Literal["done", "dropped", "open"]
    quote: Annotated[StorableText, Field(max_length=MAX_QUOTE)]
    outcome: Annotated[StorableText, Field(max_length=MAX_OUTCOME)] | None = None
    due_date: date | None = None


def _step(context: CallContext, step_id: int) -> ActionItem:
    """Return a step that the call reaches. Raises `ToolError`."""
    steps = for_models(ActionItem.of(context.user_id)).exclude(state=ActionState.DISMISSED)
    reached = reached_clients(context)
    steps = steps if reached is None else steps.filter(client_id__in=reached)
    step = steps.filter(id=step_id).first()
    if step is None:
        raise ToolError(NO_STEP)
    return step


def claim_on(title: str, given: ResolveActionItemInput) -> Claim:
    """Return what a call says that became of the step with that title."""
    return Claim(quote=given.quote, purpose=given.state, title=title, due_date=given.due_date)


def _decide(context: ToolContext, given: ResolveActionItemInput, is_tainted: bool) -> Decision:
    step = _step(context, given.id)
    decision = decision_on(context, claim_on(step.title, given), is_tainted=is_tainted)
    if step.state == ActionState.PROPOSED:
        return Decision(asks=True, why="suggested", sentence=decision.sentence, number=decision.number)
    return decision


def _check(context: CallContext, given: ResolveActionItemInput) -> Mapping[str, Any]:
    sentence = context.decision.sentence if context.decision else ""
    return {STEP: _step(context, given.id).title, **({WORDS: sentence} if sentence else {})}


async def _run(context: ToolContext, given: ResolveActionItemInput) -> ToolResult:
    decision = context.decision
    if decision is not None and decision.refusal:
        raise ToolError(decision.refusal)
    if decision is None or (decision.asks and not context.is_answer):
        raise ToolError(NOT_WITHOUT_A_YES)
    try:
        return await context.commit(lambda: _write(context, given))
    except Refused as refusal:
        raise ToolError(str(refusal)) from refusal


def _write(context: CallContext, given: ResolveActionItemInput) -> ToolResult:
    refuse_in_danger(context)
    step = _step(context, given.id)
    decision = context.decision
    profile, _made = Profile.of(context.user_id).get_or_create()
    resolution = Resolution(
        becomes=given.state,
        today=local_day(context.now, profile.zone),
        now=context.now,
        due_date=given.due_date if given.state == "open" else None,
        outcome=given.outcome or (decision.sentence if decision and given.state != "open" else ""),
        quote=decision.sentence if decision else "",
        session_id=context.session_id,
        message_number=decision.number if decision else None,
        made_by=context.tier.made_by,
        tool_use_id=context.tool_use_id,
    )
    resolve(user_id=context.user_id, step_id=step.pk, resolution=resolution)
    step.refresh_from_db()
    if not context.is_answer:
        tell_step(context, step)
    return ToolResult.of(**step_values(step))


RESOLVE_ACTION_ITEM: SageTool[ResolveActionItemInput] = SageTool(
    name="resolve_action_item",
    description=DESCRIPTION,
    input_model=ResolveActionItemInput,
    kind="evidence",
    run=_run,
    check=checks(_check),
    decides=_decide,
    answer=answers(_write, FIELDS),
    presentation=Presentation(
        once=_("noted what became of a next step"),
        often=_("noted what became of {count} next steps"),
        activity=_("Writing"),
        question=card(
            _("Shall I note this about your next step?"), FIELDS, yes=_("Note it"), done=_("Noted.")
        ),
        writes_step=True,
    ),
)
