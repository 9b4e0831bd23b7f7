"""How much a person's last messages carry: a small lexical weighing that anybody can follow.

It calls for a gentler approach, nothing else, and a miss does no harm, since the model sees the words
themselves. Danger has rules of its own (`coaching.safety`); where it was noticed, that is high, whatever the
words weigh. It isn't looked for here: that takes twenty times as long, and it was done when the message came.
English only. It keeps no words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

HIGH_WEIGHT = 3
MESSAGES_LOOKED_AT = 3
DENIAL_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Words:
    """What a person wrote in one message, and whether danger was noticed in it."""

    text: str
    is_danger: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Intensity:
    """The weight of the last messages, 0 for calm ones."""

    weight: int

    @property
    def is_high(self) -> bool:
        """Whether a gentler approach is called for."""
        return self.weight >= HIGH_WEIGHT


CALM = Intensity(weight=0)

# What is high by itself, what is heavy, and what becomes heavy in company: whole words, one pattern a line.
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
    """Weigh the last messages, oldest first; the newest counts whole, those before it half.

    An acute word weighs 3, a heavy one 2, a strained one 1, at most two of each in a sentence; loudness
    (capitals, absolutes, exclamation marks) adds 1 to a sentence that carries something. What is denied, or
    said of a film, weighs nothing; what is said without a word of oneself weighs half. A message that
    speaks of danger weighs `HIGH_WEIGHT` at least.
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
