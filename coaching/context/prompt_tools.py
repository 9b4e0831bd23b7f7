"""The tools of a request, with what the prompt and the history must know of single ones."""

from collections.abc import Iterable, Mapping
from typing import Any

from coaching.context.budget import count_json_tokens
from coaching.context.late_findings import LateKind
from coaching.engine.messages import canonical_json
from coaching.engine.tools import ContextT_contra, Tool, Toolset
from coaching.skills.callers import SkillTools


class PromptTools(Toolset[ContextT_contra]):
    """A toolset in which `skill_tools` bring skills, `file_reader` shows the user's files whole, and
    `danger_tool` is called where Sage notices danger itself. What `late_tools` couldn't wait for comes with
    a later message.

    `tokens` is the size of all definitions, counted once.
    """

    def __init__(
        self,
        tools: Iterable[Tool[ContextT_contra, Any]],
        *,
        skill_tools: SkillTools,
        file_reader: str,
        danger_tool: str,
        late_tools: Mapping[str, LateKind],
    ) -> None:
        super().__init__(tools)
        self.skill_tools = skill_tools
        self.file_reader = file_reader
        self.danger_tool = danger_tool
        self.late_tools = late_tools
        self.tokens = sum(count_json_tokens(canonical_json(definition)) for definition in self.definitions())
