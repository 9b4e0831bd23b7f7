"""How people see the calls of a tool: what a page says about them, and the question that one asks.

Values only: `transcript` and `sockets` turn them into pages and frames.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, time
from typing import Any, Literal, TypeVar

from django.utils.formats import date_format, time_format
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_noop

from coaching.engine.tools import Tool, ToolInput
from coaching.models import LifeDomain
from coaching.skills.callers import SkillTool
from coaching.tools.context import ToolContext
from coaching.tools.decisions import Decision

QuestionKind = Literal["options", "pulse", "confirm", "other"]
FieldKind = Literal["line", "text", "lines", "date", "time", "choice", "place"]
InputT = TypeVar("InputT", bound=ToolInput)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardField:
    """A field of a write that the user may edit before their yes. `value` is text as a form holds it.

    `choices` are values and labels; `fault` is what was wrong with a refused value. One that `hides_empty` is
    on the card only if the call gives it a value.
    """

    name: str
    label: str
    kind: FieldKind = "line"
    choices: Sequence[tuple[str, str | Promise]] = ()
    is_required: bool = False
    hides_empty: bool = False
    max_length: int = 200
    value: str = ""
    fault: str = ""

    def translated(self) -> "CardField":
        """Return the field with its texts in the language that is active."""
        choices = [(value, gettext(str(label))) for value, label in self.choices]
        return replace(self, label=gettext(self.label), choices=choices)

    def with_value(self, value: object) -> "CardField":
        """Return the field with a value of a call's input."""
        if isinstance(value, list | tuple):
            return replace(self, value="\n".join(map(str, value)))
        text = "" if value is None else str(value)
        is_other = self.kind == "choice" and text not in dict(self.choices)
        choices = [*self.choices, (text, text)] if is_other and text else self.choices
        return replace(self, value=text, choices=choices)

    def with_fault(self, fault: str) -> "CardField":
        return replace(self, fault=fault)

    @property
    def words(self) -> str:
        if self.kind == "choice":
            return str(dict(self.choices).get(self.value, self.value))
        try:
            if self.kind == "date":
                return date_format(date.fromisoformat(self.value), "WEEKDAY_DATE_FORMAT")
            if self.kind == "time":
                return time_format(time.fromisoformat(self.value), "TIME_FORMAT")
        except ValueError:
            pass
        return self.value

    def parsed(self, value: object, *, was: object = None) -> object:
        """Return a form's value as an input has it: nothing for an empty one, and a list for lines.

        `was` is the value that the form began with.
        """
        if not isinstance(value, str):
            return value
        if self.kind == "lines":
            return [line.strip() for line in value.splitlines() if line.strip()]
        return value if value.strip() else None


DOCUMENT = gettext_noop("Document")
"""The label that a card begins with, if it is about a document."""
PLACE = CardField(name="place", label=gettext_noop("For"), kind="place", is_required=True)
"""Whom something is for, and in which project. Its choices are the user's, and come with a call's details."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The question of a waiting call. `kind` selects component and frame; `options` are labels and values.

    `yes` is the button that lets a write happen, and `done` says that it has. `text` is what would be
    written, where it can't be edited.
    """

    kind: QuestionKind
    prompt: str = ""
    options: Sequence[tuple[str, str]] = ()
    domains: Sequence[LifeDomain] = ()
    fields: Sequence[CardField] = ()
    yes: str = ""
    done: str = ""
    text: str = ""


PAGE = "page"
"""In a call's details: the path of the file that would be written."""
REPLACES = "replaces"
"""In a call's details: whether there is such a file."""
ARC = "arc"
"""In a call's details: the arc that would end."""


def text_in(values: Mapping[str, Any], name: str) -> str:
    """Return a string from a call's input or result; empty if it is missing or no string."""
    value = values.get(name)
    return value if isinstance(value, str) else ""


def any_question(values: Mapping[str, Any]) -> Question:
    """Return the question of a call without a component of its own."""
    return Question(kind="other", prompt=text_in(values, "prompt"))


def card(
    prompt: str, fields: Sequence[CardField], *, yes: str, done: str
) -> Callable[[Mapping[str, Any]], Question]:
    """Return the question of a write that wants the user's yes; all texts are marked for translation."""

    def question(values: Mapping[str, Any]) -> Question:
        all_filled = (field.translated().with_value(values.get(field.name)) for field in fields)
        filled = [field for field in all_filled if field.value or not field.hides_empty]
        return Question(
            kind="confirm", prompt=gettext(prompt), fields=filled, yes=gettext(yes), done=gettext(done)
        )

    return question


def held(
    prompt: str, *, yes: str, done: str, text: Callable[[Mapping[str, Any]], str] = lambda _: ""
) -> Callable[[Mapping[str, Any]], Question]:
    """Return the question of a call that is held, whatever its kind; texts are marked for translation.

    `text(input)` is what would be written.
    """

    def question(values: Mapping[str, Any]) -> Question:
        return Question(
            kind="confirm", prompt=gettext(prompt), yes=gettext(yes), done=gettext(done), text=text(values)
        )

    return question


def no_arc(_: Mapping[str, Any]) -> str:
    """Return an empty string: most tools neither begin nor end an arc."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """How people see the calls of one tool. All texts are in English and marked for translation.

    `once` and `often` say what one call and `{count}` calls did; `activity` is shown while one runs.
    `question` parses a call's input. A stored input may be of an older version, so it never raises.
    `arc_begun` and `arc_ended` return the arc that a result began or ended, if any. With `writes_file`,
    the `path` of a result is listed below the answer; with `writes_step` so is the step.
    """

    once: str
    often: str
    activity: str = gettext_noop("Working on it")
    question: Callable[[Mapping[str, Any]], Question] = any_question
    arc_begun: Callable[[Mapping[str, Any]], str] = no_arc
    arc_ended: Callable[[Mapping[str, Any]], str] = no_arc
    writes_file: bool = False
    writes_step: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What a call would change: version `replaces` of a file, 0 for a new one, None if every call makes one.

    `is_more`: something besides that file, too, or more than deleting it would take back.
    """

    replaces: int | None
    is_more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ForPrograms:
    """A tool as other programs see it: a model that knows nothing of Sage's conversations reads it.

    `input_model` is set if it takes something else than in a conversation.
    """

    title: str
    description: str
    input_model: type[ToolInput] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SageTool(Tool[ToolContext, InputT]):
    """A tool of Sage. `skills` is set if its results contain skills; `coaching.tools.policies` says who may
    call it.

    `pipeline_model` is the input that the pipeline requires, if it asks for more than a conversation does.
    `for_programs` is how other programs see it, if any may call it.
    `changes(context, input)` says whether a call would do more than add something, `decides` whether one of
    the kind `evidence` is asked about first, and `holds` whether any other is, also where no texts of others
    were read. All are sync ORM code and raise as the call would.
    """

    presentation: Presentation
    skills: SkillTool | None = None
    pipeline_model: type[InputT] | None = None
    for_programs: "ForPrograms | None" = None
    changes: Callable[[ToolContext, InputT], Changed] | None = None
    decides: Callable[[ToolContext, InputT, bool], Decision] | None = None
    holds: Callable[[ToolContext, InputT], bool] | None = None

    def in_pipeline(self) -> "SageTool[InputT]":
        return replace(self, input_model=self.pipeline_model) if self.pipeline_model else self

    def in_programs(self) -> "SageTool[Any]":
        """Return the tool with the description and input that programs get. `for_programs` must be set."""
        shown = self.for_programs
        if shown is None:
            raise TypeError(f"programs can't call {self.name}")
        tool: SageTool[Any] = self
        return replace(tool, description=shown.description, input_model=shown.input_model or tool.input_model)
