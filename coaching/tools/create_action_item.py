"""`create_action_item`: adds something to do; with a date it is a reminder."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal

from django.utils.translation import gettext_noop as _
from pydantic import Field

from coaching.engine.tools import ToolInput, ToolResult
from coaching.files.attributes import Line, StorableText
from coaching.library.drafts import MAX_DESCRIPTION, MAX_TITLE, NewAction
from coaching.library.proposals import propose
from coaching.library.values import MAX_VALUE
from coaching.models import ActionItem, ActionPriority
from coaching.tools.confirmed import answers, checks, runs
from coaching.tools.context import CallContext
from coaching.tools.places import place_choices
from coaching.tools.presentation import PLACE, CardField, Presentation, SageTool, card
from coaching.tools.reach import Place, place_to_write
from coaching.tools.results import Id
from coaching.tools.sourced import Origin, Sourced, origin_of

DESCRIPTION = (
    "Add something to do, for a client or (without client_id) for the user; with due_date it is a reminder. "
    "Use it when something was agreed or asked for, with a due_date only if that was said or is written. In "
    "a conversation the user sees it and decides: say that it is added only if the result has written: true."
)
NO_SUCH_DAY = "The due date was left out: the quote doesn't name that day, or it may mean another one."
FIELDS = (
    PLACE,
    CardField(name="title", label=_("Action"), is_required=True, max_length=MAX_TITLE),
    CardField(name="due_date", label=_("Due"), kind="date"),
    CardField(
        name="priority",
        label=_("Priority"),
        kind="choice",
        choices=[(one.value, one.label) for one in ActionPriority],
    ),
    CardField(name="description", label=_("Details"), kind="text", max_length=MAX_DESCRIPTION),
)


class CreateActionItemInput(ToolInput):
    title: Annotated[Line, Field(max_length=MAX_TITLE)]
    description: Annotated[StorableText, Field(max_length=MAX_DESCRIPTION)] | None = None
    due_date: date | None = None
    priority: Literal["low", "medium", "high"] = "medium"
    client_id: Id | None = None
    project_id: Id | None = None


class PipelineActionItemInput(CreateActionItemInput, Sourced):
    description: Annotated[StorableText, Field(max_length=MAX_VALUE)] | None = None


def _check(context: CallContext, given: CreateActionItemInput) -> Mapping[str, Any]:
    client, project = place_to_write(context, client_id=given.client_id, project_id=given.project_id)
    return place_choices(context, client, project)


def _write(context: CallContext, given: CreateActionItemInput) -> ToolResult:
    place = place_to_write(context, client_id=given.client_id, project_id=given.project_id)
    if origin := origin_of(context, given):
        return _write_from(context, given, place, origin)
    item = _propose(context, given, place, due_date=given.due_date)
    due = item.due_date.isoformat() if item.due_date else None
    return ToolResult.of(written=True, id=item.id, state=item.state, due_date=due)


def _write_from(
    context: CallContext, given: CreateActionItemInput, place: Place, origin: Origin
) -> ToolResult:
    """Write what a document says, with the due date only if its sentence has it."""
    origin.check(title=given.title, description=given.description or "")
    words = origin.source.words_of_day(given.due_date, origin.passage) if given.due_date else ""
    due_date = given.due_date if words else None
    item = _propose(
        context,
        given,
        origin.place_in(*place),
        due_date=due_date,
        due_words=words,
        document_id=origin.document.pk,
        quote=origin.passage.quote,
        page=origin.passage.page,
        origin_key=origin.key(given.title),
    )
    return ToolResult.of(
        written=True,
        id=item.id,
        state=item.state,
        due_date=due_date.isoformat() if due_date else None,
        page=origin.passage.page,
        **({} if due_date == given.due_date else {"left_out": NO_SUCH_DAY}),
    )


def _propose(context: CallContext, given: CreateActionItemInput, place: Place, **values: Any) -> ActionItem:
    client, project = place
    new = NewAction(
        client_id=client.id,
        project_id=project.id if project else None,
        title=given.title,
        description=given.description or "",
        priority=ActionPriority(given.priority),
        session_id=context.session_id,
        **values,
    )
    return propose(
        user_id=context.user_id,
        new=new,
        made_by=context.tier.made_by,
        is_accepted=not context.tier.only_proposes,
        tool_use_id=context.tool_use_id,
    )


CREATE_ACTION_ITEM: SageTool[CreateActionItemInput] = SageTool(
    name="create_action_item",
    description=DESCRIPTION,
    input_model=CreateActionItemInput,
    pipeline_model=PipelineActionItemInput,
    kind="confirm",
    tiers=frozenset({"chat", "pipeline"}),
    run=runs(_write),
    check=checks(_check),
    answer=answers(_write, FIELDS),
    presentation=Presentation(
        once=_("asked to add an action item"),
        often=_("asked to add {count} action items"),
        activity=_("Writing"),
        question=card(
            _("Shall I add this to your action items?"),
            FIELDS,
            yes=_("Add it"),
            done=_("Added to your action items."),
        ),
    ),
)
