"""`load_skill`: reads the full text of an approach, or one of its other files."""

from typing import Annotated

from django.utils.translation import gettext_noop as _
from pydantic import Field

from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolInput, ToolResult
from coaching.files.attributes import StorableText
from coaching.models import SkillKind
from coaching.skills.callers import SkillTool, as_name
from coaching.skills.loader import SkillLibrary, read_library, skills_moment
from coaching.skills.reader import SkillError, list_skill_files, read_skill_file
from coaching.skills.rules import arc_of
from coaching.tools.context import ToolContext
from coaching.tools.presentation import Presentation, SageTool
from sessions_app.database import in_database
from sessions_app.selectors import accessible_session

DESCRIPTION = (
    "Read the full text of one of the approaches in your list. Use it when the moment that the list names "
    "has come and the text isn't in this conversation yet, or when the user asks for it. Follow it without "
    "announcing it. Arcs can't be loaded."
)


class LoadSkillInput(ToolInput):
    name: Annotated[StorableText, Field(min_length=1, max_length=200)] = Field(
        description="Like decision-helper, or a file that its text names: domain-deep-dive/questions.md."
    )


async def _run(context: ToolContext, given: LoadSkillInput) -> ToolResult:
    return ToolResult(content=await in_database(_load, context, given.name))


def _load(context: ToolContext, asked: str) -> str:
    library = _library_for(context)
    name, _, path = asked.strip().partition("/")
    name = as_name(name)
    if name in library.names(SkillKind.ARC):
        raise ToolError(f"{arc_of(name)} is an arc: enter it with enter_structured_arc.")
    approaches = library.names(SkillKind.APPROACH)
    if name not in approaches:
        raise ToolError(f"There is no approach of that name. The approaches: {', '.join(approaches)}.")
    if path:
        return _read_file(name, path)
    return f'<skill name="{name}">\n{library[name].text}</skill>'


def _library_for(context: ToolContext) -> SkillLibrary:
    if context.session_id is None:
        return read_library()
    session = accessible_session(user_id=context.user_id, session_id=context.session_id)
    return read_library(moment=skills_moment(session))


def _read_file(name: str, path: str) -> str:
    try:
        return f'<skill name="{name}/{path}">\n{read_skill_file(name, path)}</skill>'
    except SkillError:
        files = ", ".join(f"{name}/{path}" for path in list_skill_files(name)) or "none"
        raise ToolError(f"{name} has no such file. Its files: {files}.") from None


LOAD_SKILL: SageTool[LoadSkillInput] = SageTool(
    name="load_skill",
    description=DESCRIPTION,
    input_model=LoadSkillInput,
    kind="instant",
    run=_run,
    presentation=Presentation(once=_("loaded a skill"), often=_("loaded {count} skills")),
    skills=SkillTool(kind=SkillKind.APPROACH, field="name"),
)
