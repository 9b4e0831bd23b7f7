"""What the tour knows of a day's plan, for the arcs that take it up: closing the day, planning the next one.

It stands in a section of the request, with the boxes that were ticked; if it was written later in the
conversation, in the call.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.file_names import clip, join_words
from coaching.practice.coach.tables import Given

_INTENTION = re.compile(r"^Intention: (\S[^\n]*+)$", re.MULTILINE)
_BOX = re.compile(r"^- \[([ x])\] (\S[^\n]*+)$", re.MULTILINE)
_HOUR = re.compile(r"^Time: [^\n]*?\b(\d\d):\d\d\b", re.MULTILINE)
_CLOSES, _OPENS = "close_day", "open_day"
_EVENING, _MORNING = 18, 4
_MAX_NAME, _MAX_NAMED = 60, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A day's plan: its intention, and its priorities, ticked off or open."""

    intention: str = ""
    done: Sequence[str] = ()
    still_open: Sequence[str] = ()


def plan_of(conversation: Conversation, section: str = "todays_plan") -> Plan | None:
    """Return a plan as the conversation has it; None if there is none."""
    text = conversation.section(section)
    intention = _INTENTION.search(text)
    boxes = [(mark == "x", name.strip()) for mark, name in _BOX.findall(text)]
    said = intention[1].strip() if intention else ""
    if section == "todays_plan" and (written := _written(conversation)):
        ticked = {name for is_done, name in boxes if is_done}
        said = str(written.get("intention", said))
        names = written.get("priorities")
        boxes = [(str(each) in ticked, str(each)) for each in names] if isinstance(names, list) else boxes
    if not (said or boxes):
        return None
    return Plan(
        intention=said,
        done=[name for is_done, name in boxes if is_done],
        still_open=[name for is_done, name in boxes if not is_done],
    )


def _written(conversation: Conversation) -> Mapping[str, object]:
    """Return the attributes of the plan that was saved last in this conversation."""
    saved = [call for call in conversation.calls if call.path and call.input.get("file_type") == "day-plan"]
    attributes = saved[-1].input.get("attributes") if saved else None
    return attributes if isinstance(attributes, Mapping) else {}


def given_of_plan(conversation: Conversation, walk: str) -> Mapping[str, Given]:
    """Return what closing a day takes from its plan without asking: a line each for the log."""
    plan = plan_of(conversation) if walk == _CLOSES else None
    if plan is None:
        return {}
    parts = [("plan_intention", [plan.intention]), ("plan_done", plan.done), ("plan_open", plan.still_open)]
    lines = [texts.said(name, names=", ".join(said)) for name, said in parts if any(said)]
    return {"planned": Given(words="", value="open" if plan.still_open else "done", items=tuple(lines))}


def lead_to(conversation: Conversation, walk: str, slot: str) -> str:
    """Return what is said of a plan before a question that takes it up; nothing before any other."""
    if walk == _OPENS and slot == "priorities":
        before = plan_of(conversation, "yesterdays_plan")
        left = before.still_open if before else ()
        return texts.said("plan_yesterday", names=_names(left)) if left else ""
    plan = plan_of(conversation) if walk == _CLOSES else None
    asked = ("rest" if plan.still_open else "energy") if plan else ""
    if plan is None or slot != asked:
        return ""
    said = [
        texts.said("plan_was", words=clip(plan.intention, _MAX_NAME)) if plan.intention else "",
        texts.said("plan_ticked", names=_names(plan.done)) if plan.done else "",
        texts.said("plan_left", names=_names(plan.still_open)) if plan.still_open else "",
    ]
    lead = " ".join(filter(None, said))
    return "" if lead in conversation.spoken and asked != "rest" else lead


def _names(items: Sequence[str]) -> str:
    return join_words([texts.said("quoted", words=clip(each, _MAX_NAME)) for each in items[:_MAX_NAMED]])


def good_night(conversation: Conversation) -> str:
    """Return a wish for the night, if it's evening where the person is; nothing where no time is told."""
    told = _HOUR.findall(conversation.section("session_context"))
    is_late = bool(told) and not _MORNING <= int(told[-1]) < _EVENING
    return texts.said("sleep_well") if is_late else ""
