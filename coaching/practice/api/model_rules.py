"""Differences between models that a request can violate.

An unknown `claude-*` model is treated as a current one, the stricter case. So is `sage-practice`, this
server's own model without a key. A `local-*` model knows neither thinking nor effort, like those that people
run themselves; what it writes is as a script has it.
"""

import re
from dataclasses import dataclass
from typing import Literal

from coaching.practice.api.errors import ApiError

ThinkingType = Literal["adaptive", "between_tools", "enabled", "disabled"]

_MODEL_NAME = re.compile(r"(?:(?:claude|local)-[a-z0-9][a-z0-9.@-]{0,100}|sage-practice)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRules:
    """The rules of one model. `default_thinking` applies when a request leaves `thinking` out."""

    accepts_thinking: frozenset[str]
    default_thinking: ThinkingType
    is_thinking_bound: bool
    accepts_effort: bool
    max_output_tokens: int = 128_000
    context_tokens: int = 1_000_000


CURRENT = ModelRules(
    accepts_thinking=frozenset({"adaptive", "between_tools"}),
    default_thinking="adaptive",
    is_thinking_bound=True,
    accepts_effort=True,
)
CURRENT_SMALL = ModelRules(
    accepts_thinking=frozenset({"adaptive", "disabled"}),
    default_thinking="adaptive",
    is_thinking_bound=True,
    accepts_effort=True,
)
LEGACY = ModelRules(
    accepts_thinking=frozenset({"enabled", "disabled"}),
    default_thinking="disabled",
    is_thinking_bound=False,
    accepts_effort=False,
    max_output_tokens=64_000,
    context_tokens=200_000,
)
LOCAL = ModelRules(
    accepts_thinking=frozenset({"disabled"}),
    default_thinking="disabled",
    is_thinking_bound=False,
    accepts_effort=False,
)


def rules_for(model: str) -> ModelRules:
    """Return the rules of `model`; raises a 404 `ApiError` for an unknown one."""
    if not _MODEL_NAME.match(model):
        raise ApiError(404, f"model: {model}")
    if model.startswith(("claude-haiku-4-5", "claude-sonnet-4-5", "claude-3")):
        return LEGACY
    if model.startswith("local-"):
        return LOCAL
    if model.startswith("claude-haiku"):
        return CURRENT_SMALL
    return CURRENT
