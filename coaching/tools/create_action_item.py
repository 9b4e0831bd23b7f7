"""`create_action_item`: writes down a next step that the user promised, or asks them about it."""

from collections.abc import Mapping
from datetime import date, time
from typing import Annotated, Any, Literal

from django.utils.translation import gettext_noop as _
from pydantic import Field

from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolInput, ToolResult
from coaching.files.attributes import Line, StorableText
from coaching.library.drafts import MAX_DESCRIPTION, MAX_TITLE, NewAction
from coaching.library.evidence import MAX_QUOTE, Source
from coaching.library.places import MAX_ROWS, NoRoom
from coaching.library.promises import Claim
from coaching.library.proposals import present_row, propose
from coaching.library.values import MAX_VALUE
from coaching.models import ActionOrigin, ActionPriority, ActionState, Document
from coaching.steps.repeats import DAILY, MONTHLY, WEEKLY
from coaching.tools.confirmed import NOT_WITHOUT_A_YES, answers, checks, runs
from coaching.tools.context import CallContext, ToolContext
from coaching.tools.decisions import Decision
from coaching.tools.evidence import decision_on, refuse_in_danger
from coaching.tools.places import place_choices
from coaching.tools.presentation import PLACE, CardField, ForPrograms, Presentation, SageTool, card
from coaching.tools.reach import Place, check_document, place_to_write
from coaching.tools.results import Id
from coaching.tools.sourced import Origin, Sourced, origin_of
from coaching.tools.step_results import said_key, step_values, tell_step
from coaching.tools.suggestions import suggested, suggested_key
from sessions_app.errors import Refused

DESCRIPTION = (
    "Keep a next step. Use it when the user says that they will do something, and quote their words: a "
    "promise is written at once, otherwise they are asked. With due_date it is a reminder if the result says "
    "so. repeats: daily, weekly, monthly or mon,thu."
)
FOR_PROGRAMS = (
    "Suggest a next step to the person: something that they may want to do, with a due date if it has one. "
    "It is no step of theirs before they have accepted it in Sage, so tell them that it waits there. "
    "repeats: daily, weekly, monthly or mon,thu."
)
NO_SUCH_DAY = "The due date was left out: the quote doesn't name that day, or it may mean another one."
TAKEN_BACK = "Nothing was written: the user took this step back. Don't write it down again unasked."
NO_ROOM = (
    "Nothing was written: the user has {most:,} next steps, as many as there may be. Tell them so, and that "
    "they can delete old ones under Next steps."
)
WORDS = _("In your words")
REPEATS = (
    ("", _("Doesn’t repeat")),
    (DAILY, _("Every day")),
    (WEEKLY, _("Every week")),
    (MONTHLY, _("Every month")),
)
FIELDS = (
    PLACE,
    CardField(name="title", label=_("Next step"), is_required=True, max_length=MAX_TITLE),
    CardField(name="due_date", label=_("Due"), kind="date"),
    CardField(name="due_time", label=_("Time"), kind="time", hides_empty=True),
    CardField(name="repeats", label=_("Repeats"), kind="choice", choices=REPEATS, hides_empty=True),
    CardField(name="description", label=_("Details"), kind="text", max_length=MAX_DESCRIPTION),
)


class CreateActionItemInput(ToolInput):
    title: Annotated[Line, Field(max_length=MAX_TITLE)]
    quote: Annotated[StorableText, Field(max_length=MAX_QUOTE)]
    description: Annotated[StorableText, Field(max_length=MAX_DESCRIPTION)] | None = None
    due_date: date | None = None
    due_time: time | None = None
    repeats: Annotated[StorableText, Field(max_length=40)] | None = None
    document_id: Id | None = None
    client_id: Id | None = None
    project_id: Id | None = None


class PipelineActionItemInput(Sourced):
    title: Annotated[Line, Field(max_length=MAX_TITLE)]
    description: Annotated[StorableText, Field(max_length=MAX_VALUE)] | None = None
    due_date: date | None = None
    priority: Literal["low", "medium", "high"] = "medium"
    client_id: Id | None = None
    project_id: Id | None = None


class ProgramActionItemInput(ToolInput):
    """What another program suggests: it has no words of the user to quote."""

    title: Annotated[Line, Field(max_length=MAX_TITLE)]
    description: Annotated[StorableText, Field(max_length=MAX_DESCRIPTION)] | None = None
    due_date: date | None = None
    due_time: time | None = None
    repeats: Annotated[StorableText, Field(max_length=40)] | None = None
    client_id: Id | None = None
    project_id: Id | None = None


def claim_of(given: CreateActionItemInput) -> Claim:
    """Return what a call says that the user promised."""
    return Claim(quote=given.quote, purpose="new", title=given.title, due_date=given.due_date)


def _decide(context: ToolContext, given: CreateActionItemInput, is_tainted: bool) -> Decision:
    place_to_write(context, client_id=given.client_id, project_id=given.project_id)
    _new_step(context, given, None, values={}).values()
    return decision_on(context, claim_of(given), is_tainted=is_tainted or given.document_id is not None)


def _check(context: CallContext, given: CreateActionItemInput) -> Mapping[str, Any]:
    client, project = place_to_write(context, client_id=given.client_id, project_id=given.project_id)
    sentence = context.decision.sentence if context.decision else ""
    return {**place_choices(context, client, project), **({WORDS: sentence} if sentence else {})}


async def _run(context: ToolContext, given: CreateActionItemInput) -> ToolResult:
    if context.tier.only_proposes:
        return await runs(_write)(context, given)
    decision = context.decision
    if decision is not None and decision.refusal:
        raise ToolError(decision.refusal)
    if decision is None or (decision.asks and not context.is_answer):
        raise ToolError(NOT_WITHOUT_A_YES)
    try:
        return await context.commit(lambda: _write(context, given))
    except NoRoom as refusal:
        raise ToolError(NO_ROOM.format(most=MAX_ROWS)) from refusal
    except Refused as refusal:
        raise ToolError(str(refusal)) from refusal


def _write(context: CallContext, given: ToolInput) -> ToolResult:
    """Write a step at once, after the user's yes, or as a proposal where only those are made."""
    if isinstance(given, ProgramActionItemInput):
        return _suggest(context, given)
    if isinstance(given, PipelineActionItemInput):
        place = place_to_write(context, client_id=given.client_id, project_id=given.project_id)
        origin = origin_of(context, given)
        if origin is None:
            raise ToolError(NOT_WITHOUT_A_YES)
        return _write_from(context, given, place, origin)
    if not isinstance(given, CreateActionItemInput):
        raise TypeError(type(given))
    refuse_in_danger(context)
    place = place_to_write(context, client_id=given.client_id, project_id=given.project_id)
    new = _new_step(context, given, place, values=_source(context, given))
    if not context.is_answer:
        present = present_row(user_id=context.user_id, new=new)
        if present is not None and present.state == ActionState.DISMISSED:
            raise ToolError(TAKEN_BACK)
    item = propose(
        user_id=context.user_id,
        new=new,
        made_by=context.tier.made_by,
        is_accepted=True,
        tool_use_id=context.tool_use_id,
    )
    if not context.is_answer:
        tell_step(context, item)
    return ToolResult.of(**step_values(item))


def _suggest(context: CallContext, given: ProgramActionItemInput) -> ToolResult:
    """Write what another program suggests, as a proposal."""
    place = place_to_write(context, client_id=given.client_id, project_id=given.project_id)
    key = suggested_key(given.title, given.description, given.due_date)
    new = _new_step(context, given, place, values={"origin_key": key})
    item = propose(
        user_id=context.user_id,
        new=new,
        made_by=context.tier.made_by,
        tool_use_id=context.tool_use_id,
        program=context.tier.program,
    )
    return suggested(item, waits_at="/library/actions/")


def _source(context: CallContext, given: CreateActionItemInput) -> Mapping[str, Any]:
    """Return where a step comes from: the words in the conversation, or a document's."""
    if given.document_id is not None:
        check_document(context, given.document_id)
        document = Document.of(context.user_id).select_related("text").get(id=given.document_id)
        text = getattr(document, "text", None)
        passage = Source(text.text, pages_read=text.pages_read).find(given.quote) if text else None
        found = {"quote": passage.quote, "page": passage.page} if passage else {}
        return {"document_id": document.pk, "origin": ActionOrigin.DOCUMENT, **found}
    decision = context.decision
    if decision is None or not decision.sentence:
        return {}
    return {
        "quote": decision.sentence,
        "message_number": decision.number,
        "origin_key": "" if context.is_answer else said_key(given.title, decision.sentence),
    }


def _new_step(
    context: CallContext,
    given: CreateActionItemInput | ProgramActionItemInput,
    place: Place | None,
    *,
    values: Mapping[str, Any],
) -> NewAction:
    client, project = place or (None, None)
    return NewAction(
        client_id=client.pk if client else 0,
        project_id=project.pk if project else None,
        title=given.title,
        description=given.description or "",
        due_date=given.due_date,
        due_time=given.due_time,
        repeats=given.repeats or "",
        session_id=context.session_id,
        **values,
    )


def _write_from(
    context: CallContext, given: PipelineActionItemInput, place: Place, origin: Origin
) -> ToolResult:
    """Write what a document says, with the due date only if its sentence has it."""
    origin.check(title=given.title, description=given.description or "")
    words = origin.source.words_of_day(given.due_date, origin.passage) if given.due_date else ""
    due_date = given.due_date if words else None
    client, project = origin.place_in(*place)
    new = NewAction(
        client_id=client.pk,
        project_id=project.pk if project else None,
        title=given.title,
        description=given.description or "",
        due_date=due_date,
        due_words=words,
        priority=ActionPriority(given.priority),
        session_id=context.session_id,
        document_id=origin.document.pk,
        quote=origin.passage.quote,
        page=origin.passage.page,
        origin_key=origin.key(given.title),
    )
    item = propose(
        user_id=context.user_id, new=new, made_by=context.tier.made_by, tool_use_id=context.tool_use_id
    )
    return ToolResult.of(
        written=True,
        id=item.id,
        state=item.state,
        due_date=due_date.isoformat() if due_date else None,
        page=origin.passage.page,
        **({} if due_date == given.due_date else {"left_out": NO_SUCH_DAY}),
    )


CREATE_ACTION_ITEM: SageTool[Any] = SageTool(
    name="create_action_item",
    description=DESCRIPTION,
    input_model=CreateActionItemInput,
    pipeline_model=PipelineActionItemInput,
    for_programs=ForPrograms(
        title="Suggest a next step", description=FOR_PROGRAMS, input_model=ProgramActionItemInput
    ),
    kind="evidence",
    run=_run,
    check=checks(_check),
    decides=_decide,
    answer=answers(_write, FIELDS),
    presentation=Presentation(
        once=_("noted a next step"),
        often=_("noted {count} next steps"),
        activity=_("Writing"),
        question=card(
            _("Shall I note this as your next step?"),
            FIELDS,
            yes=_("Note it"),
            done=_("Noted as your next step."),
        ),
        writes_step=True,
    ),
)
