"""`get_client_context`: what the library has of one client, in short."""

from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_noop as _

from coaching.context.foreign import foreign_names
from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolInput, ToolResult
from coaching.library.clients import accessible_client
from coaching.library.rows.clients import counts_of
from coaching.library.rows.documents import documents_of
from coaching.library.rows.proposals import entries_of, for_models, next_steps_of
from coaching.models import ActionState, Client, EntryState, Project
from coaching.tools.context import ToolContext
from coaching.tools.foreign import names_of_entries, names_of_steps
from coaching.tools.presentation import ForPrograms, Presentation, SageTool
from coaching.tools.reach import NO_CLIENT, client_asked_about
from coaching.tools.results import Id, document_link, line, passage, plain
from sessions_app.database import in_database

DESCRIPTION = (
    "Get an overview of one client: type, status, notes, projects, counts, newest documents and "
    "knowledge, open next steps. Use it when talk turns to a client."
)
FOR_PROGRAMS = (
    "Get an overview of one client in the person's library in Sage: type, status, notes, projects, counts, "
    "newest documents and knowledge, open next steps."
)
MOST = 6
MAX_PROJECTS = 20


class GetClientContextInput(ToolInput):
    client_id: Id


async def _run(context: ToolContext, given: GetClientContextInput) -> ToolResult:
    return await in_database(_read, context, given.client_id)


def _read(context: ToolContext, client_id: int) -> ToolResult:
    found = client_asked_about(context, client_id)
    if found is None:
        raise ToolError(NO_CLIENT)
    client = accessible_client(user_id=context.user_id, client_id=found)
    counts = counts_of(user_id=context.user_id, client_id=client.id)
    lists, foreign = _lists(client)
    result = ToolResult.of(
        id=client.id,
        name=line(client.name),
        type=client.client_type,
        status=client.status,
        **plain({"notes": passage(client.notes)}),
        documents=counts.documents,
        to_review=counts.in_review,
        knowledge=counts.knowledge,
        open_actions=counts.open_actions,
        proposals=counts.proposals,
        **plain(lists),
    )
    return replace(result, foreign=foreign)


def _lists(client: Client) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the newest of each kind, and the names of the documents that they are or come from."""
    user_id = client.user_id
    documents = list(documents_of(user_id=user_id, client_id=client.id).filter(is_withheld=False)[:MOST])
    actions = list(
        for_models(next_steps_of(user_id=user_id, client_id=client.id, state=ActionState.OPEN))[:MOST]
    )
    entries = list(
        for_models(entries_of(user_id=user_id, client_id=client.id, state=EntryState.ACCEPTED))[:MOST]
    )
    projects = Project.of(user_id).filter(client=client)[:MAX_PROJECTS]
    sources = names_of_entries(user_id, entries)
    of_steps = names_of_steps(user_id, actions)
    foreign = foreign_names([document.name for document in documents], sources, of_steps)
    lists = {
        "projects": [{"id": one.id, "name": line(one.name), "status": one.status} for one in projects],
        "newest_documents": [
            plain({"name": line(one.name), "file_type": one.file_type, "link": document_link(one.id)})
            for one in documents
        ],
        "actions": [plain({"title": line(one.title), "due": one.due_date}) for one in actions],
        "newest_knowledge": [line(one.title) for one in entries],
    }
    return lists, foreign


GET_CLIENT_CONTEXT: SageTool[GetClientContextInput] = SageTool(
    name="get_client_context",
    description=DESCRIPTION,
    input_model=GetClientContextInput,
    kind="instant",
    run=_run,
    for_programs=ForPrograms(title="Look at a client", description=FOR_PROGRAMS),
    presentation=Presentation(
        once=_("looked at a client"), often=_("looked at {count} clients"), activity=_("Looking it up")
    ),
)
