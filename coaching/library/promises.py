"""The rule for next steps that rest on what a person said: is it a promise, and does the quote say it?

Pure. The words of `words/promises.txt` decide, in six languages, on the whole sentence that a quote stands
in. Whatever isn't plainly a promise of the person's own waits for their yes: a wish, a condition, a negation,
a question, somebody else's words, a joke, a plan of harm. A wrong yes costs more than a question. The module
is longer than others, because the rule is to be read as a whole.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Literal

from coaching.library.spoken import Sentence, Token, is_pasted, plain, sentences_of, tokens_of
from coaching.library.spoken_days import days_said, is_day_word
from coaching.safety.danger import find_danger

Purpose = Literal["new", "done", "dropped", "open"]
Why = Literal[
    "", "not said", "short", "pasted", "question", "quotation", "negated", "reported", "hedged", "joke",
    "harm", "no promise", "not done", "date", "title",
]  # fmt: skip
"""Why a call waits for a yes; empty if it doesn't."""

MIN_CHARACTERS, MIN_UNSPACED = 8, 4
"""A shorter quote is no evidence; the second is for scripts that are written without spaces."""
MAX_CHARACTERS = 1_500
"""A longer message was pasted."""
MAX_ANSWER = 200
"""A longer message is more than an answer to a proposal."""
_WORDS = Path(__file__).parent / "words" / "promises.txt"
_QUESTIONS = frozenset("?¿？؟")
_QUOTATION = frozenset('"“”„«»‹›「」『』')
_BUT = frozenset({"but", "aber", "pero", "mais", "ma", "però", "mas"})
_SMILES = frozenset("😂🤣😜😝😛🙃😆😉😏🤪")
_SMILEYS = (";)", ";-)", ":p", ":-p", ":d", ":-d")
_MIN_STEM = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Words of the person in a conversation, and the day on which they said them.

    `asked` is what Sage said just before, for the newest words: they may be a whole answer to a proposal.
    `is_tapped`: they are a choice that Sage had worded.
    """

    number: int
    text: str
    day: date
    asked: str = ""
    is_tapped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """The sentence that a quote stands in, with the number of its message, and why that isn't enough."""

    sentence: str = ""
    number: int | None = None
    why: Why = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a call says: the quote that it names, what becomes of which step, and on which day."""

    quote: str
    purpose: Purpose
    title: str
    due_date: date | None = None


def weigh(claim: Claim, said: Sequence[Said]) -> Weighed:
    """Weigh a claim by what the person said, the newest first."""
    wanted = [token.word for token in tokens_of(claim.quote)]
    if not wanted:
        return Weighed(why="not said")
    best = Weighed(why="not said")
    for each in said:
        weighed = _in_one(claim, wanted, each)
        if not weighed.why:
            return weighed
        best = weighed if best.why == "not said" else best
    return best


def _in_one(claim: Claim, wanted: Sequence[str], said: Said) -> Weighed:
    if len(said.text) > MAX_CHARACTERS or is_pasted(said.text):
        return Weighed(why="pasted" if _find(wanted, tokens_of(said.text)) else "not said")
    found = _widened(wanted, said.text)
    if found is None:
        return Weighed(why="not said")
    if isinstance(found, str):
        return Weighed(why="quotation")
    sentence = said.text[found[0].start : found[-1].end].strip()
    shown = " ".join(sentence.split())
    sentence = _after_but(sentence, wanted)
    is_answer = _is_answer(wanted, said)
    if not is_answer and _is_short(wanted):
        return Weighed(sentence=shown, number=said.number, why="short")
    why = _fault(claim, sentence, said, is_answer=is_answer)
    return Weighed(sentence=shown, number=said.number, why=why)


def _widened(wanted: Sequence[str], text: str) -> Sequence[Sentence] | Literal["quoted"] | None:
    """Return the sentences that a quote touches; `quoted` if it stands in quoted lines or code alone."""
    sentences = list(sentences_of(text))
    flat = [(token.word, index) for index, each in enumerate(sentences) for token in each.tokens]
    for at in _places(wanted, [word for word, _ in flat]):
        touched = sentences[flat[at][1] : flat[at + len(wanted) - 1][1] + 1]
        if not any(each.is_quoted for each in touched):
            return touched
    return "quoted" if _find(wanted, tokens_of(text)) else None


def _after_but(sentence: str, wanted: Sequence[str]) -> str:
    """Return what follows a sentence's last `, but` if the quote stands there, else the sentence."""
    tokens = tokens_of(sentence)
    for before, but in zip(reversed(tokens[:-1]), reversed(tokens[1:]), strict=True):
        if but.word in _BUT and "," in sentence[before.end : but.start]:
            clause = sentence[but.end :]
            return clause if _find(wanted, tokens_of(clause)) else sentence
    return sentence


def _places(wanted: Sequence[str], words: Sequence[str]) -> Iterator[int]:
    """Yield where a run of words stands in others, by joining them: linear in their length."""
    text, needle = f" {' '.join(words)} ", f" {' '.join(wanted)} "
    at = text.find(needle)
    while at >= 0:
        yield text.count(" ", 0, at + 1) - 1
        at = text.find(needle, at + 1)


def _find(wanted: Sequence[str], tokens: Sequence[Token]) -> bool:
    return any(True for _ in _places(wanted, [token.word for token in tokens]))


def _is_short(wanted: Sequence[str]) -> bool:
    letters = "".join(wanted)
    least = MIN_UNSPACED if any(ord(letter) > 0x2E7F for letter in letters) else MIN_CHARACTERS
    return len(" ".join(wanted)) < least


def _is_answer(wanted: Sequence[str], said: Said) -> bool:
    """Say whether a quote is all that the person answered to what Sage had said."""
    words = [token.word for token in tokens_of(said.text)]
    return bool(said.asked) and len(said.text) <= MAX_ANSWER and words == list(wanted)


def _fault(claim: Claim, sentence: str, said: Said, *, is_answer: bool) -> Why:
    """Return why a sentence isn't enough for a claim; empty if it is."""
    words = [token.word for token in tokens_of(sentence)]
    has = _Has(words, languages_of(said.text))
    if why := _spoils(sentence, said, has):
        return why
    days = days_said(sentence, spoken_on=said.day)
    proposed = days_said(said.asked, spoken_on=said.day) if is_answer else frozenset()
    if claim.due_date and claim.due_date not in days | proposed:
        return "date"
    is_moved = claim.purpose == "open" and claim.due_date is not None and has("later")
    if has("negation") and not is_moved:
        return "negated"
    if has("reported") and claim.purpose != "done":
        return "reported"
    if is_answer and _answers(claim, has, said, days | proposed):
        return ""
    if has("hedge"):
        return "hedged"
    if not _stands_for(claim.title, [*words, *(token.word for token in tokens_of(said.asked))]):
        return "title"
    if claim.purpose == "done":
        return "" if has("done") and not has("promise") else "not done"
    is_promised = has("promise") or (has.does() and bool(days))
    return "" if is_moved or (is_promised and claim.purpose != "dropped") else "no promise"


def _spoils(sentence: str, said: Said, has: "_Has") -> Why:
    """Return what makes a sentence no evidence, whatever it is about; empty for nothing."""
    if find_danger(sentence) or has("harm"):
        return "harm"
    if _is_joke(said.text):
        return "joke"
    if _QUESTIONS & set(sentence):
        return "question"
    return "quotation" if _QUOTATION & set(sentence) else ""


def _answers(claim: Claim, has: "_Has", said: Said, days: Collection[date]) -> bool:
    """Say whether a whole answer agrees to a proposal in what Sage said: by a yes or by its day."""
    if has("hedge") and not has("yes"):
        return False
    asked = [token.word for token in tokens_of(said.asked)]
    is_proposed = claim.purpose != "new" or _shares_words(claim.title, asked)
    agrees = said.is_tapped or has("yes") or (claim.due_date is not None and claim.due_date in days)
    if claim.purpose == "done":
        agrees = has("yes") or has("done")
    return is_proposed and agrees


def _is_joke(text: str) -> bool:
    """Say whether a whole message has the marks of a joke: what follows a sentence may take it back."""
    lower = f" {text.casefold()} "
    if _SMILES & set(text) or any(f" {smiley} " in lower.replace("\n", " ") for smiley in _SMILEYS):
        return True
    return _Has([token.word for token in tokens_of(text)], ())("joke")


def _stands_for(title: str, words: Collection[str]) -> bool:
    """Say whether all numbers of a title were said."""
    numbers = [token.word for token in tokens_of(title) if any(letter.isdigit() for letter in token.word)]
    return all(number in words for number in numbers)


def _shares_words(title: str, words: Sequence[str]) -> bool:
    """Say whether a title has a word of its own that was said, in any form."""
    own = [token.word for token in tokens_of(title) if len(token.word) >= _MIN_STEM] or [
        token.word for token in tokens_of(title)
    ]
    return any(_is_same(one, other) for one in own for other in words)


def _is_same(one: str, other: str) -> bool:
    if one == other:
        return True
    return min(len(one), len(other)) >= _MIN_STEM and (one.startswith(other) or other.startswith(one))


def languages_of(text: str) -> Sequence[str]:
    """Return the languages whose frequent words a text has most of: several, where it doesn't show."""
    words = [token.word for token in tokens_of(text)]
    counts = {
        language: sum(word in groups["common"].singles for word in words)
        for language, groups in _read_words().items()
        if "common" in groups
    }
    most = max(counts.values())
    return [language for language, count in counts.items() if count == most]


@dataclass(frozen=True, slots=True)
class _Phrases:
    """Phrases of one group, by their first word where that is whole; `open` begin with a part of a word."""

    singles: frozenset[str]
    by_first: Mapping[str, Sequence[Sequence[str]]]
    open: Sequence[Sequence[str]]


class _Has:
    """Says which groups of phrases a sentence has, in its language and in all."""

    def __init__(self, words: Sequence[str], languages: Sequence[str]) -> None:
        self._words = words
        self._languages = [*languages, "all"]

    def __call__(self, group: str) -> bool:
        return any(
            _matches(self._words, phrases)
            for language in self._languages
            if (phrases := _read_words()[language].get(group))
        )

    def does(self) -> bool:
        """Say whether the person says what they do, in the present tense: `I'm calling`, `llamo`."""
        if self("state"):
            return False
        if self("present"):
            return True
        return any("verb" in _read_words()[each] and self._begins_with_verb(each) for each in self._languages)

    def _begins_with_verb(self, language: str) -> bool:
        groups = _read_words()[language]
        lead = groups["lead"].singles
        first = next((word for word in self._words if word not in lead and not is_day_word(word)), "")
        return _matches([first], groups["verb"])


def _matches(words: Sequence[str], phrases: _Phrases) -> bool:
    for at, word in enumerate(words):
        candidates = [*phrases.by_first.get(word, ()), *phrases.open]
        if any(_begins(words, at, phrase) for phrase in candidates):
            return True
    return False


def _begins(words: Sequence[str], at: int, phrase: Sequence[str]) -> bool:
    here = words[at : at + len(phrase)]
    return len(here) == len(phrase) and all(
        _fits(word, part) for word, part in zip(here, phrase, strict=True)
    )


def _fits(word: str, part: str) -> bool:
    begin, star, end = part.partition("*")
    if not star:
        return word == part
    return len(word) >= len(begin) + len(end) and word.startswith(begin) and word.endswith(end)


@cache
def _read_words() -> Mapping[str, Mapping[str, _Phrases]]:
    read: dict[str, dict[str, _Phrases]] = {}
    groups: dict[str, _Phrases] = {}
    for line in _WORDS.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            groups = read.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            name, _, listed = line.partition(":")
            groups[name] = _phrases([tuple(plain(phrase).split()) for phrase in listed.split("|")])
    return read


def _phrases(phrases: Sequence[Sequence[str]]) -> _Phrases:
    whole = [phrase for phrase in phrases if "*" not in phrase[0]]
    by_first: dict[str, list[Sequence[str]]] = {}
    for phrase in whole:
        by_first.setdefault(phrase[0], []).append(phrase)
    return _Phrases(
        frozenset(phrase[0] for phrase in whole if len(phrase) == 1),
        by_first,
        [phrase for phrase in phrases if "*" in phrase[0]],
    )
