"""Scores the emotional intensity of a user's last messages with a small lexicon. English only.

A high score only loads a gentler approach; a miss does no harm, since the model reads the messages anyway.
Danger has its own rules (`coaching.safety`). It was detected when the message came, which takes twenty times
as long, and a message with danger always scores high. No text is stored.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

HIGH_WEIGHT = 3
MESSAGES_LOOKED_AT = 3
DENIAL_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Words:
    """The text of one message, and whether danger was detected in it."""

    text: str
    is_danger: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Intensity:
    """The score of the last messages, 0 for calm ones."""

    weight: int

    @property
    def is_high(self) -> bool:
        return self.weight >= HIGH_WEIGHT


CALM = Intensity(weight=0)

# High alone, heavy, and heavy only in combination: whole words, one pattern per line.
_ACUTE = r"""
panic(?:king| attacks?)
overwhelmed|hopeless|worthless|heartbroken|devastated
(?:falling|fell) apart
breaking down|broke down|break ?down
losing it|freaking out|spiral(?:l)?ing
can(?:'?t|not) (?:cope|breathe|handle (?:it|this)|go on|stop (?:crying|shaking))
can(?:'?t|not) (?:do (?:this|it)|take (?:this|it|any ?more)) any ?more
at (?:my|the) (?:breaking point|end of my (?:rope|tether))
(?:all )?too much for me|all too much
hate (?:myself|my life)
(?:mother|mum|mom|father|dad|sister|brother|wife|husband|partner|son|daughter|child|baby|friend|dog|cat)\
 (?:just |has |is )?(?:died|dead|dying|passed away)
"""
_HEAVY = r"""
panic(?:ked)?|overwhelming|desperate|despair|drowning|shattered|terrified|furious|enraged
sobbing|crying|in tears|screaming|shaking|numb
grie(?:f|ving)|burn(?:ed|t)[- ]?out
can(?:'?t|not) (?:do|take) (?:this|it)
everything is (?:broken|ruined)
"""
_STRAINED = r"""
anxious|anxiety|scared|afraid|worried|dread(?:ing)?
stress(?:ed)?|exhausted|tired of|can'?t sleep
lonely|alone|lost|stuck|helpless|empty|broken
ashamed|guilty|angry|miserable|depressed|sad|cry
awful|terrible|horrible|hurts?
failed|failure|giv(?:e|ing) up|too much
"""
_LOUD = re.compile(
    r"\b(?:so|really|completely|totally|absolutely|never|always|nothing|everything|nobody)\b|!!+"
)
_DENIED = re.compile(
    r"(?:\b(?:not|no longer|never|isn'?t|wasn'?t|aren'?t|don'?t|didn'?t|doesn'?t|without|stopped|less|hardly)"
    r"(?: (?:at all|feel|feeling|so|very|really|that|any|be|been|being|get|getting))*)\W*$"
)
_ABOUT_OTHERS = re.compile(r"\b(?:the (?:film|movie|book|song|series|novel|character)|in the news)\b")
_WORD_OF_SELF = re.compile(r"\b(?:i|i'?m|i'?ve|me|my|myself)\b")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


def _words(lines: str) -> re.Pattern[str]:
    joined = lines.replace("\\\n", "").strip().replace("\n", "|")
    return re.compile(rf"\b(?:{joined})\b")


_WEIGHTS = ((_words(_ACUTE), 3), (_words(_HEAVY), 2), (_words(_STRAINED), 1))


def measure_intensity(messages: Sequence[Words]) -> Intensity:
    """Score the last messages, oldest first; the newest counts in full, earlier ones half.

    An acute word scores 3, a heavy one 2, a strained one 1, at most two of each per sentence. Capitals,
    absolutes and exclamation marks add 1 to a sentence that scores. Negated words and sentences about films
    score 0; a message without a first-person word scores half. A message with danger scores at least
    `HIGH_WEIGHT`.
    """
    newest_first = list(messages)[-MESSAGES_LOOKED_AT:][::-1]
    weights = [_weigh(words) for words in newest_first]
    return Intensity(weight=sum(weights[:1]) + sum(weight // 2 for weight in weights[1:]))


def _weigh(words: Words) -> int:
    plain = words.text.replace("’", "'")[:20_000]
    is_of_self = bool(_WORD_OF_SELF.search(plain.lower()))
    weight = sum(_weigh_sentence(found[0]) for found in _SENTENCE.finditer(plain))
    weight = weight if is_of_self else weight // 2
    return max(weight, HIGH_WEIGHT) if words.is_danger else weight


def _weigh_sentence(sentence: str) -> int:
    lower = sentence.lower()
    if _ABOUT_OTHERS.search(lower):
        return 0
    carried = sum(weight * min(_count(pattern, lower), 2) for pattern, weight in _WEIGHTS)
    is_loud = bool(_LOUD.search(lower)) or _is_in_capitals(sentence)
    return carried + 1 if carried and is_loud else carried


def _count(pattern: re.Pattern[str], sentence: str) -> int:
    found = set()
    for match in pattern.finditer(sentence):
        before = sentence[max(0, match.start() - DENIAL_CHARACTERS) : match.start()]
        if not _DENIED.search(before):
            found.add(match[0])
    return len(found)


def _is_in_capitals(sentence: str) -> bool:
    words = [word for word in re.findall(r"[A-Za-z']+", sentence) if len(word) > 2]
    return len(words) >= 2 and sum(word.isupper() for word in words) * 2 > len(words)
