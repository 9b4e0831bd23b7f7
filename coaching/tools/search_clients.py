"""`search_clients`: the user's clients by name, notes or project; the first is the user."""

from django.utils.translation import gettext_noop as _

from coaching.engine.tools import ToolInput, ToolResult
from coaching.library.rows.clients import list_clients
from coaching.tools.context import ToolContext
from coaching.tools.presentation import ForPrograms, Presentation, SageTool
from coaching.tools.reach import reached_clients
from coaching.tools.results import Query, line, listed
from sessions_app.database import in_database

MOST = 20

DESCRIPTION = (
    "Find clients by words in their name, notes or projects; without a query, list them. The first (type "
    "self) is the user. Use it for the ids that other tools want."
)
FOR_PROGRAMS = (
    "Find whom the person's library in Sage is about: clients by words in their name, notes or projects; "
    "without a query, list them. The first (type self) is the person. Other tools take these ids."
)


class SearchClientsInput(ToolInput):
    query: Query | None = None


async def _run(context: ToolContext, given: SearchClientsInput) -> ToolResult:
    return await in_database(_search, context, given.query or "")


def _search(context: ToolContext, query: str) -> ToolResult:
    found = list_clients(context.user_id, query=query)
    reached = reached_clients(context)
    found = found if reached is None else found.filter(id__in=reached)
    rows = [
        {"id": client.id, "name": line(client.name), "type": client.client_type, "status": client.status}
        for client in found[:MOST]
    ]
    return listed("clients", rows, total=found.count())


SEARCH_CLIENTS: SageTool[SearchClientsInput] = SageTool(
    name="search_clients",
    description=DESCRIPTION,
    input_model=SearchClientsInput,
    kind="instant",
    run=_run,
    for_programs=ForPrograms(title="Find clients", description=FOR_PROGRAMS),
    presentation=Presentation(
        once=_("looked for a client"),
        often=_("looked for clients {count} times"),
        activity=_("Looking it up"),
    ),
)
