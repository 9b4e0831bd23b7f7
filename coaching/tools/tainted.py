"""What tools may do after texts of others: documents, imports, calendars and mails that a turn has read.

Such a text can ask for things in the person's name, and a model may obey. So what changes their life waits
for their yes then, and what only adds to it can be undone where it is shown. A call is ruled on before its
round runs, and that is stored with it: what another call of the same round reads can't have asked for it, and
a turn that goes on later rules on nothing again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coaching.engine.errors import ToolError, ToolInputError
from coaching.engine.tools import ToolCall
from coaching.tools.context import ToolContext
from coaching.tools.policies import POLICIES, UNKNOWN
from coaching.tools.presentation import SageTool
from coaching.tools.tiers import CHAT
from sessions_app.errors import Refused
from sessions_app.history import TAINT_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What was decided about one call after texts of others, which are named in `sources`.

    `is_held`: it waits for the user's yes although its kind wouldn't, which a tool may want without any
    sources, too. `replaces` is the version of the file
    that it may replace, 0 for a new file; None where that doesn't matter.
    """

    sources: tuple[str, ...]
    is_held: bool = False
    replaces: int | None = None

    def as_metadata(self) -> Mapping[str, Any]:
        return {
            TAINT_KEY: {
                "sources": list(self.sources),
                "is_held": self.is_held,
                "replaces": self.replaces,
            }
        }

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> "Ruling | None":
        """Return what a call's metadata holds; None for a call before which no text of others was read."""
        stored = metadata.get(TAINT_KEY)
        if not isinstance(stored, Mapping):
            return None
        return cls(sources=tuple(stored["sources"]), is_held=stored["is_held"], replaces=stored["replaces"])


NO_RULINGS: Mapping[str, Ruling] = {}


def rule_on(
    calls: Sequence[tuple[ToolCall, SageTool[Any] | None, ToolContext]], sources: tuple[str, ...]
) -> Mapping[str, Ruling]:
    """Rule on the calls of a round, each with its tool and context, by `tool_use_id`. Sync ORM code.

    Without sources, only calls that their tool holds are ruled on. No tool holds one in a round that begins
    an arc first: what may be written is another question by then.
    """
    begins_arc = any(_begins_arc(tool, call) for call, tool, _ in calls)
    rulings: dict[str, Ruling] = {}
    written: set[str] = set()
    for call, tool, context in calls:
        ruling = _rule_on_one(call, tool, context, sources, written) if sources else None
        if tool is not None and tool.holds is not None and not (begins_arc and tool.changes):
            ruling = _held_by(tool, call, context, ruling)
        if ruling is not None:
            rulings[call.tool_use_id] = ruling
    return rulings


def _begins_arc(tool: SageTool[Any] | None, call: ToolCall) -> bool:
    """Say whether a call begins an arc; with input that can't be read it is refused and begins none."""
    if tool is None or tool.phase != "first":
        return False
    try:
        tool.parse(call.input_json)
    except ToolInputError:
        return False
    return True


def _held_by(
    tool: SageTool[Any], call: ToolCall, context: ToolContext, ruling: Ruling | None
) -> Ruling | None:
    """Return the ruling on a call that its tool may hold, whatever was read."""
    if tool.holds is None or (ruling is not None and ruling.is_held):
        return ruling
    try:
        values = tool.parse(call.input_json)
        if not tool.holds(context, values):
            return ruling
        replaces = tool.changes(context, values).replaces if tool.changes else None
    except (ToolInputError, ToolError, Refused):
        return ruling  # it is refused when it runs
    return Ruling(sources=ruling.sources if ruling else (), is_held=True, replaces=replaces)


def _rule_on_one(
    call: ToolCall,
    tool: SageTool[Any] | None,
    context: ToolContext,
    sources: tuple[str, ...],
    written: set[str],
) -> Ruling:
    treatment = POLICIES.get(call.name, UNKNOWN).after_texts
    if tool is None or treatment == "free" or tool.kind in (*CHAT.waiting_kinds, "evidence"):
        return Ruling(sources=sources)
    if treatment == "confirm" or tool.changes is None:
        return Ruling(sources=sources, is_held=True)
    try:
        values = tool.parse(call.input_json)
        changed = tool.changes(context, values)
    except (ToolInputError, ToolError, Refused):
        return Ruling(sources=sources, replaces=0)  # it is refused when it runs, or may only add by then
    if changed.replaces is None:
        return Ruling(sources=sources, is_held=changed.is_more)
    key = tool.conflict_key(values) or call.tool_use_id
    is_again = key in written  # by an earlier call of this round: the file is there by then
    written.add(key)
    return Ruling(
        sources=sources,
        is_held=changed.replaces > 0 or changed.is_more or is_again,
        replaces=None if is_again else changed.replaces,
    )
