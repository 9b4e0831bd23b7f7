"""`create_knowledge_entry`: adds something that the library should know about a client."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from django.utils.translation import gettext_noop as _
from pydantic import Field

from coaching.engine.tools import ToolInput, ToolResult
from coaching.files.attributes import Line, StorableText, Word
from coaching.library.drafts import MAX_CONTENT, MAX_KEY_POINTS, MAX_TAGS, MAX_TITLE, NewEntry
from coaching.library.proposals import propose
from coaching.library.values import MAX_VALUE
from coaching.models import EntryState, EntryType, KnowledgeEntry
from coaching.tools.confirmed import answers, checks, runs
from coaching.tools.context import CallContext
from coaching.tools.places import place_choices
from coaching.tools.presentation import PLACE, CardField, ForPrograms, Presentation, SageTool, card
from coaching.tools.reach import Place, place_to_write
from coaching.tools.results import Id
from coaching.tools.sourced import Origin, Sourced, origin_of
from coaching.tools.suggestions import suggested, suggested_key

DESCRIPTION = (
    "Keep something about a client: a note, an update, the summary of a document or call. Use it only for "
    "what will be needed again. In a conversation the user decides: it is kept only if the result has "
    "written: true."
)
FOR_PROGRAMS = (
    "Suggest something that Sage should keep about a client: a note, an update, the summary of a call. "
    "Nothing is kept before the person has accepted it in their library, so tell them that it waits there. "
    "client_id is from search_clients; the first one is the person."
)
POINTS_LEFT_OUT = "{count} key points were left out: the quote doesn't have their dates, numbers or names."
FIELDS = (
    PLACE,
    CardField(name="title", label=_("Title"), is_required=True, max_length=MAX_TITLE),
    CardField(name="content", label=_("Text"), kind="text", is_required=True, max_length=MAX_CONTENT),
    CardField(
        name="entry_type",
        label=_("Type"),
        kind="choice",
        choices=[(one.value, one.label) for one in EntryType],
    ),
    CardField(name="key_points", label=_("Key points (one per line)"), kind="lines", max_length=6_000),
    CardField(name="tags", label=_("Tags (one per line)"), kind="lines", max_length=1_000),
)


class CreateKnowledgeEntryInput(ToolInput):
    client_id: Id
    title: Annotated[Line, Field(max_length=MAX_TITLE)]
    content: Annotated[StorableText, Field(min_length=1, max_length=MAX_CONTENT, pattern=r"\S")]
    project_id: Id | None = None
    entry_type: Literal["document_summary", "deal_update", "call_transcript", "note"] = "note"
    key_points: Annotated[list[Line], Field(max_length=MAX_KEY_POINTS)] | None = None
    tags: Annotated[list[Word], Field(max_length=MAX_TAGS)] | None = None


class PipelineKnowledgeEntryInput(CreateKnowledgeEntryInput, Sourced):
    content: Annotated[StorableText, Field(min_length=1, max_length=MAX_VALUE, pattern=r"\S")]


def _check(context: CallContext, given: CreateKnowledgeEntryInput) -> Mapping[str, Any]:
    client, project = place_to_write(context, client_id=given.client_id, project_id=given.project_id)
    return place_choices(context, client, project)


def _write(context: CallContext, given: CreateKnowledgeEntryInput) -> ToolResult:
    place = place_to_write(context, client_id=given.client_id, project_id=given.project_id)
    if origin := origin_of(context, given):
        return _write_from(context, given, place, origin)
    if context.tier.is_outside:
        key = suggested_key(given.title, given.content)
        entry = _propose(context, given, place, key_points=given.key_points or (), origin_key=key)
        return suggested(entry, waits_at="/library/knowledge/")
    entry = _propose(context, given, place, key_points=given.key_points or ())
    is_accepted = entry.state == EntryState.ACCEPTED
    return ToolResult.of(written=True, id=entry.id, state=entry.state, is_accepted=is_accepted)


def _write_from(
    context: CallContext, given: CreateKnowledgeEntryInput, place: Place, origin: Origin
) -> ToolResult:
    """Write what a document says, with the key points that its passage has."""
    origin.check(title=given.title, content=given.content)
    points = origin.stated(given.key_points or ())
    entry = _propose(
        context,
        given,
        origin.place_in(*place),
        key_points=points,
        document_id=origin.document.pk,
        quote=origin.passage.quote,
        page=origin.passage.page,
        origin_key=origin.key(given.title),
    )
    left_out = len(given.key_points or ()) - len(points)
    return ToolResult.of(
        written=True,
        id=entry.id,
        state=entry.state,
        is_accepted=entry.state == EntryState.ACCEPTED,
        page=origin.passage.page,
        **({"left_out": POINTS_LEFT_OUT.format(count=left_out)} if left_out else {}),
    )


def _propose(
    context: CallContext, given: CreateKnowledgeEntryInput, place: Place, **values: Any
) -> KnowledgeEntry:
    client, project = place
    new = NewEntry(
        client_id=client.id,
        project_id=project.id if project else None,
        title=given.title,
        content=given.content,
        entry_type=EntryType(given.entry_type),
        tags=given.tags or (),
        session_id=context.session_id,
        **values,
    )
    return propose(
        user_id=context.user_id,
        new=new,
        made_by=context.tier.made_by,
        is_accepted=not context.tier.only_proposes,
        tool_use_id=context.tool_use_id,
        program=context.tier.program,
    )


CREATE_KNOWLEDGE_ENTRY: SageTool[CreateKnowledgeEntryInput] = SageTool(
    name="create_knowledge_entry",
    description=DESCRIPTION,
    input_model=CreateKnowledgeEntryInput,
    pipeline_model=PipelineKnowledgeEntryInput,
    for_programs=ForPrograms(title="Suggest knowledge", description=FOR_PROGRAMS),
    kind="confirm",
    run=runs(_write),
    check=checks(_check),
    answer=answers(_write, FIELDS),
    presentation=Presentation(
        once=_("asked to save something"),
        often=_("asked {count} times to save something"),
        activity=_("Writing"),
        question=card(
            _("Shall I save this to your library?"),
            FIELDS,
            yes=_("Save it"),
            done=_("Saved to your library."),
        ),
    ),
)
