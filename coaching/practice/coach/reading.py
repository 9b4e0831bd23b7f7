"""What the newest words of a conversation do, in the light of what was said just before.

A message may do several things: each of its sentences is sensed as well, so that a question about the tour
inside it is answered, and a goodbye at its end is met. Words whose act isn't clear are `open`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from coaching.practice.coach import texts
from coaching.practice.coach.acts import is_of_plan
from coaching.practice.coach.colloquial import standard
from coaching.practice.coach.confiding import LASTS, has_confided, is_plainly_confided
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.greeting import FIRST_WORDS, only_opens, tells_more
from coaching.practice.coach.hearing import hear, is_about
from coaching.practice.coach.leaving import TAIL_WORDS, says_goodbye, says_more, takes_leave
from coaching.practice.coach.scenes import scene_in
from coaching.practice.coach.sense import CRIES, Sensed, features_of, sense

_CLAUSES = re.compile(r",\s|\s(?:and|und|y|or|oder)\s")
_SENTENCE = re.compile(r"[^.!?…\n]++[.!?…]*+")
_SURE_OF_PART = 0.7
_SURE_OF_TELLING = 0.55
_SURE_OF_ASKING = 0.35
"""Of acts that want something: to take what was asked for a story is worse."""
_SURE_OF_COMPLAINT = 0.5
_SURE_OF_REFUSING = 0.7
"""Of acts whose words are common in stories, too."""
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
_MOSTLY_SHORT = _ONLY_SHORT | {"complain"}
_TOO_LONG = 20
"""So many words do more than that, whatever speaks for it."""
_SURE_OF_FEELING = {"good": 0.75, "confide": 0.85, "goal": 0.75}
"""To be glad of what hurts is worse than any other mistake, and what is said in passing is no confession."""
_PLANNED = frozenset({"bye", "tell", "open", "refuse", "complain", "smalltalk", "short", "test"})
"""Acts of words that may be about what somebody is going to do."""
_THANKS = frozenset({"thanks", "praise"})
_PLANS = frozenset({"tell", "smalltalk", "good", "tease", "open", "refuse"})
_ASKS = frozenset({"ask_self"})
_ANSWERS_NOTHING = frozenset({"tell", "open", "short", "good", "goal", "smalltalk", "greet", "thanks"})
"""Acts that leave a question in one of the sentences unanswered."""
_WANTS = frozenset({"ask_self", "ask_advice", "ask_world", "want_text", "ask_back"})
"""Acts that want something, and so are said like a question, unless they are very sure."""
_ASKED = frozenset({"ask_advice", "ask_world"})
"""Those of them that are always said so."""
_SURE_OF_WANTING = 0.9
_ANSWERED_OF_OTHERS = frozenset({"asked", "ask_advice", "ask_world"})
"""Acts of questions about anything but the tour."""
_OF_TOUR = frozenset({"", "able", "feature", "begin"})
"""Topics of questions how to do something, which are about the tour only if they name it."""
_THOUGHTS = frozenset({"wonder", "undecided"})
"""Topics that are asked of nobody."""
_OF_BODIES = frozenset({"<clinic>", "<pills>"})
"""What words speak of whose questions only somebody can answer who knows about it."""
_WHY = re.compile(r"\W*(?:why|warum|wieso|weshalb|por qué)\b", re.IGNORECASE)
"""How a question begins that no advice answers."""
_SUM = re.compile(r"\d\s*[x×*+/÷-]\s*\d")
FRIENDLY = re.compile("[🎉🥳😊😀😁❤💪👍🙂😍🙌✨😘🤗💕🙏]")
_GLAD = re.compile("[🎉🥳😍🤩🎊]")
"""Signs of joy alone: other friendly words are also said with what hurts."""
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
    whole = sense(standard(words))
    parts = _parts(standard(words))
    sensed = [sense(part) for part in parts]
    main = _main_part(parts, sensed) if whole.act in _MOSTLY_SHORT else ""
    whole = sense(main) if main else whole
    act = _act_of(conversation, main or words, whole)
    topic = whole.topic if act == whole.act else ""
    if act == OPEN and whole.act == "confide" and len(words.split()) > 2 * _FEW_WORDS:
        act = "confide" if has_confided(conversation) else OPEN
    act, topic = _asked_or(act, topic, conversation, parts)
    is_late = len(conversation.exchanges) > 1 and hear(words).kind != "hello"
    if conversation.is_first and act in {"tell", "goal", OPEN} and only_opens(words):
        act, topic = "greet", ""
    elif act == "greet" and tells_more(words, is_late=is_late):
        act, topic = OPEN, ""
    if act in {"tell", OPEN} and _GLAD.search(words) and not CRIES.search(words):
        act, topic = "good", ""
    clauses = [sense(each) for each in _CLAUSES.split(words) if is_asking(each)] if act in _ASKS else []
    questions = _questions_in(words, topic, sensed if parts else clauses)
    if act == "complain" and whole.act == act and not is_about("of_tour_or_that", words):
        act, topic = OPEN, ""
    if act in _PLANNED and plans(words) and not takes_leave(words):
        act, topic = "goal", ""
    elif act == "bye" and (scene_in(words) or says_more(words)) and not takes_leave(words):
        act, topic = OPEN, ""
    elif act in _THANKS and len(words.split()) > _FEW_WORDS and not is_about("thanks_words", words):
        act, topic = (act, topic) if is_about("of_tour", words) else (OPEN, "")
    is_leaving = act == "bye" or takes_leave(words)
    is_leaving = is_leaving or (act != "goal" and says_goodbye(words, parts))
    if is_leaving and act == "bye":
        topic = ""
    is_thankful = act not in {"confide", "bye"} and is_about("thanks_last", words)
    return Reading(act=act, topic=topic, questions=questions, is_leaving=is_leaving, is_thankful=is_thankful)


def _asked_or(act: str, topic: str, conversation: Conversation, parts: Sequence[str]) -> tuple[str, str]:
    """Return the act and topic of a question among the sentences, where the whole seems to ask nothing."""
    words = conversation.exchanges[-1].answer
    if is_about("suggests", words):
        return "ask_advice", ""
    if act == "confide" and not (topic or is_plainly_confided(words) or CRIES.search(words)):
        act = OPEN
    if topic == "begin" and len(conversation.exchanges) > LASTS and is_asking(words):
        return "ask_advice", ""  # where to begin with what was told
    is_answer = has_just_asked(conversation) and len(words.split()) <= FIRST_WORDS
    is_open = act in _ANSWERS_NOTHING or (act == "confide" and parts and parts[-1].endswith("?"))
    if is_open and not is_answer and (asked := _asked_in(parts or [words])):
        act, topic = asked
    elif act == "complain" and words.rstrip().endswith("?") and not is_about("of_tour", words):
        act = "asked"
    elif act == OPEN and any(is_about(name, words) for name in ("asks_plainly", "question")):
        act = "ask_world" if _SUM.search(words) else "asked"
    elif act == OPEN and hear(words).kind == "remark":
        act = "complain"
    elif act in _PLANS and any(is_about(name, words) for name in ("promise", "maybe")):
        act = "goal"
    recent = [exchange.answer for exchange in conversation.exchanges[-LASTS:]]
    if act in {"asked", "ask_world"} and any(_OF_BODIES & features_of(each) for each in recent):
        return "ask_world", "medical"
    return _asked_of(words, act, topic)


def _asked_of(words: str, act: str, topic: str) -> tuple[str, str]:
    """Return what a question asks, where it isn't sure that it is about the tour."""
    is_of_own = act == "ask_self" and topic in _OF_TOUR and is_about("how_i", words)
    if is_of_own and texts.language() == texts.ENGLISH and not is_about("of_tour", words):
        return "ask_advice", ""
    if act == "ask_self" and not topic and not words.rstrip().endswith("?") and "?" in words:
        return OPEN, ""
    if act == "ask_advice" and not topic and _WHY.match(words):
        return "asked", ""
    if act in {"asked", "greet", OPEN} and is_about("how_are_you", words):
        return "ask_self", "feel"
    is_sure = sense(words).share >= _SURE_OF_WANTING and (topic or act != "ask_self")
    if act not in {"ask_self", *_ANSWERED_OF_OTHERS} or is_sure:
        return act, topic
    if is_about("advice", words) or (not topic and is_about("how_i", words)):
        return "ask_advice", ""
    if act == "ask_self" and not topic and is_about("of_seeing", words):
        return "ask_self", "relative"
    if act in _ANSWERED_OF_OTHERS and is_about("of_you", words):
        return "ask_self", "person"
    is_of_tour = is_about("of_tour", words)
    is_kept = act != "ask_self" or is_of_tour or (topic and len(words.split()) <= _LONG)
    return (act, topic) if is_kept else ("asked", "")


@texts.once_per_text
def wants_something(words: str) -> bool:
    """Return whether words surely ask for something, whatever else they tell."""
    sensed = sense(words)
    is_wanted = sensed.act in _WANTS and sensed.topic not in _THOUGHTS
    return is_wanted and sensed.share >= _SURE_OF_TELLING and is_asking(words)


def plans(words: str) -> bool:
    """Return whether words say that somebody may do something."""
    return is_about("maybe", words) or (is_about("intends", words) and is_about("does", words))


def is_asking(words: str) -> bool:
    """Return whether words are said like a question or a request, with or without its mark."""
    return any(is_about(name, words) for name in ("question", "asks", "asks_plainly"))


def _parts(words: str) -> Sequence[str]:
    found = [part.strip() for part in _SENTENCE.findall(words) if re.search(r"\w", part)]
    return found if len(found) > 1 else []


def _main_part(parts: Sequence[str], sensed: Sequence[Sensed]) -> str:
    """Return the longest sentence of a message that only seems to thank or greet, if it does more."""
    longest = max(parts, key=len, default="")
    is_more = len(longest.split()) > FIRST_WORDS + 1
    return longest if is_more and sensed[parts.index(longest)].act not in _MOSTLY_SHORT else ""


def _asked_in(parts: Sequence[str]) -> tuple[str, str] | None:
    """Return what the last question among sentences asks, with its topic; None without one."""
    asked = next((part for part in reversed(parts) if part.endswith("?")), "")
    if asked != parts[-1] and len(asked.split()) <= _FEW_WORDS:
        return None  # "And then? I don't know, travel perhaps."
    clauses = [sense(each) for each in (asked, asked.rpartition(",")[2].strip()) if each]
    sure = [each for each in clauses if each.act in _WANTS and each.share >= _SURE_OF_ASKING]
    if sure:
        return sure[0].act, sure[0].topic
    return ("asked", "") if clauses and clauses[-1].act != "greet" else None


def _act_of(conversation: Conversation, words: str, whole: Sensed) -> str:
    is_first = conversation.is_first
    count = len(words.split())
    if known := _AS_WHOLE.get(hear(words).kind):
        is_greeting = is_first or (known == "bye" and whole.act == "greet")
        is_refusal = known == "short" and whole.act == "refuse" and whole.is_sure
        return "greet" if is_greeting else "refuse" if is_refusal else known
    if _is_taken_for_another(words, whole):
        return OPEN
    if whole.topic:
        return whole.act
    is_unclear = not (whole.is_sure or is_asking(words)) or whole.act == "test"
    if is_first and is_unclear and only_opens(words):
        return "greet"
    if whole.act in _TOLD:
        return whole.act if whole.share >= _SURE_OF_FEELING.get(whole.act, _SURE_OF_TELLING) else OPEN
    if _is_doubtful(words, whole):
        return OPEN
    if whole.share >= _SURE_OF_ASKING:
        return whole.act
    if words.rstrip().endswith("?"):
        is_answer = has_just_asked(conversation) and hear(words.replace("?", "")).kind != "question"
        return OPEN if is_answer else "asked"
    return "short" if count <= _FEW_WORDS else OPEN


def _is_taken_for_another(words: str, whole: Sensed) -> bool:
    """Return whether words are too long for what they seem to do, or don't ask what they seem to ask."""
    count = len(words.split())
    if whole.act in _ONLY_SHORT and count >= _TOO_LONG:
        return True
    if whole.act == "bye":
        return count > 2 * TAIL_WORDS  # a goodbye at its end is met all the same
    if whole.topic == "wonder" and texts.language() != texts.ENGLISH and not is_asking(words):
        return True
    if whole.act not in _WANTS or whole.topic in _THOUGHTS or is_asking(words):
        return False
    return whole.act in _ASKED or whole.share < _SURE_OF_WANTING or not whole.topic


def _is_doubtful(words: str, whole: Sensed) -> bool:
    """Return whether what words seem to do, without a topic, is common in stories, too."""
    is_long = len(words.split()) >= _LONG
    if whole.act == "short":
        return len(words.split()) > FIRST_WORDS and hear(words).kind == "answer"
    is_question = words.rstrip().endswith("?")
    if whole.act == "ask_self":
        return not is_question and whole.share < _SURE_OF_TELLING
    is_complaint = whole.act == "complain" and not is_long and whole.share >= _SURE_OF_COMPLAINT
    is_doubted = whole.act in _DOUBTED or (is_long and whole.act in _DOUBTED_AT_LENGTH)
    return is_doubted and not is_complaint and not is_question and whole.share < _SURE_OF_REFUSING


def _questions_in(words: str, topic: str, parts: Sequence[Sensed]) -> Sequence[str]:
    """Return the questions about the tour that a message asks, one in each of its sentences."""
    known = texts.questions()
    if is_of_plan(words):
        return []
    is_long = len(words.split()) > _LONG
    if is_long and not any(is_about("of_tour", each) for each in _parts(words) if each.endswith("?")):
        return []
    clear = [each.topic for each in parts if each.act in _ASKS and each.share >= _SURE_OF_PART]
    found = [each for each in dict.fromkeys(clear) if each in known]
    return ([topic, *found] if topic in known and topic not in found else found)[:2]


def has_just_asked(conversation: Conversation) -> bool:
    """Return whether the newest words come after a question, other than what to show."""
    last = conversation.exchanges[-1].question
    return last.rstrip().endswith("?") and not any(texts.stands_in(name, last) for name in ("menu", "more"))


def wants_no_questions(conversation: Conversation) -> bool:
    """Return whether they asked in this conversation not to be asked."""
    said = [each.answer for each in conversation.exchanges if not each.value]
    return any(sense(words).topic == "quiet" or is_about("no_questions", words) for words in said)
