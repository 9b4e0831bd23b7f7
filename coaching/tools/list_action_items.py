"""`list_action_items`: next steps by due date."""

from dataclasses import replace
from typing import Literal

from django.utils.translation import gettext_noop as _

from coaching.engine.tools import ToolInput, ToolResult
from coaching.library.rows.proposals import for_models, next_steps_of
from coaching.models import ActionItem, ActionState
from coaching.tools.context import ToolContext
from coaching.tools.foreign import names_of_steps
from coaching.tools.presentation import ForPrograms, Presentation, SageTool
from coaching.tools.reach import client_asked_about
from coaching.tools.results import Id, document_link, line, listed, passage
from sessions_app.database import in_database

MOST = 30

DESCRIPTION = (
    "List next steps by due date, by default open ones. Use it when next_steps (the nearest ten) isn't "
    "enough. A proposed one isn't accepted: never call it agreed."
)
FOR_PROGRAMS = (
    "List the person's next steps in Sage by due date, by default open ones: title, due date, whom it is for "
    "and what became of it. A proposed one waits for their yes: never call it agreed."
)


class ListActionItemsInput(ToolInput):
    client_id: Id | None = None
    status: Literal["open", "proposed", "done", "dropped"] | None = None


async def _run(context: ToolContext, given: ListActionItemsInput) -> ToolResult:
    return await in_database(_list, context, given)


def _list(context: ToolContext, given: ListActionItemsInput) -> ToolResult:
    items = next_steps_of(
        user_id=context.user_id,
        client_id=client_asked_about(context, given.client_id),
        state=ActionState(given.status or ActionState.OPEN),
    )
    found = for_models(items)
    shown = list(found[:MOST])
    is_outside = context.tier.is_outside
    values = [_values(item, has_quote=bool(item.document_id) or not is_outside) for item in shown]
    rows = listed("next_steps", values, total=found.count())
    return replace(rows, foreign=names_of_steps(context.user_id, shown))


def _values(item: ActionItem, *, has_quote: bool) -> dict[str, object]:
    """Return a step. Its quote is a sentence of a document, or of what the user said in a conversation."""
    return {
        "id": item.id,
        "title": line(item.title),
        "client": line(item.client.name),
        "due": item.due_date,
        "due_words": line(item.due_words),
        "priority": item.priority,
        "owner": line(item.owner),
        "repeats": item.repeats,
        "outcome": passage(item.outcome, 200),
        "status": item.state,
        "quote": passage(item.quote, 200) if has_quote else "",
        "link": document_link(item.document_id),
    }


LIST_ACTION_ITEMS: SageTool[ListActionItemsInput] = SageTool(
    name="list_action_items",
    description=DESCRIPTION,
    input_model=ListActionItemsInput,
    kind="instant",
    run=_run,
    for_programs=ForPrograms(title="List next steps", description=FOR_PROGRAMS),
    presentation=Presentation(
        once=_("looked at your next steps"),
        often=_("looked at your next steps {count} times"),
        activity=_("Looking it up"),
    ),
)
