"""`resolve_placement`: where a document of a type is filed, by the rules."""

from typing import Literal

from django.utils.translation import gettext_noop as _

from coaching.engine.tools import ToolInput, ToolResult
from coaching.library.references.current import current_references
from coaching.tools.context import ToolContext
from coaching.tools.presentation import Presentation, SageTool
from coaching.tools.results import Name
from sessions_app.database import in_database

DESCRIPTION = (
    "Get the folder and level (client or project) where the rules file a document of a type. Use it when "
    "asked where it belongs; filing follows the rules anyway."
)


class ResolvePlacementInput(ToolInput):
    file_type: Name
    category: Name
    client_type: Literal["self", "person", "household", "company"] | None = None


async def _run(_: ToolContext, given: ResolvePlacementInput) -> ToolResult:
    return await in_database(_resolve, given)


def _resolve(given: ResolvePlacementInput) -> ToolResult:
    found = current_references().placement.place(
        file_type=given.file_type,
        category=given.category,
        client_type=given.client_type or "",
        has_project=True,
    )
    if found.review:
        return ToolResult.of(review=found.review)
    return ToolResult.of(folder=found.folder, level=found.level, category=found.category, rule=found.rule)


RESOLVE_PLACEMENT: SageTool[ResolvePlacementInput] = SageTool(
    name="resolve_placement",
    description=DESCRIPTION,
    input_model=ResolvePlacementInput,
    kind="instant",
    run=_run,
    presentation=Presentation(
        once=_("looked up where a document belongs"),
        often=_("looked up {count} times where documents belong"),
    ),
)
