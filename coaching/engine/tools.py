"""A tool: one object with the schema for the model and the code that runs.

The kind decides whether a call waits:

* `instant` and `lifecycle` (changes the session) run within the round.
* `interactive` is shown to the user and gets its result from the answer, through `answer`.
* `confirm` is a write that waits for the user's consent before it runs.
* `evidence` is a write that runs at once if it rests on the user's own words, and waits like `confirm`
  otherwise: the part's `has_to_ask` says which, before the calls of a round are ordered.
"""

import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.json_schema import GenerateJsonSchema

from coaching.engine.errors import ToolInputError
from coaching.engine.json_text import LoneSurrogateError, parse_object

BROKEN_INPUT = "The input is not one valid JSON object. Send the call again, whole."
LONE_SURROGATE = (
    "The input holds a lone surrogate (half of a character), which can't be stored. Write the whole "
    "character or leave it out."
)

ToolKind = Literal["instant", "lifecycle", "interactive", "confirm", "evidence"]
ToolPhase = Literal["first", "normal", "last"]

WAITING_KINDS: frozenset[ToolKind] = frozenset({"interactive", "confirm"})

SavedFields = Mapping[str, frozenset[str]]
"""The input fields that are stored elsewhere once a call has run, by tool."""

ContextT_contra = TypeVar("ContextT_contra", contravariant=True)
InputT = TypeVar("InputT", bound="ToolInput")


class ToolInput(BaseModel):
    """Base of every tool's input model. Unknown fields are errors, so that a typo is noticed."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


class _ShortSchema(GenerateJsonSchema):
    """Leaves out what costs tokens in every request and tells the model nothing.

    Titles repeat the names, and a field that may be left out needs no null.
    """

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def nullable_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> dict[str, Any]:
        described = super().default_schema(schema)
        if described.get("default", "") is None:
            del described["default"]
        return described


_ROOMY_TEXT = 80
_ROOMY_LIST = 8


def _shortened(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a schema with its definitions in place, without titles and limits that are hardly ever reached.

    The input model still checks those limits, and says so if a call exceeds one. A definition's own
    description is its docstring, for developers. Definitions must not refer to themselves. A property may be
    called `title`.
    """
    if isinstance(schema, list):
        return [_shortened(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        defined = definitions[schema["$ref"].rpartition("/")[2]]
        schema = {**defined, "description": "", **schema}
    return {
        name: _shortened(value, definitions)
        for name, value in schema.items()
        if not (_says_little(name, value) or (name == "type" and "enum" in schema))
    }


def _says_little(name: str, value: object) -> bool:
    match name, value:
        case ("title", str()) | ("additionalProperties", False) | ("minLength", 1) | ("description", ""):
            return True
        case "$defs" | "$ref", _:
            return True
        case "maxLength", int(limit):
            return limit >= _ROOMY_TEXT
        case "maxItems", int(limit):
            return limit >= _ROOMY_LIST
        case _:
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call as the model wrote it. `input_json` is its raw JSON text, possibly invalid."""

    tool_use_id: str
    name: str
    input_json: str
    round_number: int
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The result for the model: text, often JSON. `foreign` names the texts in it that others wrote."""

    content: str
    is_error: bool = False
    foreign: tuple[str, ...] = ()

    @classmethod
    def of(cls, **values: Any) -> "ToolResult":
        return cls(content=json.dumps(values, ensure_ascii=False))

    @classmethod
    def error(cls, message: str) -> "ToolResult":
        """Build an error result; the message says what the model can do."""
        return cls(content=message, is_error=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredCall:
    """A user's answer: the result for the model, and the value to store.

    `words` is the label that the user chose, if it differs from the value. `details` replace those that the
    tool's `check` returned.
    """

    result: ToolResult
    value: Any
    words: str = ""
    details: Mapping[str, Any] | None = None


def _never_conflicts(_: Any) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[ContextT_contra, InputT]):
    """One tool.

    `conflict_key(input)`: calls of one round with the same key run one after another in the order
    written; with `None` a call runs concurrently with all others. `check` runs before a call waits: it
    refuses what can't be done, and returns what the user is shown besides the input. `is_transactional`:
    effect and result commit together, so a call without a result may run again. `phase`: calls of the
    phases `first` and `last` run one by one before and after all others of their round; one of `last`
    can't be combined with a call that waits for the user. `saved_fields`: input that is stored elsewhere
    once the call has run, and sent again only as `[saved: N chars]`.
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
    check: Callable[[ContextT_contra, InputT], Awaitable[Mapping[str, Any]]] | None = None
    saved_fields: frozenset[str] = frozenset()

    def definition(self) -> dict[str, Any]:
        """Return the definition for the API: one object for all requests. Don't change it."""
        return _definition_of(self)

    def parse(self, input_json: str) -> InputT:
        """Parse a call's raw JSON strictly. Raises `ToolInputError` that names every fault."""
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


@cache
def _definition_of(tool: Tool[Any, Any]) -> dict[str, Any]:
    described = tool.input_model.model_json_schema(schema_generator=_ShortSchema)
    schema = _shortened(described, described.get("$defs", {}))
    schema.pop("description", None)
    return {"name": tool.name, "description": tool.description, "input_schema": schema}


def _explain(error: ValidationError) -> str:
    lines = []
    for fault in error.errors(include_url=False, include_context=False, include_input=False)[:10]:
        where = ".".join(str(part) for part in fault["loc"]) or "input"
        lines.append(f"{where}: {fault['msg']}")
    return "The input doesn't fit the tool. " + "; ".join(lines)


class Toolset(Generic[ContextT_contra]):
    """The tools of a request in a fixed order: the same bytes in every request."""

    def __init__(self, tools: Iterable[Tool[ContextT_contra, Any]]) -> None:
        self._tools: dict[str, Tool[ContextT_contra, Any]] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ValueError(f"two tools are named {tool.name}")
            self._tools[tool.name] = tool
        self._definitions = [tool.definition() for tool in self._tools.values()]
        self.saved_fields: SavedFields = {
            tool.name: tool.saved_fields for tool in self._tools.values() if tool.saved_fields
        }

    def only(self, names: Collection[str]) -> "Toolset[ContextT_contra]":
        """Return a toolset of those tools that are named."""
        return Toolset(tool for tool in self if tool.name in names)

    def get(self, name: str) -> Tool[ContextT_contra, Any] | None:
        return self._tools.get(name)

    def definitions(self) -> list[dict[str, Any]]:
        """Return the definitions for a request's `tools`. They are shared: don't change them."""
        return list(self._definitions)

    def names(self) -> Sequence[str]:
        return tuple(self._tools)

    def __iter__(self) -> Iterator[Tool[ContextT_contra, Any]]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)
