"""`check_duplicate`: documents that may be the same, by the pattern of their name and by content."""

from dataclasses import replace

from django.utils.translation import gettext_noop as _

from coaching.context.foreign import foreign_names
from coaching.engine.tools import ToolInput, ToolResult
from coaching.library.rows.documents import possible_duplicates
from coaching.models import Document
from coaching.tools.context import ToolContext
from coaching.tools.presentation import Presentation, SageTool
from coaching.tools.reach import client_asked_about
from coaching.tools.results import Id, Name, document_link, line, listed
from sessions_app.database import in_database

DESCRIPTION = (
    "Find documents that may be the same as one with this file name: copies, same bytes, nearly the same "
    "text. Use it when there may be a copy. An amended version isn't one."
)


class CheckDuplicateInput(ToolInput):
    file_name: Name
    client_id: Id | None = None
    file_type: Name | None = None


async def _run(context: ToolContext, given: CheckDuplicateInput) -> ToolResult:
    return await in_database(_check, context, given)


def _check(context: ToolContext, given: CheckDuplicateInput) -> ToolResult:
    found = possible_duplicates(
        user_id=context.user_id,
        file_name=given.file_name,
        client_id=client_asked_about(context, given.client_id),
        file_type=given.file_type or "",
    )
    rows = listed("documents", [_values(document) for document in found])
    return replace(rows, foreign=foreign_names(document.name for document in found))


def _values(document: Document) -> dict[str, object]:
    return {
        "id": document.id,
        "name": line(document.name),
        "client": line(document.client.name),
        "file_type": document.file_type,
        "folder": line(document.folder),
        "state": document.state,
        "same_bytes_as": document.duplicate_of_id,
        "similar_to": document.similar_to_id,
        "similarity": document.similarity,
        "link": document_link(document.id),
    }


CHECK_DUPLICATE: SageTool[CheckDuplicateInput] = SageTool(
    name="check_duplicate",
    description=DESCRIPTION,
    input_model=CheckDuplicateInput,
    kind="instant",
    run=_run,
    presentation=Presentation(
        once=_("looked for a duplicate"),
        often=_("looked for duplicates {count} times"),
        activity=_("Searching your documents"),
    ),
)
