"""`keep_capture`: keeps a thought in the user's captures, for programs that act for them elsewhere."""

from typing import Annotated

from pydantic import Field

from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolInput, ToolResult
from coaching.files.attributes import StorableText
from coaching.life.captures import MAX_CAPTURE_CHARACTERS, keep_capture
from coaching.tools.context import ToolContext
from coaching.tools.presentation import ForPrograms, Presentation, SageTool
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.text import MAX_CLIENT_ID_CHARACTERS

DESCRIPTION = (
    "Keep a short text in the person's captures in Sage: a thought, a link, a sentence to come back to. It "
    "waits there until they look at it; nothing else happens with it. id is a name of yours for it: sent "
    "twice with the same text, it is one capture."
)


class KeepCaptureInput(ToolInput):
    text: Annotated[StorableText, Field(min_length=1, max_length=MAX_CAPTURE_CHARACTERS)]
    id: Annotated[StorableText, Field(max_length=MAX_CLIENT_ID_CHARACTERS)] | None = None


async def _run(context: ToolContext, given: KeepCaptureInput) -> ToolResult:
    try:
        return await in_database(_keep, context, given)
    except Refused as refusal:
        raise ToolError(str(refusal)) from refusal


def _keep(context: ToolContext, given: KeepCaptureInput) -> ToolResult:
    kept = keep_capture(
        user_id=context.user_id,
        text=given.text,
        client_id=given.id or "",
        now=context.now,
        timezone=context.timezone,
        program=context.tier.program,
    )
    return ToolResult.of(kept=True, path=kept.file.path)


KEEP_CAPTURE: SageTool[KeepCaptureInput] = SageTool(
    name="keep_capture",
    description=DESCRIPTION,
    input_model=KeepCaptureInput,
    kind="instant",
    for_programs=ForPrograms(title="Keep a capture", description=DESCRIPTION),
    run=_run,
    # No conversation offers it, so nobody reads this.
    presentation=Presentation(once="kept a capture", often="kept {count} captures"),
)
