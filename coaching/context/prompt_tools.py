"""The tools of a request, with what the prompt and the history must know of single ones."""

from collections.abc import Iterable
from typing import Any

from coaching.engine.tools import ContextT_contra, Tool, Toolset
from coaching.skills.callers import SkillTools


class PromptTools(Toolset[ContextT_contra]):
    """A toolset in which `skill_tools` bring skills and `file_reader` shows the user's files whole."""

    def __init__(
        self, tools: Iterable[Tool[ContextT_contra, Any]], *, skill_tools: SkillTools, file_reader: str
    ) -> None:
        super().__init__(tools)
        self.skill_tools = skill_tools
        self.file_reader = file_reader
