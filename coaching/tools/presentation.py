"""A tool with how people see its calls: what the page says of them, and the question that one asks.

Values only: pages and frames are made of them by those who know templates and sockets.
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
    """What a waiting call asks. `kind` decides component and frame; `options` are labels with values."""

    kind: QuestionKind
    prompt: str = ""
    options: Sequence[tuple[str, str]] = ()
    domains: Sequence[LifeDomain] = ()


def text_in(values: Mapping[str, Any], name: str) -> str:
    """Return a text of a call's input; empty where it is missing or something else."""
    value = values.get(name)
    return value if isinstance(value, str) else ""


def any_question(values: Mapping[str, Any]) -> Question:
    """Return the question of a call that waits without a component of its own."""
    return Question(kind="other", prompt=text_in(values, "prompt"))


def no_arc(_: Mapping[str, Any]) -> str:
    """Return that a result neither began nor ended an arc."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """How people see the calls of one tool.

    `once` and `often` say what one call did and what `{count}` did; `activity` is shown while one runs.
    `question` reads a call's input; a stored one may be of an older version, so it raises nothing.
    `arc_begun` and `arc_ended` read from a result which arc it began or ended, if any. With `writes_file`,
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
    """A tool of Sage. `skills` is set where its results bring skills."""

    presentation: Presentation
    skills: SkillTool | None = None
