"""Whether somebody's words suggest danger, how acute, and whose. Pure and fast; stores nothing.

Transparent rules instead of a model: a card must come before any model answers, and in the same way for
everybody. When in doubt they show one: a false alarm costs little. `tests/safety` measures what they catch
and miss; `figures` has the results.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coaching.safety import harmless, languages, weak_cues
from coaching.safety.phrases import About, Level, Phrase, Topic, all_phrases, phrases_in
from coaching.safety.readable import readable
from coaching.safety.tables import read_table, whole_words

MAX_SENTENCE_CHARACTERS = 600
OVERLAP_CHARACTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """A detected danger. `level`: `immediate`, or `concern` if it is indirect, not acute, or about others.

    `about`: whether the writer or somebody else is in danger or a danger. `topic`: `violence` if somebody is
    being harmed by another, otherwise `life`.
    """

    level: Level
    about: About
    topic: Topic


def read_words() -> None:
    """Load the word lists early, so that nobody's first message waits for it."""
    all_phrases()
    weak_cues.all_cues()
    languages.read_words()


def find_danger(text: str) -> Danger | None:
    """Return the most acute danger in the text, or None."""
    whole = readable(text)
    plain = harmless.without_answered_no(harmless.without_idioms(whole))
    sentences = list(_sentences(plain))
    message = _Message(plain)
    found: list[Danger] = []
    for sentence in sentences:
        for danger in _dangers_in(sentence, message):
            if danger.level == "immediate" and danger.about == "self":
                return danger
            found.append(danger)
    if not found and (other := languages.danger_in_other_words(text)):
        level, about, topic = other
        return Danger(level=level, about=about, topic=topic)
    if not found and weak_cues.is_enough(sentences):
        return Danger(level="concern", about="self", topic="life")
    return min(found, key=lambda danger: (danger.level != "immediate", danger.about != "self"), default=None)


_SENTENCE = re.compile(r"[^.!?\n;]+[.!?\n;]*")
_CLAUSE = re.compile(
    r"[,:()\"~]| - | but | although | though | because | so "
    r"| (?:and|or) (?=i\b|i'|he|she|they|today|now|then)"
)
_SELF = frozenset({"i", "i'm", "me", "myself", "my"})
_OTHERS_OWN = frozenset({"himself", "herself", "themselves", "themself", "his", "her", "their"})
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|me|my|myself)\b")
_VOICES = frozenset({"voice", "voices"})
_WHO = whole_words(read_table("harmless")["who"])
_QUOTED = re.compile(r'"[^"]{1,300}(?:"|$)|(?<!\w)\'[^\']{3,200}\'(?!\w)')


class _Message:
    """The whole message, with cached searches for its sentences."""

    def __init__(self, plain: str) -> None:
        self._plain = plain
        self._answers: dict[re.Pattern[str], bool] = {}

    def says(self, pattern: re.Pattern[str]) -> bool:
        if pattern not in self._answers:
            self._answers[pattern] = bool(pattern.search(self._plain))
        return self._answers[pattern]


def _sentences(plain: str) -> Iterator[str]:
    """Yield the sentences; a very long one in overlapping pieces."""
    last = ""
    for found in _SENTENCE.finditer(plain):
        sentence = found[0].strip()
        if sentence == last:
            continue
        last = sentence
        for start in range(0, len(sentence), MAX_SENTENCE_CHARACTERS):
            yield sentence[max(0, start - OVERLAP_CHARACTERS) : start + MAX_SENTENCE_CHARACTERS]


def _dangers_in(sentence: str, message: _Message) -> Iterator[Danger]:
    for phrase in phrases_in(sentence):
        for match in phrase.pattern.finditer(sentence):
            about = _about(phrase, match, sentence)
            if _holds(phrase, match, sentence, message, about):
                is_lowered = about == "other" and phrase.about is None
                yield Danger(level="concern" if is_lowered else phrase.level, about=about, topic=phrase.topic)


def _about(phrase: Phrase, match: re.Match[str], sentence: str) -> About:
    """Return who is in danger; for quoted words, their speaker."""
    quote = _quote_around(match, sentence)
    if quote is not None:
        speakers = _WHO.findall(sentence[: quote.start()])
        if speakers and speakers[-1] not in _SELF:
            return "self" if speakers[-1] in _VOICES else "other"
    if phrase.about:
        return phrase.about
    own = match.groupdict().get("own")
    if own:
        return "other" if own in _OTHERS_OWN else "self"
    if _FIRST_PERSON.search(match[0]):
        return "self"
    before = _WHO.findall(sentence[: match.start()])
    named = before[-1:] or _WHO.findall(match[0])[:1]
    return "other" if named and named[0] not in _SELF else "self"


def _holds(phrase: Phrase, match: re.Match[str], sentence: str, message: _Message, about: About) -> bool:
    before = _CLAUSE.split(sentence[: match.start()])[-1]
    behind = sentence[match.end() :]
    if _is_denied(before, behind, sentence[: match.end()]):
        return False
    if harmless.ASKED.search(sentence[: match.start()]) and not message.says(harmless.ANSWERED_YES):
        return False
    if _is_long_past(before, match[0], sentence) and not message.says(harmless.STILL):
        return False
    if _is_told(phrase, match, sentence, before, about):
        return False
    if phrase.requires and not message.says(phrase.requires):
        return False
    if "rope" in match[0] and message.says(harmless.CLIMBING):
        return False
    return not (phrase.unless and message.says(phrase.unless))


def _is_denied(before: str, behind: str, so_far: str) -> bool:
    if not harmless.DENIED.search(before):
        return False
    return not (harmless.NOT_A_DENIAL.search(so_far) or harmless.BUT_WANTED.search(behind))


def _is_long_past(before: str, phrase: str, sentence: str) -> bool:
    if not harmless.LONG_PAST.search(sentence) or harmless.PRESENT.search(before):
        return False
    return before.endswith("used to ") or bool(harmless.PAST_TENSE.search(f"{before[-30:]} {phrase}"))


def _is_told(phrase: Phrase, match: re.Match[str], sentence: str, before: str, about: About) -> bool:
    """Return whether it is read, played, dreamt or work rather than lived."""
    if harmless.IMAGINED.search(sentence):
        return True
    is_anothers = about == "other" or _quote_around(match, sentence) is not None
    if is_anothers and (harmless.TOLD.search(sentence) or harmless.AT_WORK.search(sentence)):
        return True
    is_named = phrase.is_mention and not harmless.MEANT.search(before)
    return is_named and bool(harmless.TOLD.search(sentence) or harmless.STUDIED.search(sentence))


def _quote_around(match: re.Match[str], sentence: str) -> re.Match[str] | None:
    for quote in _QUOTED.finditer(sentence):
        if quote.start() <= match.start() and match.end() <= quote.end():
            return quote
    return None
