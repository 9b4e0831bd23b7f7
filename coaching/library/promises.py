"""The rule for next steps that rest on what a person said: is it a promise, and does the quote say it?

Pure. The words of `words/promises.txt` decide, in six languages, on the whole sentence that a quote stands
in. Whatever isn't plainly a promise of the person's own waits for their yes: a wish, a condition, a negation,
a question, somebody else's words, a joke, a plan of harm. A wrong yes costs more than a question.
`spoken_signs` reads the clauses.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from coaching.library.spoken import (
    QUOTATION,
    has_words,
    is_pasted,
    is_short,
    places,
    plain,
    tokens_of,
    widened,
)
from coaching.library.spoken_days import days_said
from coaching.library.spoken_signs import Clauses
from coaching.library.spoken_words import Lists, languages_of
from coaching.safety.danger import find_danger

Purpose = Literal["new", "done", "dropped", "open"]
Why = Literal[
    "", "not said", "short", "pasted", "question", "quotation", "negated", "reported", "hedged", "joke",
    "harm", "no promise", "not done", "date", "title",
]  # fmt: skip
"""Why a call waits for a yes; empty if it doesn't."""

MAX_CHARACTERS = 1_500
"""A longer message was pasted."""
MAX_FOUND = 5
"""So many of the newest messages with a quote are weighed."""
MAX_ANSWER = 200
"""A longer message is more than an answer to a proposal."""
_WORDS = "promises.txt"
_QUESTIONS = frozenset("?¿？؟")
_NOTES = frozenset("🎵🎶♪♫")
_SMILES = frozenset("😂🤣😜😝😛🙃😆😉😏🤪💀")
_SMILEYS = (";)", ";-)", ":p", ":-p", ":d", ":-d")
_MIN_STEM = 4
_ECHO = 12
"""A laugh within so many characters after a sentence still laughs about it."""


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
    found: list[Weighed] = []
    for each in said:
        weighed = _in_one(claim, wanted, each)
        if not weighed.why:
            return weighed
        found += [weighed] if weighed.why != "not said" else []
        if len(found) == MAX_FOUND:
            break
    return found[0] if found else Weighed(why="not said")


def _in_one(claim: Claim, wanted: Sequence[str], said: Said) -> Weighed:
    if len(said.text) > MAX_CHARACTERS or is_pasted(said.text):
        return Weighed(why="pasted" if _is_in(wanted, said.text) else "not said")
    found = widened(wanted, said.text)
    if found is None:
        return Weighed(why="not said")
    if isinstance(found, str):
        return Weighed(why="quotation")
    place = range(found[0].start, found[-1].end)
    shown = " ".join(said.text[place.start : place.stop].split())
    is_answer = _is_answer(wanted, said)
    if not is_answer and is_short(wanted):
        return Weighed(sentence=shown, number=said.number, why="short")
    why = _fault(claim, _Asked(said, place, wanted), said, is_answer=is_answer)
    return Weighed(sentence=shown, number=said.number, why=why)


def _is_in(wanted: Sequence[str], text: str) -> bool:
    """Say whether a quote stands in a text of any length, of which the words are cut only if it has them."""
    whole = plain(text)
    return all(word in whole for word in wanted) and has_words(wanted, tokens_of(text))


def _is_answer(wanted: Sequence[str], said: Said) -> bool:
    """Say whether a quote is all that the person answered to what Sage had said."""
    words = [token.word for token in tokens_of(said.text)]
    return bool(said.asked) and len(said.text) <= MAX_ANSWER and words == list(wanted)


def _fault(claim: Claim, asked: "_Asked", said: Said, *, is_answer: bool) -> Why:
    """Return why a sentence isn't enough for a claim; empty if it is."""
    if why := _spoils(asked, said):
        return why
    sentence, clauses = asked.sentence, asked.clauses
    days = days_said(sentence, spoken_on=said.day)
    proposed = days_said(said.asked, spoken_on=said.day) if is_answer else frozenset()
    if claim.due_date and claim.due_date not in days | proposed:
        return "date"
    is_moved = claim.purpose == "open" and claim.due_date is not None and asked.has("later")
    if clauses.is_negated and not is_moved:
        return "negated"
    if claim.purpose != "done" and clauses.is_reported:
        return "reported"
    if is_answer and _answers(claim, asked, said, days | proposed):
        return ""
    if clauses.is_hedged:
        return "hedged"
    if not _stands_for(claim.title, [*clauses.words, *(token.word for token in tokens_of(said.asked))]):
        return "title"
    if claim.purpose == "done":
        return "" if asked.has("done") and clauses.found is None else "not done"
    is_promised = clauses.is_promise(asked.message, said.day) and not clauses.is_to_somebody
    return "" if is_moved or (is_promised and claim.purpose != "dropped") else "no promise"


def _spoils(asked: "_Asked", said: Said) -> Why:
    """Return what makes a sentence no evidence, whatever it is about; empty for nothing."""
    if asked.has("harm") or asked.lists.has("last words", asked.message):
        return "harm"
    if find_danger(asked.sentence) or find_danger(said.text):
        return "harm"
    if asked.is_joke:
        return "joke"
    if _QUESTIONS & set(asked.sentence) or asked.clauses.is_asking:
        return "question"
    if asked.lists.has("pasted", asked.message) or asked.quoted.isupper():
        return "pasted"
    return "quotation" if (QUOTATION | _NOTES) & set(asked.sentence) else ""


def _answers(claim: Claim, asked: "_Asked", said: Said, days: Collection[date]) -> bool:
    """Say whether a whole answer agrees to a proposal in what Sage said: by a yes or by its day."""
    if asked.clauses.is_hedged and not asked.has("yes"):
        return False
    proposal = [token.word for token in tokens_of(said.asked)]
    is_proposed = claim.purpose != "new" or _shares_words(claim.title, proposal)
    agrees = said.is_tapped or asked.has("yes") or (claim.due_date is not None and claim.due_date in days)
    if claim.purpose == "done":
        agrees = asked.has("yes") or asked.has("done")
    return is_proposed and agrees


class _Asked:
    """What is asked of a sentence around a quote: its clauses, the words of its message, and its marks."""

    def __init__(self, said: Said, sentence: range, wanted: Sequence[str]) -> None:
        self.sentence = said.text[sentence.start : sentence.stop]
        tokens = tokens_of(self.sentence)
        at = next(places(wanted, [token.word for token in tokens]))
        quote = range(at, at + len(wanted))
        self.quoted = self.sentence[tokens[at].start : tokens[quote.stop - 1].end]
        self.lists = Lists(_WORDS, languages_of(_WORDS, said.text))
        self.clauses = Clauses(self.sentence, tokens, quote, self.lists)
        self.message = [token.word for token in tokens_of(said.text)]
        rest = sentence.start + tokens[quote.stop - 1].end
        self._rest = said.text[rest : sentence.stop + _ECHO]

    def has(self, group: str) -> bool:
        return self.lists.has(group, self.clauses.words)

    @property
    def is_joke(self) -> bool:
        """Say whether a sentence is absurd, mocks, or is laughed about; a laugh before it says little."""
        if self.lists.has("joke", self.message) or self.has("absurd"):
            return True
        if self.lists.length_at("mocks", self.clauses.words, 0):
            return True
        rest = plain(f" {self._rest} ").replace("\n", " ")
        laughs = bool(_SMILES & set(rest)) or any(f" {smiley} " in rest for smiley in _SMILEYS)
        laughs = laughs or self.lists.has("laughs", [token.word for token in tokens_of(rest)])
        return laughs and not self.lists.has("serious", self.message)


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
