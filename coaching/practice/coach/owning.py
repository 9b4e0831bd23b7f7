"""A complaint about the last answer that comes before something else: it is owned, and the rest answered."""

from dataclasses import replace

from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.days import days_in
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.requested import SENTENCE
from coaching.practice.coach.wordings import choose

_FEW_WORDS, _MIN_WORDS = 3, 3


def own_complaint(conversation: Conversation) -> str:
    """Return a word that owns the complaint before what the newest words say, which are then only that."""
    newest = conversation.exchanges[-1]
    said = [each.strip() for each in SENTENCE.findall(newest.answer) if each.strip()]
    if newest.value or not newest.question or not said or not is_about("complains_of_answer", said[0]):
        return ""
    left = said[1:]
    while left and (is_about("complains_of_answer", left[0]) or _only_turns(left[0])):
        left.pop(0)
    rest = " ".join(left)
    if len(rest.split()) < _MIN_WORDS:
        return ""
    conversation.exchanges[-1] = replace(newest, answer=rest)
    return choose(conversation, "owned")


def _only_turns(sentence: str) -> bool:
    """Return whether a few words only turn from a complaint to something else: "But all right."."""
    is_more = sentence.endswith("?") or any(days_in(sentence, None))
    return len(sentence.split()) <= _FEW_WORDS and not is_more
