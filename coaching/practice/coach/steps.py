"""Next steps: the tour keeps what somebody promises, moves it, notes what was done, asks what became of it.

The server decides by the person's words whether a call writes at once or asks first, so what is said of a
step follows from its result.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coaching.practice.coach import texts
from coaching.practice.coach.acts import asks_to_be_reminded
from coaching.practice.coach.changing import (
    RESOLVE,
    changed,
    drop_first,
    is_same,
    open_steps_here,
    put_back,
    resolve,
    say_with_day,
)
from coaching.practice.coach.conversation import Call, Conversation
from coaching.practice.coach.days import days_in, today_in
from coaching.practice.coach.harm import say_of_harm
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.heeding import may_write
from coaching.practice.coach.on_list import time_in
from coaching.practice.coach.plans import CREATE, SENTENCE, Plan, harms, promised, requested_plans
from coaching.practice.coach.wordings import introduce
from coaching.practice.script import Reply, ToolUse

LOOK_BACK = frozenset({"close_day", "weekly_checkin"})
"""The arcs that ask about a step that is due."""
_STEP = re.compile(r'<step id="(\d{1,12})"([^>\n]{0,240})>\n([^\n<]+)')
_DUE = re.compile(r"not asked about yet: ([\d, ]+)")
_WORD = re.compile(r"\w{3,}")
_MAX_WORDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class LookBack:
    """What a walk does about a step that is due: a question, a call, or what is said of it in the end."""

    question: str = ""
    call: ToolUse | None = None
    said: str = ""


def step_reply(conversation: Conversation, words: str) -> Reply | None:
    """Return the reply that notes what words say of a next step; None if they say nothing of one."""
    if len(words) > _MAX_WORDS:
        return None
    if is_about("takes_leave", words):
        plan = promised(conversation, words)
        return note(conversation, [plan]) if plan and CREATE in conversation.tools else None
    if CREATE in conversation.tools and (plans := requested_plans(conversation, words)):
        return note(conversation, plans)
    if done := _done(conversation, words):
        return Reply.of(done)
    if moved := put_back(conversation, words):
        return moved
    plan = promised(conversation, words) if CREATE in conversation.tools else None
    return note(conversation, [plan]) if plan else changed(conversation, words)


def note(conversation: Conversation, plans: Sequence[Plan]) -> Reply:
    """Return the reply that notes steps, each once in a conversation; none where one would do harm.

    Each step goes this way to the list, whichever words name it.
    """
    if any(harms(each) for each in plans):
        said = say_of_harm(conversation)
        return Reply.of(said if conversation.spoken.strip() else introduce(said))
    if not may_write(conversation):
        return Reply.of(texts.said("not_written"))
    calls, told = [], []
    for plan in plans:
        step = next((each for each in open_steps_here(conversation) if is_same(plan, each)), None)
        if step is None:
            calls.append(plan.call)
        elif plan.day and not step.get("due_date") and RESOLVE in conversation.tools:
            calls.append(resolve(step["id"], "open", plan.quote, due_date=plan.day.isoformat()))
        else:
            told.append(say_with_day(conversation, "step_already", step))
    drop = drop_first(conversation, conversation.exchanges[-1].answer) if calls else None
    return Reply.of(*filter(None, [drop]), *calls) if calls else Reply.of("\n\n".join(told))


def say_step(conversation: Conversation, call: Call) -> str:
    """Say what became of a step, as its result tells."""
    values, words = call.values, conversation.exchanges[-1].answer
    if call.is_error or not values.get("written"):
        return texts.said("step_failed" if call.is_error else "step_not_kept")
    match values.get("state"):
        case "done" | "dropped" as state:
            return texts.said(f"step_{state}", title=str(values.get("title", "")))
        case _ if call.name == RESOLVE and values.get("due_date"):
            at = time_in(words)
            is_other = at is not None and at.isoformat("minutes") != values.get("due_time")
            moved = say_with_day(conversation, "step_moved", values)
            return f"{moved} {texts.said('step_no_time')}" if is_other else moved
        case _:
            kept = say_with_day(conversation, "step_kept", values)
            return f"{kept} {texts.said(_reminder(values))}" if asks_to_be_reminded(words) else kept


def _reminder(values: Mapping[str, object]) -> str:
    """Return the name of what is said to who asks to be reminded of a step that was noted."""
    if not values.get("due_date"):
        return "step_no_day"
    return "step_reminded" if values.get("reminder") else "step_no_ring"


def look_back(conversation: Conversation, begins: int) -> LookBack | None:
    """Return what to do about the step that is due; None without one."""
    due = _DUE.search(conversation.section("steps_due"))
    steps = _open_steps(conversation)
    step = next((each for each in due[1].split(", ") if each in steps), "") if due else ""
    if not step or RESOLVE not in conversation.tools:
        return None
    answered = [each for each in conversation.exchanges if texts.stands_in("step_due", each.question)]
    if not answered or answered[-1].position <= begins:
        return LookBack(question=texts.said("step_due", title=steps[step][:100]))
    told = [
        each for each in conversation.calls if each.position > answered[-1].position and each.name == RESOLVE
    ]
    if told:
        return LookBack(said=say_step(conversation, told[-1]))
    answer, value = answered[-1].answer, answered[-1].value
    if value in ("done", "dropped") or (not value and is_about("done_step", answer)):
        return LookBack(call=resolve(step, value or "done", answer))
    day = next(days_in(answer, today_in(conversation)), None) if not value else None
    if day:
        return LookBack(call=resolve(step, "open", answer, due_date=day[1].isoformat()))
    return LookBack(said=texts.said("step_stays"))


def _done(conversation: Conversation, words: str) -> ToolUse | None:
    if RESOLVE not in conversation.tools:
        return None
    for sentence in SENTENCE.findall(words):
        if "?" in sentence or not is_about("done_step", sentence):
            continue
        for step, title in _open_steps(conversation).items():
            if _names(sentence, title):
                return resolve(step, "done", sentence.strip())
    return None


def _open_steps(conversation: Conversation) -> Mapping[str, str]:
    """Return the titles of the open steps by their ids."""
    found: dict[str, str] = {}
    for text in conversation.context_texts:
        section = text[text.find("<next_steps") :] if "<next_steps" in text else ""
        for step, attributes, said in _STEP.findall(section):
            if ' state="' in attributes:
                found.pop(step, None)
            else:
                found[step] = said.partition("; they said on ")[0].partition("; noted ")[0]
    return found


def _names(sentence: str, title: str) -> bool:
    """Return whether a sentence has most of a title's words, however they end."""
    said = _WORD.findall(sentence.lower())
    own = _WORD.findall(title.lower())
    found = [word for word in own if any(one.startswith(word) or word.startswith(one) for one in said)]
    return bool(own) and 3 * len(found) >= 2 * len(own)
