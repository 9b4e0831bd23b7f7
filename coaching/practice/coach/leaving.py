"""Whether words say goodbye."""

from collections.abc import Sequence

from coaching.practice.coach.greeting import FIRST_WORDS
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.sense import sense

TAIL_WORDS = 6
_SURE_OF_PART, _SURE_OF_TAIL, _SURE_OF_PLAN = 0.7, 0.8, 0.9
_SURE_OF_LONG_PART = 0.85


def takes_leave(words: str) -> bool:
    """Return whether words plainly say goodbye."""
    return is_about("takes_leave", words)


def says_more(words: str) -> bool:
    """Return whether words say what somebody is going to do, or more than a goodbye does."""
    least = _SURE_OF_PLAN if is_about("intends", words) else _SURE_OF_TAIL
    return len(words.split()) > FIRST_WORDS and sense(words).share < least


def says_goodbye(words: str, parts: Sequence[str]) -> bool:
    """Return whether one of the last two sentences says goodbye, or the last words where no sentence ends."""
    if parts:
        return any(_is_bye(part, _least(part)) for part in parts[-2:])
    said = words.split()
    return len(said) > TAIL_WORDS and _is_bye(" ".join(said[-TAIL_WORDS:]), _SURE_OF_TAIL)


def _least(part: str) -> float:
    is_plain = len(part.split()) <= FIRST_WORDS or takes_leave(part)
    return _SURE_OF_PART if is_plain else _SURE_OF_LONG_PART


def _is_bye(words: str, share: float) -> bool:
    sensed = sense(words)
    return sensed.act == "bye" and sensed.share >= share
