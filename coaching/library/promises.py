"""The rule for next steps that rest on what a person said: is it a promise, and does the quote say it?

Pure. The whole sentence decides that a quote stands in, with what is said around it, in six languages.
Whatever isn't plainly a promise of the person's own waits for their yes: a wish, a condition, a negation, a
question, somebody else's words, a joke, a plan of harm. A wrong yes costs more than a question. Some of it is
certain: a negation in the clause, a question mark, quotation marks, copied text, danger. For the rest count
the signs that `spoken_signs` reads by `words/promises.txt`, and what `promise_weights` has learnt.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from coaching.library.promise_weights import Weighable, Weights, learnt_weights
from coaching.library.spoken import (
    QUOTATION,
    has_words,
    is_pasted,
    is_short,
    places,
    plain,
    shares_words,
    stands_for,
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
_PLAIN = frozenset("'’\"“”,.-_\u0301\u200d\ufe0f")
"""Signs that say nothing of what a message is."""
_CERTAIN: Collection[Why] = ("joke", "question", "reported")
"""Doubts of the signs that no weight lifts."""
_BACK = 6
"""So many words after a sentence may take it back: "No, better not"."""
_FEW, _ENDS = 3, ".,;!…"
"""So many words after it, a no with such a sign, or the last word, takes it back: "Well, no, I can't"."""
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


def weigh(claim: Claim, said: Sequence[Said], weights: Weights | None = None) -> Weighed:
    """Weigh a claim by what the person said, the newest first; by the learnt weights, without others."""
    weights = learnt_weights() if weights is None else weights
    wanted = [token.word for token in tokens_of(claim.quote)]
    if not wanted:
        return Weighed(why="not said")
    found: list[Weighed] = []
    for each in said:
        weighed = _in_one(claim, wanted, each, weights)
        if not weighed.why:
            return weighed
        found += [weighed] if weighed.why != "not said" else []
        if len(found) == MAX_FOUND:
            break
    return found[0] if found else Weighed(why="not said")


def weighable_of(quote: str, said: Said) -> Weighable | None:
    """Return what is weighed of a quote, however certain it is; None if it is quoted or wasn't said."""
    wanted = [token.word for token in tokens_of(quote)]
    found = widened(wanted, said.text)
    if found is None or isinstance(found, str):
        return None
    asked = _Asked(said, range(found[0].start, found[-1].end), wanted)
    return asked.weighable(asked.doubt)


def _in_one(claim: Claim, wanted: Sequence[str], said: Said, weights: Weights) -> Weighed:
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
    asked = _Asked(said, place, wanted)
    why = _fault(claim, asked, said, weights, is_answer=is_answer)
    return Weighed(sentence=shown, number=said.number, why=why)


def _is_in(wanted: Sequence[str], text: str) -> bool:
    """Say whether a quote stands in a text of any length, of which the words are cut only if it has them."""
    whole = plain(text)
    return all(word in whole for word in wanted) and has_words(wanted, tokens_of(text))


def _is_answer(wanted: Sequence[str], said: Said) -> bool:
    """Say whether a quote is all that the person answered to what Sage had said."""
    words = [token.word for token in tokens_of(said.text)]
    return bool(said.asked) and len(said.text) <= MAX_ANSWER and words == list(wanted)


def _fault(claim: Claim, asked: "_Asked", said: Said, weights: Weights, *, is_answer: bool) -> Why:
    """Return why a sentence isn't enough for a claim; empty if it is."""
    if why := _spoils(asked, said):
        return why
    days = asked.days
    proposed = days_said(said.asked, spoken_on=said.day) if is_answer else frozenset()
    if claim.due_date and claim.due_date not in days | proposed:
        return "date"
    is_moved = claim.purpose == "open" and claim.due_date is not None and asked.has("later")
    if (asked.clauses.is_negated or asked.is_taken_back) and not is_moved:
        return "negated"
    clauses = asked.clauses
    if claim.purpose == "new" and (clauses.is_befalling or clauses.is_habit or clauses.is_request):
        return "no promise"
    doubt = asked.doubt
    if is_answer and doubt in ("", "hedged", "no promise") and _answers(claim, asked, said, days | proposed):
        return ""
    if not stands_for(claim.title, [*asked.clauses.words, *(token.word for token in tokens_of(said.asked))]):
        return "title"
    if claim.purpose == "done":
        return _undone(asked, doubt)
    if is_moved or claim.purpose == "dropped":
        return "no promise" if claim.purpose == "dropped" or doubt not in ("", "no promise") else ""
    is_certain = doubt in _CERTAIN or (doubt == "hedged" and clauses.is_conditional)
    is_certain = is_certain or (bool(doubt) and is_short([token.word for token in tokens_of(asked.quoted)]))
    is_promise = not is_certain and asked.weighable(doubt).is_promise(weights)
    return "" if is_promise else doubt or "no promise"


def _undone(asked: "_Asked", doubt: Why) -> Why:
    """Return why a sentence doesn't say that something was done; others may say so, too."""
    if doubt not in ("", "reported", "no promise"):
        return doubt
    if asked.clauses.is_hedged:
        return "hedged"
    return "" if asked.has("done") and asked.clauses.found is None else "not done"


def _spoils(asked: "_Asked", said: Said) -> Why:
    """Return what makes a sentence no evidence, whatever it is about; empty for nothing."""
    is_harm = asked.lists.has_other("harm", asked.clauses.words, than="no harm")
    if is_harm or asked.lists.has("last words", asked.message):
        return "harm"
    if find_danger(asked.sentence) or find_danger(said.text):
        return "harm"
    if _QUESTIONS & set(asked.sentence):
        return "question"
    if asked.is_introduced or asked.lists.has("pasted", asked.message) or asked.quoted.isupper():
        return "pasted"
    return "quotation" if asked.is_quoted else ""


def _answers(claim: Claim, asked: "_Asked", said: Said, days: Collection[date]) -> bool:
    """Say whether a whole answer agrees to a proposal in what Sage said: by a yes or by its day."""
    if asked.clauses.is_hedged and not asked.has("yes"):
        return False
    proposal = [token.word for token in tokens_of(said.asked)]
    is_proposed = claim.purpose != "new" or shares_words(claim.title, proposal)
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
        self._begin = tokens[at].start
        self.quoted = self.sentence[self._begin : tokens[quote.stop - 1].end]
        self.lists = Lists(_WORDS, languages_of(_WORDS, said.text))
        self.clauses = Clauses(self.sentence, tokens, quote, self.lists)
        self.message = [token.word for token in tokens_of(said.text)]
        self.days = days_said(self.sentence, spoken_on=said.day)
        self._said_before = said.text[: sentence.start + self._begin]
        self._above = said.text[: sentence.start].rstrip()
        self._before = [token.word for token in tokens_of(self._above)]
        after = tokens_of(said.text, sentence.stop)
        self._after = [token.word for token in after]
        self._alone = [each.word for each in after[:_FEW] if said.text[each.end : each.end + 1] in _ENDS]
        self._marks = [each for each in said.text if not (each.isalnum() or each.isspace() or each in _PLAIN)]
        self._last = "".join(each for each in self.sentence.rstrip()[-1:] if not each.isalnum())
        self._rest = said.text[sentence.start + tokens[quote.stop - 1].end : sentence.stop + _ECHO]

    def has(self, group: str) -> bool:
        return self.lists.has(group, self.clauses.words)

    @property
    def is_quoted(self) -> bool:
        """Say whether the quote is in a song or within quotation marks, which may enclose other words."""
        sides = (self._said_before, self.sentence[self._begin :])
        is_open = any(sum(each in QUOTATION for each in side) % 2 for side in sides)
        return is_open or bool(_NOTES & set(self.sentence))

    @property
    def is_introduced(self) -> bool:
        """Say whether the line before names where the sentence is from: `I got this by mail:`."""
        above = self._above.rpartition("\n")[2] if self._above.endswith(":") else ""
        return self.lists.has("source", [token.word for token in tokens_of(above)])

    @property
    def is_taken_back(self) -> bool:
        """Say whether the person changes their mind right after the quote's clause or its sentence."""
        rest = self.clauses.words[self.clauses.cut :]
        is_back = any(self.lists.has("takes back", words[:_BACK]) for words in (rest, self._after))
        is_no = self.lists.has("no", self._alone)
        return is_back or is_no or self.lists.has("withdraws", [*rest, *self._after])

    @property
    def doubt(self) -> Why:
        """Why the signs make the sentence no promise; empty if they do."""
        if self._is_joke:
            return "joke"
        if self.clauses.is_asking:
            return "question"
        if self.clauses.is_reported:
            return "reported"
        if self.clauses.is_hedged:
            return "hedged"
        is_promised = self.clauses.is_promise(self.message, is_timed=self._is_timed)
        is_vow = not self.clauses.is_to_somebody or self.lists.has("firm", self.message)
        return "" if is_promised and is_vow else "no promise"

    def weighable(self, doubt: Why) -> Weighable:
        return Weighable(
            clauses=self.clauses, lists=self.lists, before=self._before, after=self._after, marks=self._marks,
            last=self._last, is_timed=self._is_timed, doubt=doubt,
        )  # fmt: skip

    @property
    def _is_timed(self) -> bool:
        return bool(self.days) or self.has("when")

    @property
    def _is_joke(self) -> bool:
        """Say whether a sentence is absurd, mocks, or is laughed about; a laugh before it says little."""
        is_absurd = self.lists.has_other("joke", self.message, than="no joke") or self.has("absurd")
        if is_absurd or self.lists.length_at("mocks", self.clauses.words, 0):
            return True
        rest = plain(f" {self._rest} ").replace("\n", " ")
        laughs = bool(_SMILES & set(rest)) or any(f" {smiley} " in rest for smiley in _SMILEYS)
        laughs = laughs or self.lists.has("laughs", [token.word for token in tokens_of(rest)])
        return laughs and not self.lists.has("serious", self.message)
