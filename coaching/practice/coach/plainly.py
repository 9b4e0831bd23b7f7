"""Which wordings answer words that plainly do one thing, whatever is sensed in them."""

import re

from coaching.practice.coach import texts
from coaching.practice.coach.acts import asked_after_privacy, begins_in, plain_act
from coaching.practice.coach.advising import has_advised
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.grieving import has_grieved, is_of_loss
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.plans import CREATE
from coaching.practice.coach.reading import is_asking
from coaching.practice.coach.scenes import names_situation, tells_of_death

_AS_TOPIC = {
    "whatif": "undecided",
    "usage": "self",
    "notnow": "refuse",
    "unanswered": "complain",
    "explain": "again",
    "another_idea": "advice",
    "answered": "tell",
}
"""The wordings of acts by patterns that aren't named like them."""
_SOFT = frozenset({"subject", "sorry", "taken", "goahead", "letgo", "look", "notsilly", "praise", "idea"})
"""Acts by patterns that count less than a situation that the same words name."""
_FIRST = 2
"""So many messages may still be about how to begin."""
_STATES = re.compile(r"\W*(?:i|we|ich|wir|yo|tengo|tenemos|he)\b", re.IGNORECASE)


def _act_first(conversation: Conversation) -> str:
    """Return what counts before any act by patterns, or nothing."""
    words = conversation.exchanges[-1].answer
    if is_about("no_questions", words):
        return "quiet"
    mourns = has_grieved(conversation) or tells_of_death(words)
    return "howtell" if is_about("how_to_tell", words) and not mourns else ""


def _act_last(conversation: Conversation) -> str:
    """Return what counts where no act by patterns was found, or nothing."""
    words = conversation.exchanges[-1].answer
    if is_about("not_about", words):
        return "refuse"
    if is_about("turns_to", words):
        return "subject"
    mourns = has_grieved(conversation) or is_of_loss(words)
    return "begin" if begins_in(words) and not (names_situation(words) or mourns) else ""


def is_under_way(conversation: Conversation) -> bool:
    """Return whether nobody needs a beginning any more."""
    return len(conversation.exchanges) > _FIRST


def act_of(conversation: Conversation) -> str:
    """Return the name of the wordings for words that plainly do one thing; nothing for any others."""
    words = conversation.exchanges[-1].answer
    if is_about("takes_leave", words) and not is_asking(words):
        return ""
    act = _act_first(conversation) or plain_act(words) or asked_after_privacy(conversation)
    act = act or _act_last(conversation)
    match act:
        case "begin" if conversation.arc or has_grieved(conversation) or is_under_way(conversation):
            return ""
        case each if each in _SOFT and names_situation(words):
            return ""
        case "takes_idea" if not has_advised(conversation):
            return "taken"
        case "write" if _STATES.match(words) and not is_asking(words):
            return ""
        case "another_joke":
            return "joke" if any(each in conversation.spoken for each in texts.answers("joke")) else ""
        case "move":
            return "list" if any(call.name == CREATE for call in conversation.calls) else ""
        case _:
            return _AS_TOPIC.get(act, act)
