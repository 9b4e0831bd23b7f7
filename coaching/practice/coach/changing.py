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
from coaching.practice.coach.days import days_in, today_in
from coaching.practice.coach.file_names import join_words
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.noted import (
    RESOLVE,
    has_just_noted,
    open_steps_here,
    own_words,
    resolve,
    say_with_day,
)
from coaching.practice.coach.on_list import says, time_in
from coaching.practice.coach.plans import CREATE, Plan, promised, title_of
from coaching.practice.coach.requested import SENTENCE
from coaching.practice.script import Reply, ToolUse

_CLAUSE = re.compile(
    r"[,.;:!?\n]|\s(?:que|weil|denn|because|since|as|y|und|and|but|aber|pero)\s", re.IGNORECASE
)
_DENIAL = re.compile(
    r"\A\W*(?:(?:oh|ah|ach|ay|uy|um|h?m+)\W+)?(?:no|nope|nah|not|nein|nee?|nö|nicht|kein\w*)\b", re.IGNORECASE
)
"""A no beside another day: the rest is what moves the step."""
_ADDS = re.compile(
    r"\A\W*(?:(?:oh|ah|ok|okay|ach|ja|vale)\W+)?(?:and|also|plus|und|noch|y|también)\b", re.IGNORECASE
)
"""How words begin that add something, rather than put another thing right."""
_LAST = re.compile(r"\b(?:last|letzte\w*|últim\w+|ultim\w+)\b", re.IGNORECASE)
_SHORT, _MOST, _FEW = 12, 25, 4
"""So many words change a step at most: in a sentence, in a message, and without any word for a change."""


def is_same(plan: Plan, step: Mapping[str, Any]) -> bool:
    """Return whether a plan is a step that was noted: by its words, unless both have days that differ."""
    day = str(step.get("due_date") or "")
    is_other_day = plan.day and day and plan.day.isoformat() != day
    return own_words(plan.title) == own_words(str(step.get("title", ""))) and not is_other_day


def _last(conversation: Conversation) -> Call | None:
    """Return the call of the last step: the newest that proposed or noted one, or changed it in fact."""
    is_just = has_just_noted(conversation, ago=2)
    of_steps = (call for call in reversed(conversation.calls) if call.name in {CREATE, RESOLVE})
    return next(
        (call for call in of_steps if call.values.get("written") or (is_just and call.name == CREATE)), None
    )


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
        and len(own_words(plan.title)) > 1
        and not own_words(plan.title) & own_words(title)
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
    is_proposed = last.name == CREATE and not last.values.get("written") and has_just_noted(conversation)
    if is_proposed and _says_anew(last, words):
        title = title_of(words.partition(":")[2] or words)
        said = texts.said(
            "step_asks", steps=say_with_day(conversation, "wrote_step", {**last.input, "title": title})
        )
        return Reply.of(said, ToolUse(CREATE, {**last.input, "title": title, "quote": words}))
    is_put_right = _puts_words_right(last, words) or _says_anew(last, words)
    if last.values.get("written") and (at or is_put_right or _asks_for_change(words)):
        return Reply.of(say_with_day(conversation, "step_only_day", {**last.input, **last.values}))
    return None


def _dropped(conversation: Conversation, last: Call | None, words: str) -> Reply | None:
    """Return the reply to words that drop the last step, or one that wasn't noted here."""
    shown = _shown_steps(conversation)
    days = {day.isoformat() for _, day in days_in(words, today_in(conversation))}
    dated = [each for each in shown if str(each.get("due_date")) in days]
    if len(dated) == 1 and RESOLVE in conversation.tools:
        asks = texts.said("step_drop_asks", title=str(dated[0].get("title")))
        return Reply.of(asks, resolve(dated[0]["id"], "dropped", words))
    if len(shown) > 1 and not _LAST.search(words):
        steps = [say_with_day(conversation, "wrote_step", each) for each in shown]
        return Reply.of(texts.said("which_step", steps=join_words(steps)))
    if last and (call := _drop(conversation, last, words)):
        title = str(last.values.get("title") or last.input.get("title") or "")
        return Reply.of(texts.said("step_drop_asks", title=title), call)
    if last and last.name == CREATE and not last.values.get("written") and has_just_noted(conversation):
        return Reply.of(texts.said("step_not_kept"))
    return Reply.of(texts.said("list_remove")) if says("names_list", words) else None


def _shown_steps(conversation: Conversation) -> Sequence[Mapping[str, Any]]:
    """Return the open steps that the last answer names."""
    answer = conversation.exchanges[-1].question
    return [each for each in open_steps_here(conversation) if str(each.get("title")) in answer]


def _drop(conversation: Conversation, last: Call, words: str) -> ToolUse | None:
    """Return the call that drops the last step, if it was noted lately or the last answer names it alone."""
    named = _shown_steps(conversation)
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
    if other := _other_named(conversation, last, words):
        day = _new_day(_moving(words, is_just=is_just), today, str(other.get("due_date") or ""))
        return resolve(other["id"], "open", _quote_of(words, day, today), due_date=day) if day else None
    due = str(last.values.get("due_date") or last.input.get("due_date") or "")
    day = _new_day(_moving(words, is_just=is_just), today, due)
    if not day:
        return None
    if last.values.get("state") == "open" and RESOLVE in conversation.tools:
        return resolve(last.values["id"], "open", _quote_of(words, day, today), due_date=day)
    is_proposed = last.name == CREATE and not last.values.get("written") and has_just_noted(conversation)
    return ToolUse(CREATE, {**last.input, "due_date": day}) if is_proposed else None


def _other_named(conversation: Conversation, last: Call, words: str) -> Mapping[str, Any]:
    """Return the open step that words name, where it isn't the last; empty where they name none."""
    said = own_words(words)
    shared = [(len(own_words(str(each["title"])) & said), each) for each in open_steps_here(conversation)]
    most, step = max(shared, key=lambda each: each[0], default=(0, {}))
    title = str(last.values.get("title") or last.input.get("title") or "")
    is_other = most > len(own_words(title) & said) and RESOLVE in conversation.tools
    return step if is_other else {}


def _quote_of(words: str, day: str, today: date) -> str:
    """Return the words that name a day, without a no beside them: so much is what moves a step."""
    sentences = [each.strip() for each in SENTENCE.findall(words)]
    said = next((each for each in reversed(sentences) if _names_day(each, day, today)), words)
    clauses = [each.strip(" .!") for each in re.split(r"[,;:.!–—]", said) if each.strip(" .!")]
    own = [each for each in clauses if _names_day(each, day, today)]
    others = [each for each in clauses if each not in own[-1:]]
    return own[-1] if own and all(_DENIAL.match(each) for each in others) else said


def _names_day(words: str, day: str, today: date) -> bool:
    return any(meant.isoformat() == day for _, meant in days_in(words, today))


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
    if _ADDS.match(words):
        return False
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
    title = own_words(str(last.values.get("title") or last.input.get("title") or ""))
    is_short = len(words.split()) <= _SHORT
    return bool(is_short and says("puts_right", words) and title & own_words(words))


def _says_anew(last: Call, words: str) -> bool:
    """Return whether words say a step in other words: "write: chess afternoon at the hall"."""
    if not says("rewords", words) or any(days_in(words, None)):
        return False
    title = own_words(str(last.values.get("title") or last.input.get("title") or ""))
    pairs = ((old, new) for old in title for new in own_words(words) if min(len(old), len(new)) > _FEW)
    return any(old.startswith(new) or new.startswith(old) for old, new in pairs)


def _asks_for_change(words: str) -> bool:
    is_short = len(words.split()) <= _FEW + 2
    return is_short and "?" in words and is_about("moves_step", words)
