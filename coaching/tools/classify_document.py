"""`classify_document`: what one of the user's documents is, and where it was filed."""

import json
from functools import partial

from coaching.context.fences import fence, fence_value
from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolResult
from coaching.job_queue import enqueue_document
from coaching.models import UNFINISHED_STATES, Document, DocumentState
from coaching.tools.context import ToolContext
from coaching.tools.findings import NO_DOCUMENT, DocumentInput, check_id
from coaching.tools.presentation import Presentation, SageTool
from coaching.tools.waiting import IN_PROGRESS, wait_for

DESCRIPTION = (
    "Find out what one of the user's documents is and where it is filed, with the reason. Use it when the "
    "user asks that of a document which has no type yet."
)


async def _run(context: ToolContext, given: DocumentInput) -> ToolResult:
    read = partial(_read, context.user_id, check_id(given.document_id))
    try:
        document = await wait_for(read, lambda each: each.state not in UNFINISHED_STATES)
    except Document.DoesNotExist:
        raise ToolError(NO_DOCUMENT) from None
    if document is None:
        return ToolResult(content=IN_PROGRESS)
    values = {
        "document_id": document.pk,
        "link": f"/library/documents/{document.pk}/",
        "state": document.state,
        "reason": fence_value(document.reason, 300),
        "file_type": document.file_type,
        "category": document.category,
        "folder": fence_value(document.folder, 120),
        "confidence": document.confidence,
        "why": fence_value(document.why, 600),
        "summary": fence(document.summary),
    }
    kept = {name: value for name, value in values.items() if value not in ("", None)}
    return ToolResult(content=json.dumps(kept, ensure_ascii=False))


def _read(user_id: int, document_id: int) -> Document:
    """Return the document; one whose job was lost is queued again."""
    document = Document.of(user_id).get(id=document_id, is_withheld=False)
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
        once="found out what a document is",
        often="found out what {count} documents are",
        activity="Reading the document",
    ),
)
