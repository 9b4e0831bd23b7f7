"""The steps that were noted in this conversation, and how a step is said."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.days import day_in_words
from coaching.practice.coach.plans import CREATE
from coaching.practice.script import ToolUse
from coaching.safety.readable import plain_letters

RESOLVE = "resolve_action_item"
_WORD = re.compile(r"\w+")
_LIGHT_WORDS = (
    "i ich yo da dann the a an my to den die das der dem ein eine einen mein meine meinen el la los las un "
    "una mi mis al del de auf zu zum zur mit with for fur para con en at um"
)
LIGHT = frozenset(_LIGHT_WORDS.split())
"""Words that don't tell one step from another."""


def resolve(step: Any, state: str, quote: str, **more: str) -> ToolUse:
    """Return the call that says what became of a step."""
    return ToolUse(RESOLVE, {"id": int(step), "state": state, "quote": quote[:500], **more})


def open_steps_here(conversation: Conversation) -> Sequence[Mapping[str, Any]]:
    """Return the open steps that were noted in this conversation, the oldest first, as results have them."""
    found: dict[int, Mapping[str, Any]] = {}
    for call in conversation.calls:
        step = call.values.get("id")
        if call.name not in {CREATE, RESOLVE} or not isinstance(step, int) or not call.values.get("written"):
            continue
        before = found.pop(step, {})
        if call.values.get("state") == "open":
            found[step] = {**before, **call.values}
    return list(found.values())


def say_with_day(conversation: Conversation, name: str, step: Mapping[str, Any]) -> str:
    """Return a sentence about a step with its day and its time, where it has them."""
    day, at = day_in_words(conversation, str(step.get("due_date") or "")), str(step.get("due_time") or "")
    due = texts.said("step_day", day=day) if day else ""
    due += texts.said("step_time", time=at[:5]) if day and at else ""
    return texts.said(name, title=str(step.get("title", "")), day=due)


def steps_noted(conversation: Conversation) -> Sequence[str]:
    """Return the open steps that were noted in this conversation, each with its day, in words."""
    return [say_with_day(conversation, "wrote_step", each) for each in open_steps_here(conversation)]


def own_words(title: str) -> frozenset[str]:
    words = frozenset(_WORD.findall(plain_letters(title))) - LIGHT
    return frozenset(each.removesuffix("e") for each in words)


def has_just_noted(conversation: Conversation, *, ago: int = 1) -> bool:
    """Return whether a step was noted or proposed in one of the last `ago` answers."""
    earlier = conversation.exchanges[:-ago]
    before = earlier[-1].position if earlier else 0
    return any(call.name in {CREATE, RESOLVE} and call.position > before for call in conversation.calls)
