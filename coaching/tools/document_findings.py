"""What the tools that read a whole document share: they begin a job, wait for it, and give its result."""

from coaching.context.late_findings import IN_PROGRESS, finding_text
from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolInput, ToolResult
from coaching.library.documents.findings import Finding, FindingKind, begin_finding, read_finding
from coaching.models import Document
from coaching.tools.context import ToolContext
from coaching.tools.foreign import names_of_documents
from coaching.tools.reach import check_document
from coaching.tools.results import Id
from coaching.tools.waiting import wait_for
from sessions_app.database import in_database

NO_DOCUMENT = "There is no document with this id that you may read."


class DocumentInput(ToolInput):
    """The input of a tool that is about one document."""

    document_id: Id


async def run_finding(context: ToolContext, *, document_id: int, kind: FindingKind) -> ToolResult:
    user_id, session_id = context.user_id, context.session_id
    begun = False

    def look() -> Finding:
        nonlocal begun
        if begun:
            return read_finding(user_id=user_id, document_id=document_id, kind=kind)
        check_document(context, document_id)
        found, begun = begin_finding(
            user_id=user_id, document_id=document_id, kind=kind, session_id=session_id
        )
        return found

    try:
        found = await wait_for(look, lambda each: each.is_ready)
    except (Document.DoesNotExist, OverflowError):
        raise ToolError(NO_DOCUMENT) from None
    if found is None:
        return ToolResult(content=IN_PROGRESS)
    if not found.has_something:
        raise ToolError(found.reason)
    names = await in_database(names_of_documents, user_id, [document_id])
    return ToolResult(content=finding_text(document_id, found), foreign=names)


def check_id(document_id: int) -> int:
    """Return an id that a document can have. Raises `ToolError`."""
    if not 0 < document_id < 2**63:
        raise ToolError(NO_DOCUMENT)
    return document_id
