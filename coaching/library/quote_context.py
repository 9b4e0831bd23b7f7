"""The sentence around a quote: its clauses, the words of its message, and its marks. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from coaching.library.promise_forms import PromiseForms
from coaching.library.promise_weights import Weighable
from coaching.library.spoken import QUOTATION, places, plain, tokens_of
from coaching.library.spoken_days import days_said
from coaching.library.spoken_signs import Clauses
from coaching.library.spoken_words import Lists, languages_of

Why = Literal[
    "", "not said", "short", "pasted", "question", "quotation", "negated", "reported", "hedged", "joke",
    "harm", "no promise", "not done", "date", "title",
]  # fmt: skip
"""Why a call waits for a yes; empty if it doesn't."""

_WORDS = "promises.txt"
_NOTES = frozenset("🎵🎶♪♫")
_SMILES = frozenset("😂🤣😜😝😛🙃😆😉😏🤪💀🤡")
_SMILEYS = (";)", ";-)", ":p", ":-p", ":d", ":-d")
_PLAIN = frozenset("'’\"“”,.-_\u0301\u200d\ufe0f")
"""Signs that say nothing of what a message is."""
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


class QuoteContext:
    """The sentence around a quote: its clauses, the words of its message, and its marks."""

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
        self.forms = PromiseForms(self.clauses, self.lists, self._before, self._after)
        self._rest = said.text[sentence.start + tokens[quote.stop - 1].end : sentence.stop + _ECHO]

    def has(self, group: str) -> bool:
        return self.lists.has(group, self.clauses.words)

    @property
    def has_form(self) -> bool:
        """Say whether the form of the sentence makes it a promise, without a doubt of the signs."""
        forms = self.forms
        is_one = forms.is_abstention or forms.is_dose
        is_one = is_one or (self._is_timed and (forms.is_start or forms.is_joining))
        return is_one and self.doubt in ("", "no promise") and not self.weighable("").is_copied

    @property
    def is_quoted(self) -> bool:
        """Say whether the quote is in a song or within quotation marks, which may enclose other words."""
        sides = (self._said_before, self.sentence[self._begin :])
        is_open = any(sum(each in QUOTATION for each in side) % 2 for side in sides)
        return is_open or bool(_NOTES & set(self.sentence))

    @property
    def is_past(self) -> bool:
        """Say whether the clause tells of what was done: `oggi ho chiamato`, `hoy limpié`."""
        found, clauses = self.clauses.found, self.clauses
        if found and found.sign == "strong":
            return False
        words = clauses.words[clauses.start if found else clauses.nearest : clauses.cut]
        if self.lists.has_other("past", words, than="no past"):
            return True
        is_done = self.lists.has("has", words) and not self.lists.has("until", words)
        return is_done and self.lists.has_other("participle", words, than="no participle")

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
        is_firm = not self.clauses.is_to_somebody or self.lists.has("firm", self.message)
        return "" if is_promised and is_firm else "no promise"

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
        praised = self.lists.length_at("praises", self._after, 0)
        laughs = laughs or praised == max(1, len(self._after))
        return laughs and not self.lists.has("serious", self.message)
