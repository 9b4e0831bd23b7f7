"""Whether words ask, want or plan something, and whether the tour has just asked."""

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.sense import sense

SURE_OF_TELLING = 0.55
WANTS = frozenset({"ask_self", "ask_advice", "ask_world", "want_text", "ask_back"})
"""Acts that want something, and so are said like a question, unless they are very sure."""
THOUGHTS = frozenset({"wonder", "undecided"})
"""Topics that are asked of nobody."""


def is_asking(words: str) -> bool:
    """Return whether words are said like a question or a request, with or without its mark."""
    return any(is_about(name, words) for name in ("question", "asks", "asks_plainly"))


@texts.once_per_text
def wants_something(words: str) -> bool:
    """Return whether words surely ask for something, whatever else they tell."""
    sensed = sense(words)
    is_wanted = sensed.act in WANTS and sensed.topic not in THOUGHTS
    return is_wanted and sensed.share >= SURE_OF_TELLING and is_asking(words)


def plans(words: str) -> bool:
    """Return whether words say that somebody may do something."""
    return is_about("maybe", words) or (is_about("intends", words) and is_about("does", words))


def has_just_asked(conversation: Conversation) -> bool:
    """Return whether the newest words come after a question, other than what to show."""
    last = conversation.exchanges[-1].question
    return last.rstrip().endswith("?") and not any(texts.stands_in(name, last) for name in ("menu", "more"))


def wants_no_questions(conversation: Conversation) -> bool:
    """Return whether they asked in this conversation not to be asked."""
    said = [each.answer for each in conversation.exchanges if not each.value]
    return any(sense(words).topic == "quiet" or is_about("no_questions", words) for words in said)
