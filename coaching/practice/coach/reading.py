"""What the newest words of a conversation do, in the light of what was said just before.

A message may do several things: each of its sentences is sensed as well, so that a question about the tour
inside it is answered, and a goodbye at its end is met. Words whose act isn't clear are `open`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.hearing import hear, is_about
from coaching.practice.coach.sense import Sensed, sense
from coaching.safety.grief import is_grief
from coaching.safety.intensity import SaidWords, measure_intensity

_SENTENCE = re.compile(r"[^.!?…\n]++[.!?…]*+")
_SURE_OF_PART = 0.7
_SURE_OF_TELLING = 0.55
_SURE_OF_ASKING = 0.35
"""Of acts that want something: to take what was asked for a story is worse."""
_SURE_OF_REFUSING = 0.6
"""Of acts whose words are common in stories, too."""
_LASTS = 3
"""So many messages later something confided still counts."""
_FEW_WORDS = 3
_AS_WHOLE = {
    "thanks": "thanks", "yes": "short", "no": "short", "later": "short", "pause": "bye", "hello": "greet",
}  # fmt: skip
"""What whole messages do that a pattern knows."""
_TOLD = frozenset({"tell", "confide", "good", "goal", "smalltalk"})
_DOUBTED = frozenset({"refuse", "ask_back", "complain"})
_DOUBTED_AT_LENGTH = frozenset({"thanks", "short", "greet", "test"})
_LONG = 9
"""So many words seldom only react."""
_ONLY_SHORT = frozenset({"thanks", "short", "greet", "tease", "praise"})
_TOO_LONG = 20
"""So many words do more than that, whatever speaks for it."""
_SURE_OF_GOOD = 0.75
"""To be glad of what hurts is worse than any other mistake."""
_ASKS = frozenset({"ask_self"})
OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a message does. `questions` are those about the tour that it asks, whatever else it does.

    `is_thankful`: it ends with thanks, whatever else it does.
    """

    act: str
    topic: str = ""
    questions: Sequence[str] = ()
    is_leaving: bool = False
    is_thankful: bool = False


def read(conversation: Conversation) -> Reading:
    """Read the newest words."""
    words = conversation.exchanges[-1].answer
    whole = sense(words)
    parts = [sense(part.strip()) for part in _parts(words)]
    act = _act_of(conversation, words, whole)
    is_long = len(words.split()) > 2 * _FEW_WORDS
    if act == OPEN and whole.act == "confide" and is_long and has_confided(conversation):
        act = "confide"
    topic = whole.topic if act == whole.act else ""
    questions = _questions_in(whole, parts)
    is_leaving = act == "bye" or (bool(parts) and _says_goodbye(parts[-1])) or is_about("takes_leave", words)
    if is_leaving and act == "bye":
        topic = ""
    is_thankful = act not in {"confide", "bye"} and is_about("thanks_last", words)
    return Reading(act=act, topic=topic, questions=questions, is_leaving=is_leaving, is_thankful=is_thankful)


def _parts(words: str) -> Sequence[str]:
    found = [part for part in _SENTENCE.findall(words) if re.search(r"\w", part)]
    return found if len(found) > 1 else []


def _act_of(conversation: Conversation, words: str, whole: Sensed) -> str:
    if known := _AS_WHOLE.get(hear(words).kind):
        is_first = not conversation.spoken.strip()
        is_greeting = known == "bye" and (is_first or whole.act == "greet")
        is_refusal = known == "short" and whole.act == "refuse" and whole.is_sure
        return "greet" if is_greeting else "refuse" if is_refusal else known
    if whole.act in _ONLY_SHORT and len(words.split()) >= _TOO_LONG:
        return OPEN
    if whole.topic:
        return whole.act
    if whole.act in _TOLD:
        sure = _SURE_OF_GOOD if whole.act == "good" else _SURE_OF_TELLING
        return whole.act if whole.share >= sure else OPEN
    is_question = words.rstrip().endswith("?")
    is_long = len(words.split()) >= _LONG
    is_doubted = whole.act in _DOUBTED or (is_long and whole.act in _DOUBTED_AT_LENGTH)
    if is_doubted and whole.share < _SURE_OF_REFUSING and not is_question:
        return OPEN
    if whole.act == "short" and is_long:
        return OPEN
    if whole.act == "ask_self" and not is_question and whole.share < _SURE_OF_TELLING:
        return OPEN
    if whole.share >= _SURE_OF_ASKING:
        return whole.act
    if is_question:
        has_asked = conversation.exchanges[-1].question.rstrip().endswith("?")
        return OPEN if has_asked and hear(words.replace("?", "")).kind != "question" else "asked"
    return "short" if len(words.split()) <= _FEW_WORDS else OPEN


def _questions_in(whole: Sensed, parts: Sequence[Sensed]) -> Sequence[str]:
    """Return the questions about the tour that a message asks, one in each of its sentences."""
    known = texts.questions()
    clear = [each.topic for each in parts if each.act in _ASKS and each.share >= _SURE_OF_PART]
    found = [topic for topic in dict.fromkeys(clear) if topic in known]
    return found[:2] or [topic for topic in [whole.topic] if topic in known]


def _says_goodbye(last: Sensed) -> bool:
    return last.act == "bye" and last.share >= _SURE_OF_PART


def has_confided(conversation: Conversation, *, ever: bool = False) -> bool:
    """Return whether something hard was told a moment ago."""
    before = conversation.exchanges[:-1] if ever else conversation.exchanges[-1 - _LASTS : -1]
    return any(_is_confided(each.answer) for each in before if not each.value)


def _is_confided(words: str) -> bool:
    sensed = sense(words)
    return (sensed.act == "confide" and sensed.is_sure) or measure_intensity([SaidWords(text=words)]).is_high


def has_grieved(conversation: Conversation) -> bool:
    """Return whether a loss was told a moment ago."""
    before = [each.answer for each in conversation.exchanges[-1 - _LASTS : -1] if not each.value]
    return any(is_grief(words) or sense(words).topic == "loss" for words in before)


def is_of_grief(reading: Reading, words: str) -> bool:
    """Return whether words tell of a loss themselves."""
    return reading.topic == "loss" or is_grief(words)


def wants_no_questions(conversation: Conversation) -> bool:
    """Return whether they asked in this conversation not to be asked."""
    said = [each.answer for each in conversation.exchanges if not each.value]
    return any(sense(words).topic == "quiet" or is_about("no_questions", words) for words in said)
