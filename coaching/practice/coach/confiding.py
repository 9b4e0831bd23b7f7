"""Whether somebody confides something hard, or did a moment ago."""

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.scenes import names_feeling
from coaching.practice.coach.sense import sense
from coaching.safety.intensity import SaidWords, measure_intensity

LASTS = 3
"""So many messages later something confided still counts."""


def has_confided(conversation: Conversation, *, ever: bool = False) -> bool:
    """Return whether something hard was told a moment ago."""
    before = conversation.exchanges[:-1] if ever else conversation.exchanges[-1 - LASTS : -1]
    return any(is_plainly_confided(each.answer) for each in before if not each.value)


def is_confided(words: str) -> bool:
    """Return whether words tell something hard."""
    sensed = sense(words)
    return (sensed.act == "confide" and sensed.is_sure) or measure_intensity([SaidWords(text=words)]).is_high


def is_plainly_confided(words: str) -> bool:
    """Return whether words tell something hard and, in English, name what is hard about it."""
    is_named = texts.language() != texts.ENGLISH or sense(words).topic or names_feeling(words)
    return is_confided(words) and (bool(is_named) or measure_intensity([SaidWords(text=words)]).is_high)
