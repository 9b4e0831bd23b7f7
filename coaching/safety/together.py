"""Danger that words name together: in one sentence, in any order, in three languages (`words/together.txt`).

A phrase knows one order of its words. German puts them in many: "Mein Mann hat mich gewürgt", "würgt er
mich". So a rule here asks only that words of some meanings are near each other, and of others not in the
sentence: whoever hits, and whom, but no chess. It isn't said where its first meaning is denied, or where the
sentence tells of the past or of a film. Pure; a sentence has `meanings.MAX_SENTENCE_WORDS` words at most.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from coaching.safety import harmless, languages
from coaching.safety.languages import Found
from coaching.safety.meanings import language_of, sentences_of
from coaching.safety.phrases import About, Level, Topic
from coaching.safety.tables import read_table

ENGLISH, GERMAN, SPANISH = "english", "german", "spanish"
_CODES = {ENGLISH: "en", GERMAN: "de", SPANISH: "es"}
LANGUAGES = tuple(_CODES)
WITHIN = 16
"""So many words a rule spans at most, if it says nothing else."""
PHRASE_WORDS = 6
"""So many words a phrase has at most."""
AFFIX_CHARACTERS = 20
"""So much the beginning or the end of a word has at most."""
_NOT, _TOLD, _OTHERS = "not", "told", "others"
_DENIED_BEFORE = 3
_DENIED_AFTER = {GERMAN: 3, ENGLISH: 0, SPANISH: 0}
"""So many words from a denial to what it denies; German has it behind the verb, too."""
_RULES = "rules"
Spans = Mapping[str, Sequence[tuple[int, int]]]
"""Where the words of each meaning are in a sentence: the first word, and the one after the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What words tell together: of each of `needs` one of some meanings, unless there is one of `unless`.

    `about` is None if whoever is named is in danger: somebody else, or else the writer.
    """

    level: Level
    topic: Topic
    about: About | None
    needs: Sequence[Sequence[str]]
    unless: frozenset[str]
    within: int


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a language: phrases, and beginnings and ends of words, each with its meanings."""

    phrases: Mapping[tuple[str, ...], Sequence[str]]
    beginnings: Mapping[str, Sequence[str]]
    ends: Mapping[str, Sequence[str]]

    def spans_in(self, words: Sequence[str]) -> Spans:
        spans: dict[str, list[tuple[int, int]]] = {}
        for start, word in enumerate(words):
            for meaning in self._of_word(word):
                spans.setdefault(meaning, []).append((start, start + 1))
            for end in range(start + 1, min(start + PHRASE_WORDS, len(words)) + 1):
                for meaning in self.phrases.get(tuple(words[start:end]), ()):
                    spans.setdefault(meaning, []).append((start, end))
        return spans

    def _of_word(self, word: str) -> Iterator[str]:
        for length in range(1, min(len(word), AFFIX_CHARACTERS) + 1):
            yield from self.beginnings.get(word[:length], ())
            yield from self.ends.get(word[-length:], ())


def read_words() -> None:
    """Read the words early, so that nobody's first message waits for it."""
    all_rules()
    for language in LANGUAGES:
        _words_of(language)


def danger_in_words_together(letters: str, *, readable: str) -> Found | None:
    """Return the most acute danger that plain letters name so, or None.

    English is read in a readable text, whose idioms are taken out.
    """
    texts = ((language, readable if language == ENGLISH else letters) for language in _languages_in(letters))
    found = [danger for language, text in texts for danger in _dangers_in(text, language)]
    return min(found, key=lambda danger: (danger[0] != "immediate", danger[1] != "self"), default=None)


def _languages_in(letters: str) -> Iterator[str]:
    """Yield which languages a text may be in: each if it has no frequent words, as lists often have none."""
    if language_of(list(sentences_of(letters))) == ENGLISH:
        yield ENGLISH
    found = languages.languages_in(letters) or LANGUAGES
    yield from (name for name in (GERMAN, SPANISH) if name in found)


def _dangers_in(text: str, language: str) -> Iterator[Found]:
    words_of, rules = _words_of(language), _rules_by_first()
    for words in sentences_of(text.replace(";", ",")):
        spans = words_of.spans_in(words)
        if _TOLD in spans or not any(each in rules for each in spans):
            continue
        said = [rule for each in spans for rule in rules.get(each, ()) if _is_said(rule, spans, language)]
        if said and not _is_past(" ".join(words), language):
            for rule in said:
                yield rule.level, rule.about or ("other" if _OTHERS in spans else "self"), rule.topic


def _is_said(rule: Rule, spans: Spans, language: str) -> bool:
    if not rule.unless.isdisjoint(spans) or not all(_spans_of(need, spans) for need in rule.needs):
        return False
    return any(_is_said_at(span, rule, spans, language) for span in _spans_of(rule.needs[0], spans))


def _is_said_at(first: tuple[int, int], rule: Rule, spans: Spans, language: str) -> bool:
    """Return whether each meaning has words of its own near the first one's, and nothing denies that."""
    taken = [first]
    for need in rule.needs[1:]:
        free = [
            span
            for span in _spans_of(need, spans)
            if all(span[1] <= start or span[0] >= end for start, end in taken)
        ]
        if not free:
            return False
        taken.append(min(free, key=lambda span: abs(span[0] - first[0])))
    if max(end for _, end in taken) - min(start for start, _ in taken) > rule.within:
        return False
    return not _is_denied(first, rule, spans, language)


def _is_denied(first: tuple[int, int], rule: Rule, spans: Spans, language: str) -> bool:
    """Return whether a denial is near the first meaning, other than in words of the rule: "won't stop"."""
    start, end = first
    own = [span for need in rule.needs for span in _spans_of(need, spans)]
    return any(
        start - _DENIED_BEFORE <= place < end + _DENIED_AFTER[language]
        and not any(begin <= place < stop for begin, stop in own)
        for place, _ in spans.get(_NOT, ())
    )


def _is_past(sentence: str, language: str) -> bool:
    if language == ENGLISH:
        return bool(harmless.LONG_PAST.search(sentence) and not harmless.STILL.search(sentence))
    return languages.is_past(sentence)


def _spans_of(need: Sequence[str], spans: Spans) -> Sequence[tuple[int, int]]:
    return [span for meaning in need for span in spans.get(meaning, ())]


def longest_of(language: str) -> tuple[int, int]:
    """Return how many words a phrase of a language has at most, and how many characters a piece of a word."""
    words = _words_of(language)
    return max(map(len, words.phrases)), max(map(len, (*words.beginnings, *words.ends)), default=0)


_TABLE = read_table("together")


def all_meanings() -> frozenset[str]:
    """Return the names of all meanings."""
    return frozenset(_TABLE) - {_RULES}


@cache
def all_rules() -> Sequence[Rule]:
    """Return all rules."""
    return [_rule_of(line) for line in _TABLE[_RULES]]


@cache
def _rules_by_first() -> Mapping[str, Sequence[Rule]]:
    by_first: dict[str, list[Rule]] = {}
    for rule in all_rules():
        for meaning in rule.needs[0]:
            by_first.setdefault(meaning, []).append(rule)
    return by_first


_LEVELS: Mapping[str, Level] = {"immediate": "immediate", "concern": "concern"}
_TOPICS: Mapping[str, Topic] = {"life": "life", "violence": "violence"}
_ABOUT: Mapping[str, About | None] = {"self": "self", "other": "other", "named": None}


def _rule_of(line: str) -> Rule:
    """Return the rule of a line: level, topic and whose; how near, if told; the meanings; `-`: not those."""
    head, _, meanings = line.partition(": ")
    level, topic, about, *within = head.split()
    needs, _, unless = meanings.partition(" - ")
    return Rule(
        level=_LEVELS[level],
        topic=_TOPICS[topic],
        about=_ABOUT[about],
        needs=[need.split("|") for need in needs.split()],
        unless=frozenset(unless.split()),
        within=int(within[0]) if within else WITHIN,
    )


@cache
def _words_of(language: str) -> _Words:
    phrases: dict[tuple[str, ...], list[str]] = {}
    beginnings: dict[str, list[str]] = {}
    ends: dict[str, list[str]] = {}
    for meaning in sorted(all_meanings()):
        for line in _TABLE[meaning]:
            code, _, words = line.partition(": ")
            for word in words.split() if code == _CODES[language] else ():
                if word.endswith("*"):
                    beginnings.setdefault(word[:-1], []).append(meaning)
                elif word.startswith("*"):
                    ends.setdefault(word[1:], []).append(meaning)
                else:
                    phrases.setdefault(tuple(word.split("_")), []).append(meaning)
    return _Words(phrases, beginnings, ends)
