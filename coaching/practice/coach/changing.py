"""Changes of a step that was noted or proposed in the conversation.

The server's tool moves a step and drops it. Its words and its time are changed on the home page, so that is
said.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, time
from typing import Any

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Call, Conversation
from coaching.practice.coach.days import day_in_words, days_in, today_in
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.on_list import says, time_in
from coaching.practice.coach.plans import CREATE, SENTENCE, Plan, promised
from coaching.practice.script import Reply, ToolUse
from coaching.safety.readable import plain_letters

RESOLVE = "resolve_action_item"
_CLAUSE = re.compile(
    r"[,.;:!?\n]|\s(?:que|weil|denn|because|since|as|y|und|and|but|aber|pero)\s", re.IGNORECASE
)
_WORD = re.compile(r"\w+")
_LIGHT_WORDS = (
    "i ich yo da dann the a an my to den die das der dem ein eine einen mein meine meinen el la los las un "
    "una mi mis al del de auf zu zum zur mit with for fur para con en at um"
)
_LIGHT = frozenset(_LIGHT_WORDS.split())
"""Words that don't tell one step from another."""
_SHORT, _MOST, _FEW = 12, 25, 4
"""So many words change a step at most: in a sentence, in a message, and without any word for a change."""


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


def is_same(plan: Plan, step: Mapping[str, Any]) -> bool:
    """Return whether a plan is a step that was noted: by its words, unless both have days that differ."""
    day = str(step.get("due_date") or "")
    is_other_day = plan.day and day and plan.day.isoformat() != day
    return _own_words(plan.title) == _own_words(str(step.get("title", ""))) and not is_other_day


def _own_words(title: str) -> frozenset[str]:
    words = frozenset(_WORD.findall(plain_letters(title))) - _LIGHT
    return frozenset(each.removesuffix("e") for each in words)


def has_just_noted(conversation: Conversation, *, ago: int = 1) -> bool:
    """Return whether a step was noted or proposed in one of the last `ago` answers."""
    earlier = conversation.exchanges[:-ago]
    before = earlier[-1].position if earlier else 0
    return any(call.name in {CREATE, RESOLVE} and call.position > before for call in conversation.calls)


def _last(conversation: Conversation) -> Call | None:
    return next((call for call in reversed(conversation.calls) if call.name in {CREATE, RESOLVE}), None)


def put_back(conversation: Conversation, words: str) -> Reply | None:
    """Return the reply to words that take back the day of the last step: "no, I'll do it on Friday"."""
    last = _last(conversation)
    is_back = last and has_just_noted(conversation, ago=2) and is_about("takes_back", words)
    if last is None or not is_back:
        return None
    plan, title = (
        promised(conversation, words),
        str(last.input.get("title") or last.values.get("title") or ""),
    )
    is_new = (
        plan
        and not is_about("corrects_day", words)
        and len(_own_words(plan.title)) > 1
        and not _own_words(plan.title) & _own_words(title)
    )
    return None if is_new else changed(conversation, words)


def changed(conversation: Conversation, words: str) -> Reply | None:
    """Return the reply to words that change the last step; None if they don't."""
    last = _last(conversation)
    is_dropped = says("drops", words) or (has_just_noted(conversation) and says("forgets", words))
    if is_dropped and (reply := _dropped(conversation, last, words)):
        return reply
    if last is None:
        return None
    if call := _moved(conversation, last, words):
        return Reply.of(call)
    is_recent = has_just_noted(conversation, ago=3) and len(words.split()) <= _MOST
    if not is_recent or last.values.get("state") in {"done", "dropped"}:
        return None
    at = _other_time(words)
    if at and last.name == CREATE and not last.values.get("written") and has_just_noted(conversation):
        return Reply.of(ToolUse(CREATE, {**last.input, "due_time": at.isoformat("minutes")}))
    is_put_right = _puts_words_right(last, words) or _says_anew(last, words)
    if last.values.get("written") and (at or is_put_right or _asks_for_change(words)):
        return Reply.of(say_with_day(conversation, "step_only_day", {**last.input, **last.values}))
    return None


def _dropped(conversation: Conversation, last: Call | None, words: str) -> Reply | None:
    """Return the reply to words that drop the last step, or one that wasn't noted here."""
    if last and (call := _drop(conversation, last, words)):
        return Reply.of(call)
    if last and last.name == CREATE and not last.values.get("written") and has_just_noted(conversation):
        return Reply.of(texts.said("step_not_kept"))
    return Reply.of(texts.said("list_remove")) if says("names_list", words) else None


def _drop(conversation: Conversation, last: Call, words: str) -> ToolUse | None:
    """Return the call that drops the last step, if it was noted lately or the last answer names it alone."""
    answer = conversation.exchanges[-1].question
    named = [each for each in open_steps_here(conversation) if str(each.get("title")) in answer]
    is_named = len(named) == 1 and named[0].get("id") == last.values.get("id")
    is_recent = has_just_noted(conversation, ago=3) or is_named
    is_open = last.values.get("state") == "open" and RESOLVE in conversation.tools
    return resolve(last.values["id"], "dropped", words) if is_open and is_recent else None


def drop_first(conversation: Conversation, words: str) -> ToolUse | None:
    """Return the call that drops the last step, if words begin with that: "scrap that, and note: …"."""
    last = _last(conversation)
    clauses = [each.strip() for each in _CLAUSE.split(words)]
    begins = any(found.start() == 0 for each in clauses[:2] if (found := says("drops", each)))
    return _drop(conversation, last, words) if last and begins and any(clauses[1:]) else None


def _moved(conversation: Conversation, last: Call, words: str) -> ToolUse | None:
    """Return the call that moves the step that was noted or proposed last to another day."""
    today = today_in(conversation)
    if not today:
        return None
    is_just = has_just_noted(conversation, ago=2)
    due = str(last.values.get("due_date") or last.input.get("due_date") or "")
    day = _new_day(_moving(words, is_just=is_just), today, due)
    if not day:
        return None
    if last.values.get("state") == "open" and RESOLVE in conversation.tools:
        return resolve(last.values["id"], "open", words, due_date=day)
    is_proposed = last.name == CREATE and not last.values.get("written") and has_just_noted(conversation)
    return ToolUse(CREATE, {**last.input, "due_date": day}) if is_proposed else None


def _moving(words: str, *, is_just: bool) -> Sequence[str]:
    """Return the sentences that may move a step; a question does only if it asks for that."""
    if is_about("takes_leave", words) and not is_about("moves_step", words):
        return []
    sentences = [each for each in SENTENCE.findall(words) if "?" not in each or is_about("moves_step", each)]
    if len(words.split()) <= _SHORT and is_about("moves_step", words):
        return sentences
    if not is_just:
        return []
    if len(words.split()) <= _MOST and (is_about("moves_step", words) or _takes_back(words)):
        return sentences
    return [each for each in sentences if len(each.split()) <= _SHORT and _takes_back(each)]


def _takes_back(words: str) -> bool:
    """Return whether words say that something was wrong, or are hardly more than a day."""
    is_back = is_about("takes_back", words) or is_about("corrects_day", words) or says("moves", words)
    return bool(is_back) or _is_little_more(words, [word for word, _ in days_in(words, None)])


def _new_day(sentences: Sequence[str], today: date, due: str) -> str:
    """Return the day that sentences put in place of another: first of those that they don't deny."""
    clauses = [each for sentence in sentences for each in _CLAUSE.split(sentence) if each.strip()]
    clauses.sort(key=lambda each: not is_about("moves_step", each))  # "make it Friday" counts before others
    named = [(each, word, day.isoformat()) for each in clauses for word, day in days_in(each, today)]
    said = [day for clause, word, day in named if not _is_denied(clause, word)]
    return next((day for day in said if day != due), "") or next(
        (day for _, _, day in named if day != due), "".join(said[:1])
    )


def _is_denied(clause: str, word: str) -> bool:
    before, _, after = clause.partition(word)
    return bool(is_about("not_day", before) or says("denies", after) or says("denies", f"{before[-12:]} "))


def _other_time(words: str) -> time | None:
    """Return the time that words put in place of another."""
    is_change = is_about("takes_back", words) or says("moves", words) or says("puts_right", words)
    hour = says("hour", words)
    return time_in(words) if hour and (is_change or _is_little_more(words, [hour[0]])) else None


def _is_little_more(words: str, named: Sequence[str]) -> bool:
    """Return whether words are little more than a day or a time: "friday then"."""
    count = len(words.split())
    return count <= _FEW and count - sum(len(each.split()) for each in named) <= 1


def _puts_words_right(last: Call, words: str) -> bool:
    """Return whether words put right one that stands in a step: "it's Marta, not Maria"."""
    title = _own_words(str(last.values.get("title") or last.input.get("title") or ""))
    is_short = len(words.split()) <= _SHORT
    return bool(is_short and says("puts_right", words) and title & _own_words(words))


def _says_anew(last: Call, words: str) -> bool:
    """Return whether words say a step in other words: "write: chess afternoon at the hall"."""
    if not says("rewords", words) or any(days_in(words, None)):
        return False
    title = _own_words(str(last.values.get("title") or last.input.get("title") or ""))
    pairs = ((old, new) for old in title for new in _own_words(words) if min(len(old), len(new)) > _FEW)
    return any(old.startswith(new) or new.startswith(old) for old, new in pairs)


def _asks_for_change(words: str) -> bool:
    is_short = len(words.split()) <= _FEW + 2
    return is_short and "?" in words and is_about("moves_step", words)
