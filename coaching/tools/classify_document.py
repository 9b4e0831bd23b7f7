"""`classify_document`: what one of the user's documents is, and where it was filed."""

from functools import partial

from django.utils.translation import gettext_noop as _

from coaching.context.foreign import foreign_names
from coaching.context.late_findings import IN_PROGRESS, classification_text
from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolResult
from coaching.job_queue.documents import enqueue_document
from coaching.models import UNFINISHED_STATES, Document, DocumentState
from coaching.tools.context import ToolContext
from coaching.tools.document_findings import NO_DOCUMENT, DocumentInput, check_id
from coaching.tools.presentation import Presentation, SageTool
from coaching.tools.reach import check_document
from coaching.tools.waiting import wait_for

DESCRIPTION = (
    "Find out what one of the user's documents is and where it is filed, with the reason. Use it when the "
    "user asks that of a document which has no type yet."
)


async def _run(context: ToolContext, given: DocumentInput) -> ToolResult:
    read = partial(_read, context, check_id(given.document_id))
    try:
        document = await wait_for(read, lambda each: each.state not in UNFINISHED_STATES)
    except Document.DoesNotExist:
        raise ToolError(NO_DOCUMENT) from None
    if document is None:
        return ToolResult(content=IN_PROGRESS)
    return ToolResult(content=classification_text(document), foreign=foreign_names([document.name]))


def _read(context: ToolContext, document_id: int) -> Document:
    """Return the document; one whose job was lost is queued again."""
    check_document(context, document_id)
    document = Document.of(context.user_id).get(id=document_id, is_withheld=False)
    if document.state == DocumentState.QUEUED:
        enqueue_document(document)
    return document


CLASSIFY_DOCUMENT: SageTool[DocumentInput] = SageTool(
    name="classify_document",
    description=DESCRIPTION,
    input_model=DocumentInput,
    kind="instant",
    run=_run,
    presentation=Presentation(
        once=_("classified a document"),
        often=_("classified {count} documents"),
        activity=_("Reading the document"),
    ),
)
