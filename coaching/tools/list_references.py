"""`list_references`: the types of documents that there are, one a line."""

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

DESCRIPTION = (
    "List the types of documents that the library knows, with their categories. Use it for the exact name "
    "of a type, or when no type that you know fits one."
)


class ListReferencesInput(ToolInput):
    category: Annotated[StorableText, Field(max_length=64)] | None = None


async def _run(_: ToolContext, given: ListReferencesInput) -> ToolResult:
    return ToolResult(content=await in_database(_list, given.category or ""))


def _list(category: str) -> str:
    references = current_references()
    found = references.in_category(category)
    if not found:
        known = ", ".join(references.vocabulary.categories) or "none"
        raise ToolError(f"There is no category of that name with types. The categories: {known}.")
    return "\n".join(reference.line for reference in found)


LIST_REFERENCES: SageTool[ListReferencesInput] = SageTool(
    name="list_references",
    description=DESCRIPTION,
    input_model=ListReferencesInput,
    kind="instant",
    run=_run,
    presentation=Presentation(
        once=_("listed the types of documents"), often=_("listed the types of documents {count} times")
    ),
)
