"""What the tour says to words about its own answers: a question passed over, words taken wrongly; and more.

A question about the world is answered with what it asks about, and an intention with how it becomes a step.
"""

import re

from coaching.practice.coach import texts
from coaching.practice.coach.acts import plain_act
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.days import days_in, today_in
from coaching.practice.coach.file_names import clip
from coaching.practice.coach.hearing import is_about, search
from coaching.practice.coach.onward import is_of_harm
from coaching.practice.coach.reading import is_asking
from coaching.practice.coach.scenes import scene_in
from coaching.practice.coach.wordings import choose, filled, unsaid

_MAX_QUOTED = 140
_INTENDS = re.compile(
    r"\bi(?:'d| would)? (?:really |also |still |just )?"
    r"(?:(?:want|need|like|have|plan|hope|mean|ought) to|might|may|could) "
    r"(?!be\b|plan\b|organi|know\b|see\b|always\b|have\b|not\b|say\b|tell\b|go on\b|stop\b|die\b|leave\b|kill"
    r"|sleep\b|understand\b|disappear|hurt\b|hit\b(?! the\b)"
    r"|drink\b(?! (?:more |less |some |enough )?(?:water|tea|coffee|milk)\b))"
    r"([\w' -]{3,50}?)(?=\s*(?:[.,;!?]|\Z|\b(?:but|and|because|so|when|if|before|after|by|on|at|tomorrow"
    r"|tonight|today|this|next)\b))",
    re.IGNORECASE,
)
"""What somebody means to do, in English."""
_WANTS_IDEA = re.compile(
    r"\b(?:asked|wanted|want|need|give me|asking)\b.{0,12}\b"
    r"(?:ideas?|advice|tips?|suggestions?|solutions?)\b",
    re.IGNORECASE,
)
_ASKS_IDEA = "any ideas?"
_PLANNING = 3
"""So many messages after a plan was asked for, an intention is part of it without a day of its own."""


def question_passed_over(conversation: Conversation) -> str:
    """Return the question that the newest words say wasn't answered; nothing if they don't, or none was."""
    act = plain_act(conversation.exchanges[-1].answer)
    if act == "another_idea" and conversation.exchanges[-1].answer != _ASKS_IDEA:
        return _ASKS_IDEA
    if act != "unanswered":
        return ""
    if _WANTS_IDEA.search(conversation.exchanges[-1].answer):
        return _ASKS_IDEA
    earlier = [each.answer for each in conversation.exchanges[:-1] if not each.value]
    asked = (words for words in reversed(earlier) if is_asking(words) and plain_act(words) != "unanswered")
    return next(asked, "")


def lead_to(conversation: Conversation, question: str) -> str:
    """Say which question was passed over; nothing where they only want an idea."""
    if question == _ASKS_IDEA:
        return ""
    return filled(conversation, "passed_over", clip(" ".join(question.split()), _MAX_QUOTED))


def say_of_answer(conversation: Conversation) -> str:
    """Return what to say to who was misheard, asks about the world, or means to do something; or nothing."""
    words = conversation.exchanges[-1].answer
    if plain_act(words) == "misheard":
        return _say_misheard(conversation)
    if is_of_harm(words):
        return ""
    known = scene_in(words)
    if known and not known.is_background and search("knows_about", words):
        return unsaid(conversation, known.asks)
    if (found := search("knows_about", words)) and not is_about("of_self", found[1]):
        return filled(conversation, "knows_about", found[1].strip(" .!?"))
    return _say_as_step(conversation)


def _say_misheard(conversation: Conversation) -> str:
    """Take back what was said; in English, where that sounds natural, with their last statement."""
    if texts.language() != texts.ENGLISH:
        return choose(conversation, "misheard")
    said = [each.answer for each in conversation.exchanges[:-1] if not each.value]
    told = [words for words in said if len(words.split()) > 1 and not (is_asking(words) or plain_act(words))]
    if not told:
        return texts.answers("misheard")[-1]
    return filled(conversation, "misheard", clip(" ".join(told[-1].split()), _MAX_QUOTED).rstrip(". "))


def _say_as_step(conversation: Conversation) -> str:
    """Say how what somebody means to do goes on the list, if they named a day or asked for a plan."""
    words = conversation.exchanges[-1].answer
    found = _INTENDS.search(words) if texts.language() == texts.ENGLISH and not is_asking(words) else None
    recent = "\n".join(each.question for each in conversation.exchanges[-_PLANNING:])
    is_planned = any(each.partition(":")[0] in recent for each in texts.answers("plan"))
    if found is None or not (is_planned or any(days_in(words, today_in(conversation)))):
        return ""
    return filled(conversation, "as_step", found[1].strip())
