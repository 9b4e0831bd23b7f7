"""`list_documents`: what is in the library, by client, project and folder."""

from dataclasses import replace
from zoneinfo import ZoneInfo

from django.utils.translation import gettext_noop as _

from coaching.clock.days import local_day
from coaching.context.foreign import foreign_names
from coaching.engine.tools import ToolInput, ToolResult
from coaching.library.documents.folder_names import folder_meant
from coaching.library.rows.documents import documents_of
from coaching.models import Document
from coaching.tools.context import ToolContext
from coaching.tools.presentation import ForPrograms, Presentation, SageTool
from coaching.tools.reach import client_asked_about
from coaching.tools.results import Id, Name, document_link, line, listed
from sessions_app.database import in_database

MOST = 30

DESCRIPTION = (
    "List documents, newest first, with id, type, folder, state and link; by client, project or folder. "
    "Use it to see what there is, not to find what they say."
)
FOR_PROGRAMS = (
    "List the documents in the person's library in Sage, newest first, with id, type, folder, state and "
    "link; by client, project or folder. search_knowledge_bank finds what they say."
)


class ListDocumentsInput(ToolInput):
    client_id: Id | None = None
    project_id: Id | None = None
    folder: Name | None = None


async def _run(context: ToolContext, given: ListDocumentsInput) -> ToolResult:
    return await in_database(_list, context, given)


def _list(context: ToolContext, given: ListDocumentsInput) -> ToolResult:
    client_id = client_asked_about(context, given.client_id, project_id=given.project_id)
    folder = folder_meant(
        user_id=context.user_id, client_id=client_id, name=given.folder or "", is_any_language=True
    )
    found = documents_of(
        user_id=context.user_id, client_id=client_id, project_id=given.project_id, folder=folder
    ).filter(is_withheld=False)
    shown, zone = found[:MOST], context.timezone
    rows = listed("documents", [_values(document, zone) for document in shown], total=found.count())
    return replace(rows, foreign=foreign_names(document.name for document in shown))


def _values(document: Document, zone: ZoneInfo) -> dict[str, object]:
    return {
        "id": document.id,
        "name": line(document.name),
        "client": line(document.client.name),
        "project": line(document.project.name) if document.project else "",
        "file_type": document.file_type,
        "folder": line(document.folder),
        "state": document.state,
        "added": local_day(document.created_at, zone),
        "link": document_link(document.id),
    }


LIST_DOCUMENTS: SageTool[ListDocumentsInput] = SageTool(
    name="list_documents",
    description=DESCRIPTION,
    input_model=ListDocumentsInput,
    kind="instant",
    run=_run,
    for_programs=ForPrograms(title="List documents", description=FOR_PROGRAMS),
    presentation=Presentation(
        once=_("listed documents"),
        often=_("listed documents {count} times"),
        activity=_("Searching your documents"),
    ),
)
