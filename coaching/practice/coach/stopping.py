"""When somebody who drinks much, or takes pills that bind, speaks of stopping: doctors first.

To stop such things suddenly can kill, so nothing is praised, asked or noted then. A warning too many is
better than one too few. Coffee, sugar, cigarettes or screens need none, unless something that binds is named
beside them.
"""

from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.wordings import choose

_LASTS = 8
"""So many messages later what somebody drinks or takes still counts."""


def warn_of_stopping(conversation: Conversation) -> str:
    """Return what to say first if the newest words speak of stopping what binds; nothing for others."""
    newest = conversation.newest
    if newest is None or newest.value or not _is_of_stopping(newest.answer, _told_lately(conversation)):
        return ""
    return choose(conversation, "stopping")


def _told_lately(conversation: Conversation) -> str:
    """Return what was said lately, a line for each message."""
    said = [each.answer for each in conversation.exchanges[-_LASTS:] if not each.value]
    return "\n".join(" ".join(words.split()) for words in said)


def _is_of_stopping(words: str, lately: str) -> bool:
    """Return whether words speak of stopping: of what they name, or of what was told lately."""
    if not is_about("stops", words):
        return False
    is_bound = any(_binds(each) for each in lately.split("\n"))
    is_sudden = is_about("stops_suddenly", words)
    if _drinks(words) or is_about("takes_pills", words):
        return is_bound or is_sudden
    return is_bound and (is_sudden or is_about("stops_it", words))


def _binds(words: str) -> bool:
    """Return whether words tell of much drink, or of pills that nobody should stop taking at once."""
    return is_about("takes_pills", words) or (_drinks(words) and is_about("drinks_much", words))


def _drinks(words: str) -> bool:
    """Return whether words tell of drink, other than of coffee and the like alone."""
    is_mild = is_about("mild", words) and not is_about("binds", words)
    return is_about("drinks", words) and not is_mild
