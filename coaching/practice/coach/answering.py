"""What the tour says to words about its own answers: a question passed over, words taken wrongly.

A question about the world is answered with what it asks about.
"""

import re

from coaching.practice.coach import texts
from coaching.practice.coach.acts import plain_act
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.file_names import clip
from coaching.practice.coach.hearing import is_about, search
from coaching.practice.coach.onward import is_of_harm
from coaching.practice.coach.reading import is_asking
from coaching.practice.coach.scenes import scene_in
from coaching.practice.coach.wordings import choose, filled, unsaid

_MAX_QUOTED = 140
_WANTS_IDEA = re.compile(
    r"\b(?:asked|wanted|want|need|give me|asking)\b.{0,12}\b"
    r"(?:ideas?|advice|tips?|suggestions?|solutions?)\b",
    re.IGNORECASE,
)
_ASKS_IDEA = "any ideas?"


def question_passed_over(conversation: Conversation) -> str:
    """Return the question that the newest words say wasn't answered; nothing if they don't, or none was."""
    words = conversation.exchanges[-1].answer
    act = plain_act(words)
    if act == "another_idea" and words != _ASKS_IDEA and not is_about("tip_talk", words):
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
    """Return what to say to who was misheard or asks about the world; or nothing."""
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
    return ""


def _say_misheard(conversation: Conversation) -> str:
    """Take back what was said; in English, where that sounds natural, with their last statement."""
    if texts.language() != texts.ENGLISH:
        return choose(conversation, "misheard")
    said = [each.answer for each in conversation.exchanges[:-1] if not each.value]
    told = [words for words in said if len(words.split()) > 1 and not (is_asking(words) or plain_act(words))]
    if not told:
        return texts.answers("misheard")[-1]
    return filled(conversation, "misheard", clip(" ".join(told[-1].split()), _MAX_QUOTED).rstrip(". "))
