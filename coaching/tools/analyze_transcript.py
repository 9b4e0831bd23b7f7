"""`analyze_transcript`: who spoke, what was decided, and who does what by when."""

from django.utils.translation import gettext_noop as _

from coaching.engine.tools import ToolResult
from coaching.tools.context import ToolContext
from coaching.tools.document_findings import DocumentInput, check_id, run_finding
from coaching.tools.presentation import Presentation, SageTool

DESCRIPTION = (
    "Find speakers, decisions and action items in the transcript of a call or meeting, each with its "
    "sentence. Use it when they ask what was agreed or who does what."
)


async def _run(context: ToolContext, given: DocumentInput) -> ToolResult:
    return await run_finding(context, document_id=check_id(given.document_id), kind="transcript")


ANALYZE_TRANSCRIPT: SageTool[DocumentInput] = SageTool(
    name="analyze_transcript",
    description=DESCRIPTION,
    input_model=DocumentInput,
    kind="instant",
    run=_run,
    presentation=Presentation(
        once=_("analysed a transcript"),
        often=_("analysed {count} transcripts"),
        activity=_("Reading the transcript"),
    ),
)
