"""Does what is plainly requested of a tool, and says what came of it; or says where the person does it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from coaching.practice.coach import texts
from coaching.practice.coach.asides import say_written
from coaching.practice.coach.asked_of_list import say_of_list
from coaching.practice.coach.changing import (
    RESOLVE,
    changed,
    drop_first,
    has_just_noted,
    is_same,
    open_steps_here,
    put_back,
    say_with_day,
)
from coaching.practice.coach.conversation import Call, Conversation, Exchange
from coaching.practice.coach.days import days_in, say_today, today_in
from coaching.practice.coach.file_names import clip, join_words, reason_in_words
from coaching.practice.coach.fitting import is_weighty
from coaching.practice.coach.follow_up import said_as_step
from coaching.practice.coach.hearing import hear
from coaching.practice.coach.heeding import may_write
from coaching.practice.coach.leaving import takes_leave
from coaching.practice.coach.library import search_documents
from coaching.practice.coach.on_list import says
from coaching.practice.coach.plans import CREATE, SENTENCE, Plan, harms, owed, promised, requested_plans
from coaching.practice.coach.requested import requested, step_in
from coaching.practice.coach.scenes import LASTS, scene_in
from coaching.practice.coach.steps import note, say_step, step_reply
from coaching.practice.coach.talk import say_goodbye_to, talk
from coaching.practice.coach.walking import ask, say, with_lead
from coaching.practice.coach.wordings import introduce
from coaching.practice.script import Reply, ToolUse

SAVE = "save_file"
_CAPTURE = "capture"
_ANSWER_WORDS = 8
_DAY_WORDS = 4
"""So many words may only name the day of what was offered: “on Friday, please”."""


def do_requested(conversation: Conversation, words: str) -> Reply | None:
    """Return the reply to a request for a tool, or to a question about documents; None to other words."""
    if search := search_documents(conversation, words):
        return search
    if listed := do_of_list(conversation, words):
        return listed
    if note := requested("note", words):
        return _note(conversation, note)
    if requested("steps", words):
        return say(texts.questions()["list"][0])
    if requested("files", words):
        return say(texts.said("files_are"), say_written(conversation))
    if requested("how", words):
        return say(texts.said("how_to_ask"))
    if requested("able", words):
        menu = ask(conversation, texts.said("menu"), texts.choices("menu"))
        return with_lead(menu, texts.questions()["able"][0])
    return None


def do_of_list(conversation: Conversation, words: str) -> Reply | None:
    """Return the reply to what words ask, request, change or agree to of the list; None to other words."""
    if (plans := _wanted(conversation, words)) and CREATE in conversation.tools:
        return note(conversation, plans)
    if step_in(words)[0]:
        return say(texts.said("step_impossible"))
    if told := "" if requested("how", words) else say_of_list(conversation, words):
        drop = drop_first(conversation, words)
        return Reply.of(drop) if drop else say(told)
    is_offered = texts.stands_in("offer_step", conversation.exchanges[-1].question)
    if is_offered and says("no", words) and len(words.split()) <= _ANSWER_WORDS:
        return say(texts.said("step_not_kept"))
    if says("refers", words) and has_just_noted(conversation) and not any(days_in(words, None)):
        return _already(conversation)
    if says("refers", words) and says("names_list", words) and len(words.split()) <= _ANSWER_WORDS:
        return say(texts.said("step_which"))
    if moved := put_back(conversation, words):
        return moved
    return None if promised(conversation, words) else changed(conversation, words)


def do_in_walk(conversation: Conversation, words: str) -> Reply | None:
    """Return the reply to what words request or ask of the list inside a walk; None to other words."""
    plans = requested_plans(conversation, words) if CREATE in conversation.tools else []
    if plans:
        return note(conversation, plans)
    told = say_of_list(conversation, words)
    return say(told) if told else changed(conversation, words)


def _wanted(conversation: Conversation, words: str) -> Sequence[Plan]:
    """Return the steps that words request or agree to: by their own words, or by those before them."""
    if plans := requested_plans(conversation, words, is_more=has_just_noted(conversation, ago=2)):
        return plans
    before = [each.answer for each in conversation.exchanges[-2:-1] if not each.value]
    is_offered = texts.stands_in("offer_step", conversation.exchanges[-1].question)
    is_yes = says("yes", words) and not says("no", words)
    is_named = any(days_in(words, None)) and len(words.split()) <= _DAY_WORDS
    agrees = is_offered and (is_yes or is_named) and "?" not in words and len(words.split()) <= _ANSWER_WORDS
    if not before or not (agrees or says("refers", words)) or has_just_noted(conversation):
        return []
    plan = promised(conversation, before[0]) or owed(conversation, before[0], needs_day=False)
    if plan is None:
        return []
    day = next((day for _, day in days_in(words, today_in(conversation))), plan.day)
    return [replace(plan, day=day, quote=words if agrees else plan.quote)]


def _already(conversation: Conversation) -> Reply | None:
    """Say that the last step is on the list, to who asks for that once more."""
    steps = open_steps_here(conversation)
    return say(say_with_day(conversation, "step_already", steps[-1])) if steps else None


def note_or_offer(conversation: Conversation, newest: Exchange) -> Reply | None:
    """Return the reply that notes or changes a step, or offers to note what they have to do; None else."""
    if newest.value:
        return None
    if reply := step_reply(conversation, newest.answer):
        return reply
    if plan := said_as_step(conversation):
        return note(conversation, [plan])
    return _offer_step(conversation, newest.answer)


def _offer_step(conversation: Conversation, words: str) -> Reply | None:
    """Offer to note what somebody has to do on a day; not again after a no, and not beside hard things."""
    plan = owed(conversation, words) if CREATE in conversation.tools else None
    if plan is None or conversation.arc or texts.said("step_not_kept") in conversation.spoken:
        return None
    if (
        harms(plan)
        or not may_write(conversation)
        or says("no_offer", words)
        or _is_among_hard_things(conversation)
    ):
        return None
    if step := next((each for each in open_steps_here(conversation) if is_same(plan, each)), None):
        return say(say_with_day(conversation, "step_already", step))
    offered = say_with_day(conversation, "offer_step", plan.call.input)
    return say(offered if conversation.spoken.strip() else introduce(offered))


def _is_among_hard_things(conversation: Conversation) -> bool:
    """Return whether the newest words or those of a moment ago tell of something hard or grave."""
    told = [each.answer for each in conversation.exchanges[-1 - LASTS :] if not each.value]
    scenes = (scene_in(words) for words in told)
    return any(each.is_grave for each in scenes if each) or any(map(is_weighty, told))


def say_steps(conversation: Conversation) -> Sequence[str]:
    """Return what became of the steps that calls have just noted, and what day it is if that was asked."""
    steps = [call for call in conversation.part_calls if call.is_fresh and call.name in {CREATE, RESOLVE}]
    if len(steps) > 1 and all(each.values.get("state") == "open" for each in steps):
        told = [say_with_day(conversation, "wrote_step", each.values) for each in steps]
        return [texts.said("steps_kept", steps=join_words(told))]
    return [*(say_step(conversation, step) for step in steps), *([say_today(conversation)] if steps else [])]


def _say_besides(conversation: Conversation) -> str:
    """Say goodbye to who is leaving, or answer the sentences beside the one that a step is in."""
    newest = conversation.exchanges[-1]
    titles = [str(call.input.get("title", "")) for call in conversation.part_calls]
    is_to_bed = says("leaves", newest.answer) and not any(says("leaves", each) for each in titles)
    if takes_leave(newest.answer) or is_to_bed:
        return say_goodbye_to(conversation)
    quotes = [str(call.input.get("quote", "")) for call in conversation.part_calls]
    rest = "".join(
        each
        for each in SENTENCE.findall(newest.answer)
        if not any(_shares(each, quote) for quote in quotes) and not any(days_in(each, None))
    )
    if len(rest.split()) < _ANSWER_WORDS // 2 or not scene_in(rest):
        return ""
    return talk(conversation, replace(newest, answer=rest), hear(rest))


def _shares(sentence: str, quote: str) -> bool:
    return quote != "" and (quote in sentence or (sentence in quote and quote.count(".") < 1))


def _note(conversation: Conversation, words: str) -> Reply:
    if not may_write(conversation):
        return say(texts.said("not_written"))
    if SAVE not in conversation.tools:
        return say(texts.said("note_impossible"))
    return Reply.of(ToolUse(SAVE, {"file_type": _CAPTURE, "content": words}))


def say_done(conversation: Conversation, done: Mapping[str, Call]) -> Reply | None:
    """Say what became of a step or a note, as the result tells; None if neither was requested."""
    if told := say_steps(conversation):
        return say(*told, _say_besides(conversation))
    saved = done.get(SAVE)
    if saved is None or saved.input.get("file_type") != _CAPTURE:
        return None
    if not saved.path:
        because = reason_in_words(str(saved.values.get("error") or saved.text))
        return say(texts.said("note_failed", because=because).rstrip())
    return say(texts.said("note_kept", words=clip(str(saved.input.get("content")), 240)))
