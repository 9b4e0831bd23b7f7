"""Whether words only greet, or tell something besides."""

from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.scenes import scene_in

FIRST_WORDS = 4
"""So few words at the very beginning greet, if nothing else is sure."""
_FEW_WORDS = 2
"""So few words tell nothing yet, where they don't greet."""
_OPENING_WORDS = 7
"""So few words at the beginning are welcomed, whatever they tell."""


def tells_more(words: str, *, is_late: bool) -> bool:
    """Return whether words that seem to greet don't, or tell something besides."""
    count = len(words.split())
    is_greeting = is_about("greets", words)
    return count > _OPENING_WORDS if is_greeting else is_late or count > FIRST_WORDS


def only_opens(words: str) -> bool:
    """Return whether first words only greet, or say little more."""
    if scene_in(words):
        return False
    return len(words.split()) <= (_OPENING_WORDS if is_about("greets", words) else _FEW_WORDS)
