"""The thread of an open conversation: the few questions that the tour asks, each once, in their order.

A script doesn't understand what it is told, but it knows which of its questions an answer belongs to. So in
open talk it asks nothing but these, and what it says next fits whatever is answered (`follow_up.py`):

    mind → wish → hands → piece → how a step gets on the list → no more questions

`mind` is left out where enough was told for it. `hands` and `piece` only follow an answer. An intention in
answer to `wish` or `hands` is the `piece`. `sentence` stands beside: it follows advice on how to tell it to
somebody. A step on the list ends the thread. Nothing is asked in an arc, after a loss, danger or good news,
of who only wants to talk, or speaks of their own drinking; after other grave things only `mind` is, and not
at once. `thread.<language>.toml` has the questions.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from coaching.practice.coach import texts
from coaching.practice.coach.acts import does
from coaching.practice.coach.after_danger import is_at_rest
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.framed import Weight, weight_in_frame
from coaching.practice.coach.grieving import has_grieved
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.plans import CREATE
from coaching.practice.coach.reading import wants_no_questions
from coaching.practice.coach.scenes import scene_before, scene_in
from coaching.practice.coach.texts import LANGUAGES, Language, read_table
from coaching.practice.coach.wordings import unsaid

QUESTIONS = ("mind", "wish", "hands", "piece")
"""The thread's questions, in their order."""
_AFTER_ANSWER = QUESTIONS[2:]
"""Those that follow only an answer: what is told after something else may be about something else."""
BESIDE = "sentence"
_GENERAL, _OTHERWISE, _ADVISED = 0, 1, 2
"""Which of the wordings asks for a `piece`: in general, where nothing is in their hands, after advice."""
_ENOUGH_WORDS = 16
"""So many words tell what is on somebody's mind."""
_BRIEF_WORDS, _STAYS_DARK = 8, 3
"""So few words are still weighed after what weighed something, and so many messages later."""
_DANGER = ("help_maybe", "help_first", "help_stay", "help_still", "help_concern", "help_hint")
"""What the tour has said where something sounded like danger."""


@cache
def thread(language: Language) -> Mapping[str, Any]:
    """Return a language's questions, and what is said around them."""
    table = read_table(f"thread.{language}")
    return {**table, "heard": {name: _pattern(text) for name, text in table["heard"].items()}}


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def patterns() -> Sequence[re.Pattern[str]]:
    """Return all patterns of all languages."""
    return [each for code in LANGUAGES for each in thread(code)["heard"].values()]


def open_question(conversation: Conversation) -> str:
    """Return the name of the question that the tour asked in its last answer, or nothing."""
    return question_in(conversation.exchanges[-1].question)


def question_in(said: str) -> str:
    """Return the name of the question that an answer of the tour asks, or nothing."""
    return next((name for name, each in _all_questions() if each in said), "")


@cache
def _all_questions() -> Sequence[tuple[str, str]]:
    """Return all wordings of the questions in all languages, each with the question's name."""
    return [(name, each) for code in LANGUAGES for name in (*QUESTIONS, BESIDE)
            for each in thread(code)[name]["asks"]]  # fmt: skip


def weights_in(conversation: Conversation) -> Sequence[Weight]:
    """Return what each exchange's words weigh in the frame of the thread's question that they answer.

    After an answer that weighs something, a few short messages may go on from it: they are weighed, too.
    """
    weights: list[Weight] = []
    for exchange in conversation.exchanges:
        is_brief = len(exchange.answer.split()) <= _BRIEF_WORDS
        is_answer = question_in(exchange.question) or (is_brief and any(weights[-_STAYS_DARK:]))
        is_told = not exchange.value and not texts.stands_in("help_maybe", exchange.question)
        weight = weight_in_frame(exchange.answer) if is_answer and is_told else ""
        is_none = weight == "dark" and thread(texts.language())["heard"]["none"].search(exchange.answer)
        weights.append("" if is_none else weight)
    return weights


def was_asked(conversation: Conversation, name: str) -> bool:
    """Return whether a question was asked in this conversation."""
    asked = [each for code in LANGUAGES for each in thread(code)[name]["asks"]]
    return any(each in conversation.spoken for each in asked)


def go_on(conversation: Conversation, told: str, *, is_answered: bool = False) -> str:
    """Return an answer to what was told with the next question, or a word that there are no more."""
    if question := next_question(conversation, is_answered=is_answered):
        return join(told, question)
    is_over = was_asked(conversation, "piece") and not asks_nothing(conversation)
    return join(told, unsaid(conversation, thread(texts.language())["ends"]) if is_over else "")


def lead(conversation: Conversation) -> str:
    """Return a plain acknowledgement that a question may follow; nothing if none does, or all were said."""
    leads = thread(texts.language())["leads"]
    return unsaid(conversation, leads) if next_question(conversation) else ""


def go_on_from_advice(conversation: Conversation, advice: str, *, is_of_words: bool = False) -> str:
    """Return advice with the question what to try of it, or which sentence it comes to."""
    name = BESIDE if is_of_words else "piece"
    is_over = asks_nothing(conversation) or was_asked(conversation, name) or _has_told_grave(conversation)
    if not advice or is_over:
        return advice
    return join(advice, thread(texts.language())[name]["asks"][0 if is_of_words else _ADVISED])


def question_of_piece(conversation: Conversation) -> str:
    """Return the question for the smallest piece of what is wanted; nothing if it was asked."""
    is_over = asks_nothing(conversation) or was_asked(conversation, "piece") or _has_told_grave(conversation)
    return "" if is_over else thread(texts.language())["piece"]["asks"][_GENERAL]


def next_question(
    conversation: Conversation, *, is_answered: bool = False, is_otherwise: bool = False
) -> str:
    """Return the question that comes next; nothing after the last one, or where nothing is asked.

    `is_answered`: the last one was answered; `is_otherwise`: nothing is in the person's hands.
    """
    if asks_nothing(conversation):
        return ""
    asked = [place for place, name in enumerate(QUESTIONS) if was_asked(conversation, name)]
    told = [each for each in conversation.exchanges if not each.value]
    is_grave = _has_told_grave(conversation)
    words = [each.answer.split() for each in told if "?" not in each.answer]
    is_told = sum(map(len, words)) >= _ENOUGH_WORDS and not is_grave
    begins = max(asked) + 1 if asked else int(is_told)
    left = QUESTIONS[begins : 1 if is_grave else None]
    if not left or (left[0] in _AFTER_ANSWER and not is_answered):
        return ""
    wordings: Sequence[str] = thread(texts.language())[left[0]]["asks"]
    return wordings[_OTHERWISE if is_otherwise and left[0] == "piece" else _GENERAL]


def _has_told_grave(conversation: Conversation) -> bool:
    """Return whether something grave was told in this conversation; what would be different isn't so."""
    told = [each for each in conversation.exchanges if not each.value]
    return any(_is_grave(each.answer) for each in told if question_in(each.question) != "wish")


def _is_grave(words: str) -> bool:
    scene = scene_in(words)
    return (scene is not None and scene.is_grave) or is_about("grave", words)


def asks_nothing(conversation: Conversation) -> bool:
    """Return whether the tour asks nothing now, whatever is told."""
    newest = conversation.exchanges[-1]
    said = [each.answer for each in conversation.exchanges if not each.value]
    is_wished = open_question(conversation) == "wish"  # what would be different isn't so
    new = None if is_wished else scene_in(newest.answer)
    scenes = [scene for scene in (new, scene_before(conversation)) if scene]
    is_new = not is_wished and _is_grave(newest.answer)
    return (
        conversation.arc is not None
        or is_new
        or is_about("harms", newest.answer)
        or any(weights_in(conversation))
        or any(is_about("own_drink", words) for words in said)
        or any(scene.is_glad or scene.is_quiet for scene in scenes)
        or wants_no_questions(conversation)
        or any(does("justtalk", words) for words in said)
        or has_grieved(conversation, ever=True)
        or is_at_rest(conversation)
        or any(call.name == CREATE for call in conversation.calls)
        or any(texts.stands_in(name, conversation.spoken) for name in _DANGER)
    )


def join(*parts: str) -> str:
    """Return sentences one after another."""
    return " ".join(filter(None, parts))
