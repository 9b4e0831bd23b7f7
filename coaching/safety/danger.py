"""Whether somebody's words suggest danger, how acute, and whose. Pure and fast; stores nothing.

Transparent rules instead of a model: a card must come before any model answers, and in the same way for
everybody. When in doubt they show one: a false alarm costs little. `tests/safety` measures what they catch
and miss; `figures` has the results.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from coaching.safety import harmless, joining, languages, together, weak_cues
from coaching.safety.phrases import About, Level, Phrase, Topic, all_phrases, phrases_in
from coaching.safety.readable import plain_letters, readable_letters
from coaching.safety.sentences import Searched, Sentence, first_person_in, sentences_in
from coaching.safety.weighed import (
    AGAINST,
    AGAINST_CUES,
    PLAN,
    Weighable,
    is_plain_plan,
    learnt_tables,
    learnt_weights,
    weighed_level,
    weighs_against,
    weighs_for,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """A detected danger. `level`: `immediate`, or `concern` if it is indirect, not acute, or about others.

    `about`: whether the writer or somebody else is in danger or a danger. `topic`: `violence` if somebody is
    being harmed by another, otherwise `life`. `is_weighed`: nothing names it, only weights and weak cues
    suggest it.
    """

    level: Level
    about: About
    topic: Topic
    is_weighed: bool = field(default=False, compare=False)


_NOT_WEIGHED = re.compile(r"\bi want you to be |\bkilling myself to |\blife map\b")
"""What is asked of Sage is no wish of the writer's, and who is killing herself to finish only works hard."""


def read_words() -> None:
    """Load the word lists early, so that nobody's first message waits for it."""
    all_phrases()
    weak_cues.all_cues()
    languages.read_words()
    joining.read_words()
    together.read_words()
    learnt_tables()
    learnt_weights(PLAN)


def find_danger(text: str) -> Danger | None:
    """Return the most acute danger in the text, or None."""
    letters = plain_letters(text)
    whole = readable_letters(letters)
    if harmless.ORDINARY.fullmatch(whole):
        return None
    plain = harmless.without_answered_no(harmless.without_idioms(whole))
    sentences = list(sentences_in(plain))
    weighable = Weighable.of(harmless.without_answered_no(_NOT_WEIGHED.sub("", letters)))
    found, is_ruled_out = _named_in(sentences, Searched(plain), weighable)
    if not found and (other := languages.danger_in_other_words(letters, readable=whole)):
        found = _danger_of(other)
    if (found is None or found.level != "immediate") and (
        other := together.danger_in_words_together(letters, readable=plain)
    ):
        found = _worst([*filter(None, [found]), _danger_of(other)])
    if found and (found.level, found.about, found.topic) != ("concern", "self", "life"):
        return found
    is_weighed = found is not None or not (is_ruled_out or languages.names_danger(letters))
    is_plan = not found and is_plain_plan(weighable)
    weighed = None if is_plan else weighed_level(weighable, of_any=is_weighed)
    joined = _level_of_joining(letters, weighable) if joining.is_wished(letters) else None
    if weighed != "immediate":
        weighed = joined or weighed
    if not (weighed or found) and weak_cues.is_enough(sentences):
        weighed = None if weighs_against(weighable, least=AGAINST_CUES) else "concern"
    if not weighed:
        return found
    return Danger(level=weighed, about="self", topic="life", is_weighed=not (found or joined))


def _level_of_joining(letters: str, weighable: Weighable) -> Level | None:
    """Return how acute the wish to be with somebody is, None if it isn't somebody who died."""
    if joining.tells_of_loss(letters):
        return None if weighs_against(weighable, least=AGAINST) else "immediate"
    return "concern" if weighs_for(weighable) else None


def _named_in(
    sentences: Sequence[str], message: Searched, weighable: Weighable
) -> tuple[Danger | None, bool]:
    """Return the most acute danger that a phrase names, and whether others are denied, past or told of."""
    found: list[Danger] = []
    is_ruled_out = False
    for sentence, phrases in phrases_in(dict.fromkeys(sentences)):
        for said in _dangers_in(Sentence(sentence), phrases, message, weighable):
            if said is None:
                is_ruled_out = True
                continue
            if said.level == "immediate" and said.about == "self":
                return said, is_ruled_out
            found.append(said)
    return _worst(found), is_ruled_out


def _worst(found: Sequence[Danger]) -> Danger | None:
    """Return the most acute danger, of two that are as acute the writer's own, then the first."""
    return min(found, key=lambda each: (each.level != "immediate", each.about != "self"), default=None)


def _danger_of(found: languages.Found) -> Danger:
    level, about, topic = found
    return Danger(level=level, about=about, topic=topic)


_SELF = frozenset({"i", "i'm", "me", "myself", "my"})
_OTHERS_OWN = frozenset({"himself", "herself", "themselves", "themself", "his", "her", "their"})
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|me|my|myself)\b")
_VOICES = frozenset({"voice", "voices"})
_TENSE_CHARACTERS = 30


def _dangers_in(
    sentence: Sentence, phrases: Sequence[Phrase], message: Searched, weighable: Weighable
) -> Iterator[Danger | None]:
    """Yield the danger of each phrase that is said, None where it is denied, past or told of."""
    for phrase in phrases:
        for match in phrase.pattern.finditer(sentence.text):
            about = _about(phrase, match, sentence)
            if _holds(phrase, match, sentence, message, about) and not _is_unlikely(phrase, weighable):
                is_lowered = about == "other" and phrase.about is None
                yield Danger(level="concern" if is_lowered else phrase.level, about=about, topic=phrase.topic)
            else:
                yield None


def _is_unlikely(phrase: Phrase, weighable: Weighable) -> bool:
    """Return whether "suicide" or "overdose" is only mentioned, as what somebody died of."""
    is_word_alone = phrase.is_mention and phrase.about is None and phrase.topic == "life"
    return is_word_alone and weighs_against(weighable, least=AGAINST)


def _about(phrase: Phrase, match: re.Match[str], sentence: Sentence) -> About:
    """Return who is in danger; for quoted words, their speaker."""
    if quote := sentence.quote_around(*match.span()):
        speaker = sentence.last_person_before(quote[0])
        if speaker and speaker not in _SELF:
            return "self" if speaker in _VOICES else "other"
    if phrase.about:
        return phrase.about
    own = match.groupdict().get("own")
    if own:
        return "other" if own in _OTHERS_OWN else "self"
    if _FIRST_PERSON.search(match[0]):
        return "self"
    named = sentence.last_person_before(match.start()) or first_person_in(match[0])
    return "other" if named and named not in _SELF else "self"


def _holds(phrase: Phrase, match: re.Match[str], sentence: Sentence, message: Searched, about: About) -> bool:
    if _is_denied(match, sentence):
        return False
    if sentence.says_before(match.start(), harmless.ASKED) and not message.says(harmless.ANSWERED_YES):
        return False
    if _is_long_past(match, sentence) and not message.says(harmless.STILL):
        return False
    if about == "other" and sentence.says(harmless.OTHERS_PAST) and harmless.ENDED.match(match[0]):
        return False
    if about == "other" and harmless.HAS_DIED.match(match[0]) and not message.says(harmless.NEAR):
        return False
    if _is_told(phrase, match, sentence, about):
        return False
    if phrase.requires and not message.says(phrase.requires):
        return False
    if "rope" in match[0] and message.says(harmless.CLIMBING):
        return False
    return not (phrase.unless and sentence.says(phrase.unless))


def _is_denied(match: re.Match[str], sentence: Sentence) -> bool:
    if not sentence.is_denied_at(match.start()):
        return False
    return not (
        sentence.says_before(match.end(), harmless.NOT_A_DENIAL)
        or sentence.says_after(match.end(), harmless.BUT_WANTED)
    )


def _is_long_past(match: re.Match[str], sentence: Sentence) -> bool:
    if not sentence.says(harmless.LONG_PAST):
        return False
    before = _clause_before(match, sentence)
    if harmless.PRESENT.search(before):
        return False
    return before.endswith("used to ") or bool(
        harmless.PAST_TENSE.search(f"{before[-_TENSE_CHARACTERS:]} {match[0]}")
    )


def _is_told(phrase: Phrase, match: re.Match[str], sentence: Sentence, about: About) -> bool:
    """Return whether it is read, played, dreamt or work rather than lived."""
    if sentence.says(harmless.IMAGINED):
        return True
    is_told = sentence.says(harmless.TOLD)
    is_anothers = about == "other" or sentence.quote_around(*match.span()) is not None
    if is_anothers and (is_told or sentence.says(harmless.AT_WORK)):
        return True
    if not phrase.is_mention or not (is_told or sentence.says(harmless.STUDIED)):
        return False
    return not harmless.MEANT.search(_clause_before(match, sentence))


def _clause_before(match: re.Match[str], sentence: Sentence) -> str:
    """Return what stands before a match in its clause."""
    return sentence.text[sentence.clause_start(match.start()) : match.start()]
