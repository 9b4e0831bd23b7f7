"""Whether somebody tells of a loss, or told of one a moment ago: then nothing else is offered."""

from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.hearing import hear, is_about
from coaching.practice.coach.reading import Reading, wants_something
from coaching.practice.coach.scenes import names_somebody, tells_of_death, tells_of_no_death, tells_of_no_loss
from coaching.practice.coach.sense import sense
from coaching.safety.grief import is_grief

_LASTS = 6
"""So many messages later a loss still counts: longer than other situations."""


def mourns(words: str) -> bool:
    """Return whether words tell of a death, rather than of somebody who is far away."""
    if is_about("denies_death", words):
        return False
    is_far_away = is_about("homesick", words) or tells_of_no_death(words)
    return hear(words).kind == "grief" and (tells_of_death(words) or not is_far_away)


def is_grieving(conversation: Conversation) -> bool:
    """Return whether the newest words tell of a death and ask for nothing."""
    newest = conversation.newest
    if newest is None or newest.value or newest.ratings or is_about("asks_of_grief", newest.answer):
        return False
    return not wants_something(newest.answer) and mourns(newest.answer)


def has_grieved(conversation: Conversation, *, ever: bool = False) -> bool:
    """Return whether a loss was told a moment ago, and wasn't denied since."""
    if not ever and _denies_loss(conversation.exchanges[-1].answer):
        return False
    exchanges = conversation.exchanges[:-1] if ever else conversation.exchanges[-1 - _LASTS : -1]
    denied = [at for at, each in enumerate(exchanges) if _denies_loss(each.answer)]
    exchanges = exchanges if ever or not denied else exchanges[denied[-1] + 1 :]
    before = [each.answer for each in exchanges if not each.value]
    told = [words for words in before if not wants_something(words)]
    return any(is_of_loss(words) for words in told)


def _denies_loss(words: str) -> bool:
    """Return whether words say that nobody has died, or that the person isn't in mourning."""
    is_told = tells_of_death(words) and not is_about("denies_death", words)
    return not is_told and any(is_about(name, words) for name in ("denies_loss", "denies_death"))


def is_of_loss(words: str) -> bool:
    """Return whether words tell of a loss."""
    if is_about("denies_death", words):
        return False
    if tells_of_death(words):
        return True
    if is_about("homesick", words) or tells_of_no_death(words):
        return False
    is_sensed = sense(words).topic == "loss" and names_somebody(words) and not tells_of_no_loss(words)
    return is_grief(words) or is_sensed


def is_of_grief(reading: Reading, words: str) -> bool:
    """Return whether words tell of a loss themselves."""
    return reading.topic == "loss" or (is_grief(words) and not tells_of_no_death(words))
