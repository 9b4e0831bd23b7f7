"""Promises that are known by their form: not to do a thing from a day on, a dose, a start, a place taken.

By a negation a sentence is no promise, but "no more crisps from Monday" is one; after "deal" an amount for
each day is one without a verb. What such sentences say is listed in `words/promise_forms.txt`. Nothing here
lifts a doubt, and what a person needs, medicine first, isn't given up at once. Pure.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import chain

from coaching.library.promise_weights import MEANINGS
from coaching.library.spoken_days import is_day_word
from coaching.library.spoken_signs import Clauses
from coaching.library.spoken_words import Lists, meanings_in, read_lists

_WORDS = "promise_forms.txt"
_GRAVE = {"farewell", "weapon", "secret", "dead", "relapse", "sarcasm", "odd"}
"""A message that speaks of these holds no such promise."""
_HARMFUL = {"drink", "vice", "feats", "starve"}
"""Nothing to take a dose of."""
_STARVE = "starve"
_EVERYDAY = {"thing", "deed"}
_MAX_UNSURE = 7
"""A sentence of another language than its words show has so many words at most: `no crisps from Monday`."""
_MAX_UNIT = 3
"""So many words after an amount's begin stands its unit: "half an hour", "1 und eine halbe Stunde"."""
_MAX_DOSE = 12
"""Words."""
_REACH = 3
"""Within so many words after a "not" stands its verb."""
_NEXT = 6
"""So many words after the sentence may tell whose words it is."""


class PromiseForms:
    """A sentence around a quote, with the words before and after it, of which the form may be a promise's."""

    def __init__(self, clauses: Clauses, lists: Lists, before: Sequence[str], after: Sequence[str]) -> None:
        self._clauses = clauses
        self._lists = lists
        self._own = _lists_for(clauses.words, lists.languages)
        self._before = before
        self._after = after
        self._words = clauses.words
        self._end = self._end_of_aside()

    @cached_property
    def is_abstention(self) -> bool:
        """Say whether the person won't do a thing from a time on, or until one: `no crisps until Easter`."""
        names, begins = self._has("given up"), self._has("begins")
        is_bare = self._own.length_at("none", self._words, self._first) > 0
        is_for_now = self._has("ends") or (is_bare and self._has("since or from"))
        if self._end < len(self._words) and (is_bare or not begins):
            return False  # what follows tells why: "no coffee until Monday, the machine is broken"
        if not (begins or is_for_now) or self._is_unfit or not self._is_merely_negated:
            return False
        if is_bare and names:
            return True
        is_own = self._clauses.found is not None or self._negates_verb
        is_limited = names or (begins and self._has("hours"))
        return is_own and is_limited and not self._is_without_choice

    @cached_property
    def is_dose(self) -> bool:
        """Say whether the person agrees and names an amount for each time: `deal, two litres a day`."""
        words = [*self._before, *self._words]
        at = self._after_agreement(words)
        first = at - len(self._before)
        if not at or first < self._clauses.quote.start or len(self._words) - first > _MAX_DOSE:
            return False
        is_amount = self._own.length_at("count", words, at) and self._own.has(
            "unit", words, at + 1, at + 1 + _MAX_UNIT
        )
        is_alone = not any(self._lists.has(group, words, at) for group in ("subject", "negation"))
        is_alone = is_alone and not self._own.has("endured", words, at)
        is_healthy = not self._is_unfit and not self._spoken & _HARMFUL
        return bool(is_amount) and self._own.has("each", words, at) and is_alone and is_healthy

    @cached_property
    def is_start(self) -> bool:
        """Say whether the person has decided to start or to stop something that they can do without."""
        is_own = not self._lists.has("negation", self._words, self._clauses.reset)
        return is_own and (self._decides("starts") or self._decides("stops")) and not self._is_unfit

    @cached_property
    def is_peril(self) -> bool:
        """Say whether the person has decided to stop what they need: a medicine, or "everything"."""
        return self._decides("stops") and self._own.has("medicine", self._words, self._clauses.reset)

    def _decides(self, group: str) -> bool:
        spans = self._own.spans("decided", self._words, self._clauses.reset)
        decided = next(spans, None)
        return decided is not None and self._own.has(group, self._words, decided.stop)

    @cached_property
    def is_joining(self) -> bool:
        """Say whether the person says that they take part: `count me in for Saturday`."""
        joins = self._own.has("joins in", self._words, self._clauses.start, self._clauses.cut)
        is_everyday = not self._spoken & _HARMFUL and bool(self._spoken & _EVERYDAY)
        return joins and is_everyday and not self._is_unfit

    @cached_property
    def is_new_habit(self) -> bool:
        """Say whether a weekly habit is to begin: `from next week I call on Sundays`."""
        spans = self._lists.spans("habit", self._words, self._clauses.start, self._clauses.cut)
        is_weekly = all(any(is_day_word(self._words[at]) for at in span) for span in spans)
        return is_weekly and self._clauses.found is not None and self._has("begins")

    def _has(self, group: str) -> bool:
        """Say whether a phrase stands between the last "but" and the end of the quote's clause."""
        return self._own.has(group, self._words, self._clauses.reset, self._end)

    def _end_of_aside(self) -> int:
        """Return where the quote's clause ends, with a time that follows: `no sweets, starting tomorrow`."""
        cut = self._clauses.cut
        ends = (self._own.length_at(group, self._words, cut) for group in ("begins", "ends"))
        return cut + max(ends)

    @cached_property
    def _first(self) -> int:
        """Return where the quote's clause begins without its times and words like "ok"."""
        at, last = self._clauses.start, -1
        while at != last:
            last = at
            times = (
                self._own.length_at(group, self._words, at) for group in ("begins", "ends", "since or from")
            )
            at += max(times)
            if not self._own.length_at("none", self._words, at):
                at = self._clauses.after_lead(at, at + 1)
        return at

    @cached_property
    def _negations(self) -> Sequence[range]:
        """Return where a plain "no" or "not" stands in the clause."""
        groups = ("negation", "none")
        spans = (
            self._own.spans(each, self._words, self._clauses.start, self._clauses.cut) for each in groups
        )
        return list(chain.from_iterable(spans))

    @property
    def _is_merely_negated(self) -> bool:
        """Say whether all that negates the clause is a plain "no" or "not"."""
        start = self._clauses.start
        negated = chain.from_iterable(self._lists.spans("negation", self._words, start, self._clauses.cut))
        is_left_out = self._lists.has("exclusion", self._words, start, self._clauses.quote.start)
        plain = set(chain.from_iterable(self._negations))
        return bool(plain) and plain.issuperset(negated) and not is_left_out

    @property
    def _is_without_choice(self) -> bool:
        """Say whether what is negated is nothing to promise: `I'm not working until Monday`."""
        begins, ends = [each.start for each in self._negations], [each.stop for each in self._negations]
        if self._clauses.found:
            begins.append(self._clauses.found.span.start - 1)
        return self._own.has("no choice", self._words, min(begins), max(ends) + 1)

    @property
    def _negates_verb(self) -> bool:
        """Say whether a verb of the first person follows the "not": `desde mañana no fumo`."""
        ends = [span.stop for span in self._negations]
        verbs = ((self._clauses.after_lead(end, end + _REACH), end) for end in ends)
        return any(self._clauses.is_verb(at, end) for at, end in verbs)

    @cached_property
    def _is_unfit(self) -> bool:
        """Say whether others act, or the person would go without what they need."""
        found = self._clauses.found
        doers = (
            range(self._first, self._end) if found is None else range(found.span.stop, found.span.stop + 1)
        )
        is_of_others = self._lists.has("subject", self._words, doers.start, doers.stop)
        if is_of_others or self._clauses.is_to_somebody or self._spoken & _GRAVE:
            return True
        if self._lists.has("reported", self._after[:_NEXT]) or self._has("medicine"):
            return True
        is_part = self._has("hours") or self._has("given up")
        return not is_part and (self._has("needs") or _STARVE in self._spoken)

    @cached_property
    def _spoken(self) -> frozenset[str]:
        """What the message speaks of, but for the words that give its form."""
        groups = ("begins", "ends", "negation", "none", "count")
        form = {at for group in groups for span in self._own.spans(group, self._words) for at in span}
        own = self._meanings_of(self._words)
        around = (*self._meanings_of(self._before), *self._meanings_of(self._after))
        said = (*(each for at, each in enumerate(own) if at not in form), *around)
        return frozenset(chain.from_iterable(said))

    def _meanings_of(self, words: Sequence[str]) -> Sequence[Sequence[str]]:
        return meanings_in(words, MEANINGS, self._own.languages)

    def _after_agreement(self, words: Sequence[str]) -> int:
        """Return where the words end that agree, with which the message begins; 0 if they don't bind."""
        at, binds = 0, False
        while at < len(words) and (length := self._own.length_at("agrees", words, at)):
            binds = binds or self._own.length_at("binds", words, at) > 0
            at += length
        return at if binds else 0


def _lists_for(words: Sequence[str], languages: Sequence[str]) -> Lists:
    """Return the lists of a text's languages; of another that its time shows, if the text is short."""
    lists = Lists(_WORDS, languages)
    if len(words) <= _MAX_UNSURE and not _is_timed(lists, words):
        others = (Lists(_WORDS, [language]) for language in read_lists(_WORDS))
        return next((each for each in others if _is_timed(each, words)), lists)
    return lists


def _is_timed(lists: Lists, words: Sequence[str]) -> bool:
    return any(lists.has(group, words) for group in ("begins", "ends"))
