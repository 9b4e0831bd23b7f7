"""What speaks for a promise in a sentence, and what against it: where each sign stands decides. Pure.

A sentence is cut into clauses. A promise has a sign of the first person and the future (`strong`), or of the
present with a time, in the clause of the quote. A negation counts in that clause alone, up to a subordinate
one ("tell her that I can't"); a doubt, a condition, and others' speech count from the last "but" or "so" on.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from coaching.library.spoken import Token, marks_between
from coaching.library.spoken_days import is_day_word
from coaching.library.spoken_words import Lists

Sign = Literal["strong", "present"]
_MAX_ASIDE = 4
"""So many words after a clause are an aside: ", maybe", ", she says"."""
_MAX_BACK = 4
"""So many clauses before a quote may belong to it."""
_REACH = 3
"""Within so many words from a sign of the first person on stands its verb."""
_OWN_LABELS = ("lead", "firm", "when", "common")
"""What may stand before a colon and names nobody: "Tonight: …"."""
_MAX_PLAIN = 14
"""A longer message needs more than a time to make a plan of a few words: `gym at 7`."""


@dataclass(frozen=True, slots=True)
class Found:
    """A sign of the first person: its kind, and its words."""

    sign: Sign
    span: range


class Clauses:
    """A sentence around a quote: its words, where its clauses begin, and its signs."""

    def __init__(self, sentence: str, tokens: Sequence[Token], quote: range, lists: Lists) -> None:
        self.words = [token.word for token in tokens]
        self.quote = quote
        self._lists = lists
        self._sentence = sentence
        self._marks = marks_between(sentence, tokens)
        self._capitals = [sentence[token.start].isupper() for token in tokens]
        self._after_that = self._thats()
        self._starts = self._clause_starts()
        self.start, self.found = self._own_start()
        self.reset = self._reset()
        self.cut = self._cut()
        self.nearest = max(each for each in self._starts if each <= quote.start)

    def has(self, group: str, start: int, end: int) -> bool:
        return self._lists.has(group, self.words, start, end)

    @property
    def is_negated(self) -> bool:
        """Say whether a negation governs the quote: before it or behind the verb, in its own clause."""
        return (
            self._lists.length_at("retracts", self.words, self.cut) > 0
            or self._lists.has_other("negation", self.words[self.start : self.cut], than="no negation")
            or self.has("exclusion", self.start, self.quote.start)
            or self._is_negated_before_aside
        )

    @property
    def _is_negated_before_aside(self) -> bool:
        """Say whether a "not" without its verb stands before an aside: `I won't, come what may, sing`."""
        before = pairwise([at for at in self._starts if at <= self.nearest][-_MAX_BACK:])
        is_stated = self.found is not None and self.found.span.start >= self.nearest
        return not is_stated and any(self._marks[end] and self._lacks_verb(at, end) for at, end in before)

    def _lacks_verb(self, start: int, end: int) -> bool:
        """Say whether a negated clause of the person's own ends before its verb."""
        spans, signs = ([*self._lists.spans(each, self.words, start, end)] for each in ("negation", "strong"))
        is_own = bool(signs) or self.has("self", start, end)
        return is_own and bool(spans) and any(each.stop == end for each in (*spans, *signs))

    @property
    def is_hedged(self) -> bool:
        """Say whether a doubt, a wish or a condition governs the quote."""
        opener = self._lists.length_at("because", self.words, self.start)
        is_reason = opener > 0 and self.start + opener <= self.quote.stop
        is_doubted = self.has("hedge", self.reset, self.cut) or self._is_aside("hedge")
        return is_doubted or is_reason or self.is_conditional

    @property
    def is_conditional(self) -> bool:
        """Say whether the quote waits for something that may not come: `wenn die Kinder schlafen` will."""
        starts = (at for at in self._starts if self.reset <= at <= self.quote.start)
        if any(self._lists.length_at("if first", self.words, at) for at in starts):
            return True
        idioms = {at for span in self._lists.spans("no condition", self.words) for at in span}
        joins = self._lists.spans("joins", self.words, self.cut)  # ", and if it rains I'll …"
        idioms.update(each.stop for each in joins if not self._resets_at(each.start))
        return any(
            span.start not in idioms
            and not self.has("no condition", span.start - _REACH, span.stop)
            and not self.has("comes", span.stop, self._end_of(span.start))
            for span in self._lists.spans("if", self.words, self.reset)
        )

    @property
    def is_reported(self) -> bool:
        """Say whether somebody else's words, or a "that" which promises nothing, lead to the quote."""
        said = self.words[self.reset : self.quote.start + 1]
        if self._lists.has_other("reported", said, than="no reported"):
            return True
        if self.has("he says", self.quote.start, len(self.words)):
            return True
        if self.start in self._after_that:
            is_sworn = self.has("firm", self.reset, self.start)
            return not is_sworn or self.has("negation", self.reset, self.start)
        return self._is_named_source()

    @property
    def label(self) -> range:
        """Return the words before the last colon that stands before the quote, or in it; none without one."""
        colons = (at for at in range(self.quote.stop - 1, 0, -1) if ":" in self._marks[at])
        return range(next(colons, 0))

    @property
    def lead_in(self) -> str:
        """Return what leads to the sign, or else to the clause: a mark, a word that joins, or another."""
        at = self.found.span.start if self.found else self.start
        if at == 0 or self._marks[at]:
            return self._marks[at][:1] or "start"
        if at in self._after_that:
            return "that"
        return "join" if at in self._starts or self.after_lead(self.start) >= at else "word"

    @property
    def is_to_somebody(self) -> bool:
        """Say whether the clause speaks to somebody: a promise to Sage is hardly one of a step."""
        at = self.found.span.start if self.found else self.start
        return self.has("you", at, self.cut) or self.has("to you", max(self.start, at - 2), self.cut)

    @property
    def is_habit(self) -> bool:
        """Say whether the clause tells what the person does time and again."""
        return self.has("habit", self.start, self.cut) or self._is_aside("habit")

    @property
    def is_befalling(self) -> bool:
        """Say whether the clause tells of what happens to a person: `I'll miss her`, `I turn forty`."""
        return self.has("befalls", self.start, self.cut)

    @property
    def is_request(self) -> bool:
        """Say whether the clause or the quote asks Sage to do something: `remind me`, `frag mich`."""
        begins = (self.after_lead(self.start), self.quote.start)
        return any(self._lists.length_at("requests", self.words, at) > 0 for at in begins)

    @property
    def is_to_meet(self) -> bool:
        """Say whether the person goes to somebody who is named: `I'll join Harold`."""
        ends = [span.stop for span in self._lists.spans("meets", self.words)]
        return any(self._capitals[end] for end in ends if end < len(self.words))

    @property
    def is_asking(self) -> bool:
        return self.has("asks", self.reset, len(self.words))

    def is_promise(self, message: Sequence[str], *, is_timed: bool) -> bool:
        """Say whether the person will do what the quote says, by a sign of its own clause."""
        is_firm = self._lists.has("firm", message)
        if self.found is not None:
            return not self._is_of_another() and (self.found.sign == "strong" or is_timed or is_firm)
        if self.has("subject", self.start, self.cut):
            return False
        is_short = len(message) <= _MAX_PLAIN and self._lists.length_at("accepts", message, 0) > 0
        return is_timed and (is_firm or is_short)

    def _is_of_another(self) -> bool:
        """Say whether the quote begins with a verb of somebody else's, behind the sign."""
        is_behind = self.found is not None and self.found.span.start < self.quote.start
        return is_behind and self.has("subject", self.quote.start, self.quote.start + 1)

    def _thats(self) -> frozenset[int]:
        """Return where clauses begin that a "that" leads to: "he says that | I'll come"."""
        others = {at for span in self._lists.spans("other that", self.words) for at in span}
        spans = self._lists.spans("that", self.words)
        return frozenset(span.start + 1 for span in spans if span.start > 0 and span.start not in others)

    def _clause_starts(self) -> Sequence[int]:
        """Return where clauses begin: at signs, at words that join clauses, and after "that"."""
        starts = {0, *(at for at, mark in enumerate(self._marks) if mark), *self._after_that}
        starts.update(span.start for span in self._lists.spans("joins", self.words))
        return sorted(each for each in starts if each < len(self.words))

    def _own_start(self) -> tuple[int, Found | None]:
        """Return where the quote's clause begins, and its sign; without one, those before belong to it."""
        before = [each for each in self._starts if each <= self.quote.start][-_MAX_BACK:]
        for start in reversed(before):
            found = self._sign(start, self.quote.stop)
            is_whole = start in self._after_that or ":" in self._marks[start] or self._resets_at(start)
            if found or is_whole or self._has_own_subject(start):
                return start, found
        return before[0], None

    def _has_own_subject(self, start: int) -> bool:
        """Say whether others act in the clause, or it begins long before the quote: it stands for itself."""
        first = self.after_lead(start)
        return first < self.quote.start or self.has("subject", start, self.quote.stop)

    def _sign(self, start: int, end: int) -> Found | None:
        first = self.after_lead(start)
        if first < end:
            length = self._lists.length_at("opens", self.words, first)
            if length and not self._lists.length_at("not strong", self.words, first):
                return Found("strong", range(first, first + length))
            if not self._lists.length_at("strong", self.words, first) and self.is_verb(first, start):
                return Found("present", range(first, first + 1))
        for span in self._lists.spans("strong", self.words, start, end):
            if not self._lists.length_at("not strong", self.words, span.start):
                return Found("strong", span)
        for span in self._lists.spans("self", self.words, start, end):
            first = max(start, span.start - 1)
            if not self._is_idle(first + (self._end_of(first) == span.start), span.start + _REACH):
                return Found("present", span)
        led = (self.after_lead(at, at + _REACH) for at in range(start, end) if is_day_word(self.words[at]))
        verbs = (at for at in led if at < end and self.is_verb(at, start))  # "va bene domani scrivo"
        return next((Found("present", range(at, at + 1)) for at in verbs), None)

    def is_verb(self, at: int, start: int) -> bool:
        is_noun = at > start and self._lists.length_at("noun after", self.words, at - 1)
        is_verb = not is_noun and self._lists.length_at("verb", self.words, at) > 0
        return is_verb and not self._is_idle(at, at + 1)

    def _is_idle(self, start: int, end: int) -> bool:
        """Say whether what the person does there is no deed, or past: `I think`, `ich bin`, `tengo`."""
        return self.has("idle", start, min(end, self._end_of(start)))

    def _end_of(self, start: int) -> int:
        """Return where the clause ends in which a word stands."""
        after = bisect_right(self._starts, start)
        return self._starts[after] if after < len(self._starts) else len(self.words)

    def after_lead(self, start: int, end: int | None = None) -> int:
        """Return where a clause begins without its times, places and words like "ok" and "then"."""
        at, last = start, min(end or len(self.words), len(self.words))
        while at < last:
            if self._lists.length_at("prep", self.words, at):
                at += 1
                while at < len(self.words) and self._lists.length_at("article", self.words, at):
                    at += 1
                at += 1
            elif length := self._lists.length_at("lead", self.words, at):
                at += length
            elif is_day_word(self.words[at]) or self.words[at][:1].isdigit():
                at += 1
            else:
                break
        return min(at, len(self.words))

    def _resets_at(self, at: int) -> bool:
        return self._lists.length_at("resets", self.words, at) > 0

    def _reset(self) -> int:
        """Return where what counts for the quote begins: at the last "but" or "so" before it."""
        return max((at for at in self._starts if at <= self.start and self._resets_at(at)), default=0)

    def _cut(self) -> int:
        """Return where the quote's clause ends: at the next one, or where a subordinate clause begins."""
        after = max(self.found.span.stop if self.found else 0, self.quote.start + 1)
        last = len(self.words)
        ends = (each for each in self._starts if each >= after and (self._marks[each] or self._acts(each)))
        unders = (span.start for span in self._lists.spans("under", self.words, after))
        return min(next(ends, last), next(unders, last))

    def _acts(self, start: int) -> bool:
        """Say whether a clause after "and" has a doer, a "but" or a "not" of its own: else it goes on."""
        end = self._end_of(start)
        return (
            start in self._after_that
            or self._resets_at(start)
            or self._lists.length_at("negation", self.words, start + 1) > 0
            or self.has("subject", start, end)
            or self._sign(start, end) is not None
        )

    def _is_aside(self, group: str) -> bool:
        """Say whether a short clause after the quote's has such a word; what a "that" leads to hasn't."""
        starts = [each for each in self._starts if each >= self.cut and each not in self._after_that]
        sizes = pairwise([*starts, len(self.words)])
        return any(end - start <= _MAX_ASIDE and self.has(group, start, end) for start, end in sizes)

    def _is_named_source(self) -> bool:
        """Say whether the words before a colon name where the quote is from: a list, a song, `Jess:`."""
        colons = [at for at in range(1, self.quote.start + 1) if ":" in self._marks[at]]
        if not colons:
            return False
        if self.has("speaker", colons[-1] - 1, colons[-1]):
            return True
        is_name = colons == [1] and self._sentence.lstrip()[0].isupper()
        is_own = any(self._lists.length_at(group, self.words, 0) for group in _OWN_LABELS)
        return self.has("source", 0, colons[-1]) or (is_name and not is_own)
