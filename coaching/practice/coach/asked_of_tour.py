"""Which question about the tour words most likely ask, where nothing sure is sensed in them."""

import re
from collections.abc import Collection, Sequence

from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.sense import likeliest_question, sense

_TAGGED = re.compile(
    r"\b(?:are|aren'?t|do|don'?t|can|can'?t|is|isn'?t|will|won'?t) (?:you|u|it|this|there)\W*\Z"
    r"|\s(?:oder|gell|verdad|cierto|no)\W*\Z",
    re.IGNORECASE,
)
"""How a statement ends that asks to be confirmed."""
_OF_OWN = ("what_to_do", "how_to_tell")
"""What is asked of one's own life."""
_ASKS = "ask_self"
OF_WORDS = frozenset({"remove", "stored", "private", "relative", "employer", "take"})
"""Topics of questions what becomes of what was written here, whatever that was about."""
_SURE, _LIKELY, _FEW_WORDS = 0.9, 0.6, 14
"""So sure is a question that isn't said like one; and a shorter one that names the tour."""
_STATED_WORDS = 9
"""What is told in more words asks nothing, however much they weigh."""
_SENSED = 0.3
"""Below it, what is said like a question only exclaims: “How refreshingly frank.”"""


def likeliest_in(sentences: Sequence[str], asked: Collection[str]) -> str:
    """Return the topic of the question about the tour in some sentences, of which some ask; or nothing."""
    of_tour = [each for each in sentences if each in asked and _names_tour(each)]
    said = [each for each in sentences if each in of_tour or each.rstrip().endswith("?")]
    found = [each for each in sentences if each in said or _TAGGED.search(each) or asks_surely(each)]
    return next(filter(None, map(_question_in, found)), "")


def _question_in(words: str) -> str:
    """Return the topic of the question about the tour that words of asking most likely ask, or nothing."""
    sensed = sense(words)
    if sensed.act == _ASKS and sensed.topic in OF_WORDS:
        return sensed.topic
    is_of_own = any(is_about(name, words) for name in _OF_OWN)
    return likeliest_question(words) if _names_tour(words) and not is_of_own else ""


def asks_surely(words: str) -> bool:
    """Return whether words surely ask about the tour, however they are said."""
    sensed = sense(words)
    is_likely = sensed.share >= _LIKELY and len(words.split()) <= _FEW_WORDS and _is_named_in(words)
    is_sure = sensed.share >= _SURE and len(words.split()) <= _STATED_WORDS
    return sensed.act == _ASKS and (is_sure or is_likely)


def _is_named_in(words: str) -> bool:
    return any(is_about(name, words) for name in ("of_tour", "of_machine"))


def _names_tour(question: str) -> bool:
    """Return whether a question names the tour, or is sensed as one about it."""
    return _is_named_in(question) or _is_of_tour(question)


def _is_of_tour(words: str) -> bool:
    sensed = sense(words)
    return sensed.act == _ASKS and sensed.share >= _SENSED
