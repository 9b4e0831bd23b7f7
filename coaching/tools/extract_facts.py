"""`extract_facts`: the key facts of a whole document, each with its quote and page."""

from django.utils.translation import gettext_noop as _

from coaching.engine.tools import ToolResult
from coaching.tools.context import ToolContext
from coaching.tools.document_findings import DocumentInput, check_id, run_finding
from coaching.tools.presentation import Presentation, SageTool

DESCRIPTION = (
    "List the key facts of one of the user's documents, from its whole text, with quotes and pages: "
    "parties, sums, dates, terms. Use it when they ask for several."
)


async def _run(context: ToolContext, given: DocumentInput) -> ToolResult:
    return await run_finding(context, document_id=check_id(given.document_id), kind="facts")


EXTRACT_FACTS: SageTool[DocumentInput] = SageTool(
    name="extract_facts",
    description=DESCRIPTION,
    input_model=DocumentInput,
    kind="instant",
    run=_run,
    presentation=Presentation(
        once=_("found the facts of a document"),
        often=_("found the facts of {count} documents"),
        activity=_("Reading the document"),
    ),
)
