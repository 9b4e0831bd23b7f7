"""What the tour says to who asks about harm done, or means to do some: no advice, and where people are."""

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.days import days_in, today_in
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.reading import is_asking, plans
from coaching.practice.coach.thread import weights_in
from coaching.practice.coach.wordings import choose, unsaid

_FEW_WORDS = 6
_LATELY = 3
"""So many messages may tell what somebody asks about in a few words."""


def asks_of_harm(conversation: Conversation) -> bool:
    """Return whether the newest words ask about violence, self-harm or dying, or intend harm or a drink."""
    newest = conversation.newest
    if newest is None or newest.value:
        return False
    if is_about("means_harm", newest.answer) or weights_in(conversation)[-1] == "harm":
        return True
    if _plans_drink(conversation):
        return True
    if not ("?" in newest.answer or is_asking(newest.answer)):
        return False
    is_brief = len(newest.answer.split()) <= _FEW_WORDS
    told = conversation.exchanges[-_LATELY if is_brief else -1 :]
    return any(is_about("harms", each.answer) for each in told if not each.value)


def _plans_drink(conversation: Conversation) -> bool:
    """Return whether the newest words plan or name a drink, after somebody told of their own drinking."""
    words = conversation.exchanges[-1].answer
    told = [each.answer for each in conversation.exchanges[:-1] if not each.value]
    is_dated = any(days_in(words, today_in(conversation)))
    is_plan = is_dated or plans(words) or is_about("promise", words) or len(words.split()) <= _FEW_WORDS
    is_drink = is_plan and is_about("drinks", words) and not is_about("own_drink", words)
    return is_drink and any(is_about("own_drink", each) for each in told)


def say_of_harm(conversation: Conversation) -> str:
    """Say that a person should hear it: neither an answer nor advice fits."""
    return unsaid(conversation, texts.reactions("heavy")[::-1]) or choose(conversation, "felt", "after")
