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


def likeliest_in(sentences: Sequence[str], asked: Collection[str]) -> str:
    """Return the topic of the question about the tour in some sentences, of which some ask; or nothing."""
    found = [each for each in sentences if each in asked or _TAGGED.search(each) or asks_surely(each)]
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
    return sensed.act == _ASKS and (sensed.share >= _SURE or is_likely)


def _is_named_in(words: str) -> bool:
    return any(is_about(name, words) for name in ("of_tour", "of_machine"))


def _names_tour(question: str) -> bool:
    """Return whether a question names the tour, or is sensed as one about it."""
    return _is_named_in(question) or sense(question).act == _ASKS
