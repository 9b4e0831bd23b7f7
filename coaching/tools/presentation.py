"""How people see the calls of a tool: what a page says about them, and the question that one asks.

Values only: `transcript` and `sockets` turn them into pages and frames.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from coaching.engine.tools import Tool, ToolInput
from coaching.models import LifeDomain
from coaching.skills.callers import SkillTool
from coaching.tools.context import ToolContext

QuestionKind = Literal["options", "pulse", "other"]
InputT = TypeVar("InputT", bound=ToolInput)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The question of a waiting call. `kind` selects component and frame; `options` are labels and values."""

    kind: QuestionKind
    prompt: str = ""
    options: Sequence[tuple[str, str]] = ()
    domains: Sequence[LifeDomain] = ()


def text_in(values: Mapping[str, Any], name: str) -> str:
    """Return a string from a call's input or result; empty if it is missing or no string."""
    value = values.get(name)
    return value if isinstance(value, str) else ""


def any_question(values: Mapping[str, Any]) -> Question:
    """Return the question of a call without a component of its own."""
    return Question(kind="other", prompt=text_in(values, "prompt"))


def no_arc(_: Mapping[str, Any]) -> str:
    """Return an empty string: most tools neither begin nor end an arc."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """How people see the calls of one tool.

    `once` and `often` say what one call and `{count}` calls did; `activity` is shown while one runs.
    `question` parses a call's input. A stored input may be of an older version, so it never raises.
    `arc_begun` and `arc_ended` return the arc that a result began or ended, if any. With `writes_file`,
    the `path` of a result is listed below the answer.
    """

    once: str
    often: str
    activity: str = "Working on it"
    question: Callable[[Mapping[str, Any]], Question] = any_question
    arc_begun: Callable[[Mapping[str, Any]], str] = no_arc
    arc_ended: Callable[[Mapping[str, Any]], str] = no_arc
    writes_file: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SageTool(Tool[ToolContext, InputT]):
    """A tool of Sage. `skills` is set if its results contain skills."""

    presentation: Presentation
    skills: SkillTool | None = None
