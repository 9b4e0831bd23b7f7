"""Scores the emotional intensity of a user's last messages with a small lexicon (`words/heavy.txt`).

It knows English and the languages of `languages.LANGUAGES`. A high score only loads a gentler approach; a
miss does no harm, since the model reads the messages anyway. Danger and grief have rules of their own. Danger
was detected when the message came, which takes several times as long, and a message with it always scores
high; grief scores nothing. No text is stored.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from coaching.safety.grief import is_grief
from coaching.safety.languages import LANGUAGES, languages_in
from coaching.safety.pieces import Pieces
from coaching.safety.readable import MAX_CHARACTERS, without_accents
from coaching.safety.tables import needed_in, read_table

HIGH_WEIGHT = 3
MESSAGES_LOOKED_AT = 3
DENIAL_CHARACTERS = 60
MAX_COUNTED = 2
"""So many words of a weight count in a sentence."""


@dataclass(frozen=True, slots=True)
class SaidWords:
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

_LOUD = re.compile(
    r"\b(?:so|really|completely|totally|absolutely|never|always|nothing|everything|nobody)\b|!!+"
)
_DENIED = re.compile(
    r"(?:\b(?:not|no longer|never|isn'?t|wasn'?t|aren'?t|don'?t|didn'?t|doesn'?t|without|stopped|less|hardly)"
    r"(?: (?:at all|feel|feeling|so|very|really|that|any|be|been|being|get|getting))*)\W*$"
)
_DENIED_ELSEWHERE = re.compile(
    r"\b(?:nicht|nie|kein\w*|ohne|weniger|pas|plus|jamais|sans|moins|no|nunca|sin|menos|non|mai|senza|meno"
    r"|nao|sem|niet|nooit|geen|zonder|minder)"
    r"(?: (?:mehr|so|sehr|du tout|vraiment|tan|muy|nada|piu|cosi|molto|mais|tao|muito|meer|zo|erg"
    r"|estoy|soy|tengo|sono|ho|estou|sou|tenho|me|mi|de|d'))*\W*$"
)
_ABOUT_OTHERS = re.compile(r"\b(?:the (?:film|movie|book|song|series|novel|character)|in the news)\b")
_WORD_OF_SELF = re.compile(r"\b(?:i|i'?m|i'?ve|me|my|myself)\b")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")

_WEIGHTS = {"acute": 3, "heavy": 2, "strained": 1}
_TABLE = read_table("heavy")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lexicon:
    """The words of a language with their weights; `pieces` says which a sentence may contain."""

    words: Sequence[tuple[re.Pattern[str], int]]
    pieces: Pieces

    @classmethod
    def of(cls, prefix: str) -> "_Lexicon":
        lines = ["|".join(_TABLE[f"{prefix}{name}"]) for name in _WEIGHTS]
        words = [
            (re.compile(rf"\b(?:{line})\b"), weight)
            for line, weight in zip(lines, _WEIGHTS.values(), strict=True)
        ]
        return cls(words=words, pieces=Pieces.of(map(needed_in, lines)))


_ENGLISH = _Lexicon.of("")
_OTHERS = {language: _Lexicon.of(f"{language}-") for language in LANGUAGES}


def measure_intensity(messages: Sequence[SaidWords]) -> Intensity:
    """Score the last messages, oldest first; the newest counts in full, earlier ones half.

    An acute word scores 3, a heavy one 2, a strained one 1, at most two of each per sentence. Capitals,
    absolutes and exclamation marks add 1 to a sentence that scores. Negated words and sentences about films
    score 0, and so does grief; a message without a first-person word scores half. A message with danger
    scores at least `HIGH_WEIGHT`.
    """
    newest_first = list(messages)[-MESSAGES_LOOKED_AT:][::-1]
    weights = [_weigh(words) for words in newest_first]
    return Intensity(weight=sum(weights[:1]) + sum(weight // 2 for weight in weights[1:]))


def _weigh(words: SaidWords) -> int:
    plain = words.text.replace("’", "'")[:MAX_CHARACTERS]
    if is_grief(plain):
        return HIGH_WEIGHT if words.is_danger else 0
    is_of_self = bool(_WORD_OF_SELF.search(plain.lower()))
    weight = _weigh_english(plain)
    weight = weight if is_of_self else weight // 2
    weight = max(weight, _weigh_elsewhere(plain))
    return max(weight, HIGH_WEIGHT) if words.is_danger else weight


def _weigh_english(plain: str) -> int:
    sentences = Counter(found[0] for found in _SENTENCE.finditer(plain))
    read = _ENGLISH.pieces.rules_for(sentence.lower() for sentence in sentences)
    return sum(
        times * _weigh_sentence(sentence, lower, numbers)
        for (sentence, times), (lower, numbers) in zip(sentences.items(), read, strict=True)
        if numbers
    )


def _weigh_elsewhere(plain: str) -> int:
    """Return the weight in another language. Spanish and Italian rarely say "I", so it isn't needed."""
    folded = without_accents(plain.lower())
    sentences = Counter(found[0] for found in _SENTENCE.finditer(folded))
    weights = [
        sum(
            sentences[sentence] * _weigh_words(_OTHERS[language], numbers, sentence, _DENIED_ELSEWHERE)
            for sentence, numbers in _OTHERS[language].pieces.rules_for(sentences)
        )
        for language in languages_in(folded)
    ]
    return max(weights, default=0)


def _weigh_sentence(sentence: str, lower: str, numbers: Sequence[int]) -> int:
    if _ABOUT_OTHERS.search(lower):
        return 0
    carried = _weigh_words(_ENGLISH, numbers, lower, _DENIED)
    is_loud = carried and (_LOUD.search(lower) or _is_in_capitals(sentence))
    return carried + 1 if is_loud else carried


def _weigh_words(lexicon: _Lexicon, numbers: Sequence[int], lower: str, denied: re.Pattern[str]) -> int:
    words = [lexicon.words[number] for number in numbers]
    return sum(weight * _count(pattern, lower, denied) for pattern, weight in words)


def _count(pattern: re.Pattern[str], sentence: str, denied: re.Pattern[str]) -> int:
    """Return how many different words a sentence has, at most `MAX_COUNTED`."""
    found = set()
    for match in pattern.finditer(sentence):
        before = sentence[max(0, match.start() - DENIAL_CHARACTERS) : match.start()]
        if not denied.search(before):
            found.add(match[0])
        if len(found) == MAX_COUNTED:
            break
    return len(found)


def _is_in_capitals(sentence: str) -> bool:
    words = [word for word in re.findall(r"[A-Za-z']+", sentence) if len(word) > 2]
    return len(words) >= 2 and sum(word.isupper() for word in words) * 2 > len(words)
