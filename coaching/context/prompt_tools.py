"""The tools of a request, with what the prompt and the history must know of single ones."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from coaching.context.budget import count_json_tokens
from coaching.context.late_findings import LateKind
from coaching.engine.messages import canonical_json
from coaching.engine.tools import ContextT_contra, Tool, Toolset
from coaching.skills.callers import SkillTools
from coaching.skills.loader import BASE_SKILL

Define = Callable[[Tool[Any, Any]], dict[str, Any]]


def whole_definition(tool: Tool[Any, Any]) -> dict[str, Any]:
    return tool.definition()


class PromptTools(Toolset[ContextT_contra]):
    """A toolset in which `skill_tools` bring skills, `file_reader` shows the user's files whole, and
    `danger_tool` is called where Sage notices danger itself. What `late_tools` couldn't wait for comes with
    a later message. These are named whether they are offered or not: an earlier turn may have called them.

    `base_skill` is the skill that every request with these tools begins with, `define` what it says of a
    tool. `left_out` are tools that exist and aren't offered: other skills are sent without the sentences that
    name one. `is_compact`: it is for a small context. `tokens` is the size of all definitions, counted once.
    """

    def __init__(
        self,
        tools: Iterable[Tool[ContextT_contra, Any]],
        *,
        skill_tools: SkillTools,
        file_reader: str,
        danger_tool: str,
        late_tools: Mapping[str, LateKind],
        base_skill: str = BASE_SKILL,
        define: Define = whole_definition,
        left_out: Collection[str] = (),
        is_compact: bool = False,
    ) -> None:
        super().__init__(tools)
        self._defined = [define(tool) for tool in self]
        self.skill_tools = skill_tools
        self.offered_skill_tools = {name: tool for name, tool in skill_tools.items() if self.get(name)}
        self.file_reader = file_reader
        self.danger_tool = danger_tool
        self.late_tools = late_tools
        self.base_skill = base_skill
        self.left_out = left_out
        self.is_compact = is_compact
        self.tokens = sum(count_json_tokens(canonical_json(definition)) for definition in self.definitions())

    def definitions(self) -> list[dict[str, Any]]:
        """Return the definitions for a request's `tools`. They are shared: don't change them."""
        return list(self._defined)
