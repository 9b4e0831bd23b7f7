"""`summarize_document`: what a document says, with a page and a quote for each point."""

from django.utils.translation import gettext_noop as _

from coaching.engine.tools import ToolResult
from coaching.tools.context import ToolContext
from coaching.tools.document_findings import DocumentInput, check_id, run_finding
from coaching.tools.presentation import Presentation, SageTool

DESCRIPTION = (
    "Sum up one of the user's documents, with pages and quotes. Use it when they ask what it says and you "
    "don't have its whole text. Cite the pages that it gives."
)


async def _run(context: ToolContext, given: DocumentInput) -> ToolResult:
    return await run_finding(context, document_id=check_id(given.document_id), kind="summary")


SUMMARIZE_DOCUMENT: SageTool[DocumentInput] = SageTool(
    name="summarize_document",
    description=DESCRIPTION,
    input_model=DocumentInput,
    kind="instant",
    run=_run,
    presentation=Presentation(
        once=_("summarised a document"),
        often=_("summarised {count} documents"),
        activity=_("Reading the document"),
    ),
)
