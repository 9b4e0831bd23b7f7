"""`show_options`: offers a few answers to tap; the user can still type. It changes nothing."""

from collections.abc import Mapping
from typing import Annotated, Any

from django.utils.translation import gettext_noop as _
from pydantic import BaseModel, ConfigDict, Field, model_validator

from coaching.engine.errors import ToolError, ToolInputError
from coaching.engine.tools import AnsweredCall, ToolInput, ToolResult
from coaching.files.attributes import StorableText
from coaching.tools.context import AnswerContext, ToolContext
from coaching.tools.presentation import Presentation, Question, SageTool, text_in

DESCRIPTION = (
    "Show two to six short answers to tap, below what you have just said. Use it when a tap is quicker "
    "than typing: which of a few things, how much, yes or no, what next. Ask in your own words first; the "
    "call ends your turn and waits, so say nothing after it. The user may write something else instead: go "
    "with what they wrote."
)
CHOOSE_ONE = "Please choose one of the answers, or write your own instead."
NOT_OFFERED = "That isn't one of the answers that were offered. Please choose one of them, or write your own."
ONLY_IN_A_CONVERSATION = "Answers can be shown in a conversation only."

Label = Annotated[StorableText, Field(min_length=1, max_length=100, pattern=r"\S")]


class Option(BaseModel):
    model_config = ConfigDict(extra="forbid")

    label: Label = Field(description="What the user reads and taps, in their voice.")
    value: Label | None = Field(
        default=None, description="What comes back to you; left out, it is the label."
    )

    @property
    def chosen(self) -> str:
        return self.value or self.label


class ShowOptionsInput(ToolInput):
    prompt: Annotated[StorableText, Field(max_length=500)] | None = Field(
        default=None, description="A short line above the answers, if your words don't say it already."
    )
    options: list[Option] = Field(min_length=2, max_length=6)

    @model_validator(mode="after")
    def _refuse_repeats(self) -> "ShowOptionsInput":
        for kind, texts in (
            ("labels", [option.label for option in self.options]),
            ("values", [option.chosen for option in self.options]),
        ):
            if len(set(texts)) < len(texts):
                raise ValueError(f"two options have the same {kind}; each must be different")
        return self


async def _run(_: ToolContext, __: ShowOptionsInput) -> ToolResult:
    raise ToolError(ONLY_IN_A_CONVERSATION)


def _answer(_: AnswerContext, given: ShowOptionsInput, value: Any) -> AnsweredCall:
    if not isinstance(value, str) or not value.strip():
        raise ToolInputError(CHOOSE_ONE)
    for option in given.options:
        if option.chosen == value:
            result = ToolResult.of(chosen=option.label, value=value)
            return AnsweredCall(result=result, value=value, words=option.label)
    raise ToolInputError(NOT_OFFERED)


def _question(values: Mapping[str, Any]) -> Question:
    options = values.get("options")
    return Question(
        kind="options",
        prompt=text_in(values, "prompt"),
        options=[
            (option["label"], option.get("value") or option["label"])
            for option in (options if isinstance(options, list) else ())
            if isinstance(option, Mapping) and isinstance(option.get("label"), str)
        ],
    )


SHOW_OPTIONS: SageTool[ShowOptionsInput] = SageTool(
    name="show_options",
    description=DESCRIPTION,
    input_model=ShowOptionsInput,
    kind="interactive",
    run=_run,
    answer=_answer,
    presentation=Presentation(
        once=_("offered choices"), often=_("offered choices {count} times"), question=_question
    ),
)
