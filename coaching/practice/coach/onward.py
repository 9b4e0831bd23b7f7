"""What the tour adds in an open conversation: a common tip, and what else there is."""

import re
from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.confiding import has_confided
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.grieving import has_grieved
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.sense import features_of
from coaching.practice.coach.wordings import unsaid
from coaching.safety.intensity import SaidWords, measure_intensity

_OFFER = re.compile(r'<offer arc="([a-z_]{1,40})">')
_PAINTS = re.compile(r"\bpaint\w*", re.IGNORECASE)
"""Words that begin like “pain” and speak of colours."""
_TIPS = ("sleep", "talk", "start")
_GRAVE = frozenset(
    {"<body>", "<clinic>", "<pills>", "<died>", "<pregnloss>", "<betray>", "<humiliate>", "<fear>"}
)
"""What a question speaks of that no common tip answers."""
_HINTED = frozenset({"thanks", "smalltalk"})
_HINT_EVERY = 5


def tip_for(conversation: Conversation, words: str) -> str:
    """Return a common tip, if the words ask for one that the tour has, and speak of nothing grave."""
    if has_confided(conversation) or is_of_harm(words):
        return ""
    name = next((each for each in _TIPS if is_about(f"tip_{each}", words)), "")
    return unsaid(conversation, texts.answers(f"tip_{name}")) if name else ""


def is_of_harm(words: str) -> bool:
    """Return whether words speak of something that neither a common tip nor a reassurance fits."""
    is_named = bool(_GRAVE & features_of(_PAINTS.sub(" ", words))) or is_about("no_tip", words)
    return is_named or measure_intensity([SaidWords(text=words)]).is_high


def offer_due(conversation: Conversation) -> str:
    """Return the offer of an arc that is due, or nothing."""
    found = _OFFER.match(conversation.section("offer"))
    return texts.offers().get(found[1], "") if found else ""


def hint(conversation: Conversation, act: str) -> Sequence[str]:
    """Return now and then what else there is to see, each hint once, and never to somebody in trouble."""
    recent = _recent(conversation, _HINT_EVERY)
    is_due = act in _HINTED and conversation.arc is None and len(conversation.exchanges) >= _HINT_EVERY
    is_grave = has_confided(conversation, ever=True) or has_grieved(conversation, ever=True)
    if not is_due or is_grave or texts.stands_in("menu", recent):
        return []
    if texts.stands_in("hints", recent, "reactions"):
        return []
    found = unsaid(conversation, texts.reactions("hints"))
    return [found] if found else []


def _recent(conversation: Conversation, count: int) -> str:
    return "\n".join(exchange.question for exchange in conversation.exchanges[-count:])
