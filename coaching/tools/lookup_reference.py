"""`lookup_reference`: how to recognise a type of document, by its name or by words of a document."""

from collections.abc import Sequence
from typing import Annotated

from django.utils.translation import gettext_noop as _
from pydantic import Field

from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolInput, ToolResult
from coaching.files.attributes import StorableText
from coaching.library.references.current import current_references
from coaching.tools.context import ToolContext
from coaching.tools.presentation import Presentation, SageTool
from sessions_app.database import in_database

OTHERS = 4
"""How many further references are named."""

DESCRIPTION = (
    "Read how to recognise a type of document, what to take from it and how it differs from look-alikes. "
    "Use it when no reference that you were given fits one."
)


class LookupReferenceInput(ToolInput):
    query: Annotated[StorableText, Field(min_length=1, max_length=300)]
    tags: Annotated[list[StorableText], Field(max_length=8)] | None = None


async def _run(_: ToolContext, given: LookupReferenceInput) -> ToolResult:
    return ToolResult(content=await in_database(_find, given.query, given.tags or ()))


def _find(query: str, tags: Sequence[str]) -> str:
    references = current_references()
    found = references.find(query, tags=tags)
    if not found:
        raise ToolError("No reference fits. Ask in other words, or list the references.")
    best, *others = (references.by_type[ranked.file_type] for ranked in found[: OTHERS + 1])
    lines = "\n".join(f"- {reference.line}" for reference in others)
    also = f"\nOthers that may fit:\n{lines}" if lines else ""
    return f'<reference file_type="{best.file_type}">\n{best.guidance}</reference>{also}'


LOOKUP_REFERENCE: SageTool[LookupReferenceInput] = SageTool(
    name="lookup_reference",
    description=DESCRIPTION,
    input_model=LookupReferenceInput,
    kind="instant",
    run=_run,
    presentation=Presentation(
        once=_("looked up a type of document"), often=_("looked up {count} types of documents")
    ),
)
