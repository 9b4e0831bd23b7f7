"""Whether somebody tells of a loss, or told of one a moment ago: then nothing else is offered."""

from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.hearing import hear, is_about
from coaching.practice.coach.reading import Reading, wants_something
from coaching.practice.coach.scenes import names_somebody, tells_of_death, tells_of_leaving, tells_of_no_loss
from coaching.practice.coach.sense import sense
from coaching.safety.grief import is_grief

_LASTS = 6
"""So many messages later a loss still counts: longer than other situations."""


def mourns(words: str) -> bool:
    """Return whether words tell of a death, rather than of somebody who is far away."""
    is_far_away = is_about("homesick", words) or tells_of_leaving(words)
    return hear(words).kind == "grief" and (tells_of_death(words) or not is_far_away)


def is_grieving(conversation: Conversation) -> bool:
    """Return whether the newest words tell of a death and ask for nothing."""
    newest = conversation.newest
    is_said = newest and not (newest.value or newest.ratings or wants_something(newest.answer))
    return bool(newest and is_said and mourns(newest.answer))


def has_grieved(conversation: Conversation, *, ever: bool = False) -> bool:
    """Return whether a loss was told a moment ago."""
    exchanges = conversation.exchanges[:-1] if ever else conversation.exchanges[-1 - _LASTS : -1]
    before = [each.answer for each in exchanges if not each.value]
    told = [words for words in before if not wants_something(words)]
    return any(is_of_loss(words) for words in told)


def is_of_loss(words: str) -> bool:
    """Return whether words tell of a loss."""
    if tells_of_death(words):
        return True
    if is_about("homesick", words) or tells_of_leaving(words):
        return False
    is_sensed = sense(words).topic == "loss" and names_somebody(words) and not tells_of_no_loss(words)
    return is_grief(words) or is_sensed


def is_of_grief(reading: Reading, words: str) -> bool:
    """Return whether words tell of a loss themselves."""
    return reading.topic == "loss" or (is_grief(words) and not tells_of_leaving(words))
