"""What a tool is: one object that holds the schema sent to the model and the code that runs.

Kinds decide the order within a round and whether a call waits:

* `lifecycle`: changes the session; `instant`: runs and returns; both within the round.
* `interactive`: is shown to the user and gets its result from the answer, through `answer`.
* `confirm`: a write that waits for the user's yes before it runs.

A tool is written once for both tiers. A new tool is one new file that defines one `Tool`.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from coaching.engine.errors import ToolInputError
from coaching.engine.json_text import LoneSurrogateError, parse_object

BROKEN_INPUT = "The input is not one valid JSON object. Send the call again, whole."
LONE_SURROGATE = (
    "The input holds a lone surrogate (half of a character), which can't be stored. Write the whole "
    "character or leave it out."
)

ToolKind = Literal["instant", "lifecycle", "interactive", "confirm"]
ToolPhase = Literal["first", "normal", "last"]

WAITING_KINDS: frozenset[ToolKind] = frozenset({"interactive", "confirm"})

SavedFields = Mapping[str, frozenset[str]]
"""By tool, the input fields that are kept elsewhere once a call ran."""

ContextT_contra = TypeVar("ContextT_contra", contravariant=True)
InputT = TypeVar("InputT", bound="ToolInput")


class ToolInput(BaseModel):
    """The base of every tool's input model: unknown fields are refused, so a typo isn't lost."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call as the model wrote it. `input_json` is its raw JSON text, possibly broken."""

    tool_use_id: str
    name: str
    input_json: str
    round_number: int
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What goes back to the model: text (often JSON) and whether it is an error."""

    content: str
    is_error: bool = False

    @classmethod
    def of(cls, **values: Any) -> "ToolResult":
        """Build a result whose content is `values` as one JSON object."""
        return cls(content=json.dumps(values, ensure_ascii=False))

    @classmethod
    def error(cls, message: str) -> "ToolResult":
        """Build an error result; the message says what the model can do about it."""
        return cls(content=message, is_error=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredCall:
    """What a tool makes of the user's answer: the result for the model, and the value that is kept.

    `words` are what the user read and meant by it, where the value doesn't say so.
    """

    result: ToolResult
    value: Any
    words: str = ""


def _never_conflicts(_: Any) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[ContextT_contra, InputT]):
    """One tool.

    `conflict_key(input)`: calls of one round with the same key run one after another in the order
    written; `None` runs beside everything. `is_transactional`: its effect and its result commit
    together, so a call found without a result may run again. `phase`: calls of the phases `first`
    and `last` run one by one before and after all others of their round; one of `last` can't
    stand beside a call that waits for the user. `saved_fields`: input that is kept elsewhere once the
    call ran, and sent again only as `[saved: N chars]`.
    """

    name: str
    description: str
    input_model: type[InputT]
    kind: ToolKind
    run: Callable[[ContextT_contra, InputT], Awaitable[ToolResult]]
    is_transactional: bool = True
    phase: ToolPhase = "normal"
    conflict_key: Callable[[InputT], str | None] = field(default=_never_conflicts)
    answer: Callable[[Any, InputT, Any], AnsweredCall] | None = None
    saved_fields: frozenset[str] = frozenset()

    def definition(self) -> dict[str, Any]:
        """Return the tool as the Messages API wants it (`name`, `description`, `input_schema`)."""
        schema = self.input_model.model_json_schema()
        schema.pop("title", None)
        schema.pop("description", None)
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": schema,
        }

    def parse(self, input_json: str) -> InputT:
        """Parse a call's raw JSON strictly.

        Raises `ToolInputError` with one line per fault; nothing is coerced out of broken JSON.
        """
        try:
            values = parse_object(input_json)
        except LoneSurrogateError as error:
            raise ToolInputError(LONE_SURROGATE) from error
        except (ValueError, RecursionError) as error:
            raise ToolInputError(BROKEN_INPUT) from error
        try:
            return self.input_model.model_validate(values)
        except ValidationError as error:
            raise ToolInputError(_explain(error)) from error


def _explain(error: ValidationError) -> str:
    lines = []
    for fault in error.errors(include_url=False, include_context=False, include_input=False)[:10]:
        where = ".".join(str(part) for part in fault["loc"]) or "input"
        lines.append(f"{where}: {fault['msg']}")
    return "The input doesn't fit the tool. " + "; ".join(lines)


class Toolset(Generic[ContextT_contra]):
    """The tools of one tier in a fixed order: the same bytes in every request."""

    def __init__(self, tools: Iterable[Tool[ContextT_contra, Any]]) -> None:
        self._tools: dict[str, Tool[ContextT_contra, Any]] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ValueError(f"two tools are named {tool.name}")
            self._tools[tool.name] = tool
        # Building a schema costs milliseconds, and every turn sends the same ones.
        self._definitions = [tool.definition() for tool in self._tools.values()]
        self.saved_fields: SavedFields = {
            tool.name: tool.saved_fields for tool in self._tools.values() if tool.saved_fields
        }

    def get(self, name: str) -> Tool[ContextT_contra, Any] | None:
        """Return the tool of that name, or None: an unknown tool is the model's mistake, not ours."""
        return self._tools.get(name)

    def definitions(self) -> list[dict[str, Any]]:
        """Return the definitions in order, for the request's `tools`; they are shared, so never changed."""
        return list(self._definitions)

    def names(self) -> Sequence[str]:
        """Return the names in order."""
        return tuple(self._tools)

    def __iter__(self) -> Iterator[Tool[ContextT_contra, Any]]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)
