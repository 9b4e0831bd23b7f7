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

from coaching.library.promise_weights import Weights, learnt_weights
from coaching.library.quote_context import QuoteContext, Said, Why
from coaching.library.spoken import (
    has_words,
    is_pasted,
    is_short,
    plain,
    shares_words,
    stands_for,
    tokens_of,
    widened,
)
from coaching.library.spoken_days import days_said
from coaching.safety.danger import find_danger

Purpose = Literal["new", "done", "dropped", "open"]
MAX_CHARACTERS = 1_500
"""A longer message was pasted."""
MAX_FOUND = 5
"""So many of the newest messages with a quote are weighed."""
MAX_ANSWER = 200
"""A longer message is more than an answer to a proposal."""
_QUESTIONS = frozenset("?¿？؟")


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
    context = QuoteContext(said, place, wanted)
    why = _fault(claim, context, said, weights, is_answer=is_answer)
    return Weighed(sentence=shown, number=said.number, why=why)


def _is_in(wanted: Sequence[str], text: str) -> bool:
    """Say whether a quote stands in a text of any length, of which the words are cut only if it has them."""
    whole = plain(text)
    return all(word in whole for word in wanted) and has_words(wanted, tokens_of(text))


def _is_answer(wanted: Sequence[str], said: Said) -> bool:
    """Say whether a quote is all that the person answered to what Sage had said."""
    words = [token.word for token in tokens_of(said.text)]
    return bool(said.asked) and len(said.text) <= MAX_ANSWER and words == list(wanted)


def _fault(claim: Claim, context: QuoteContext, said: Said, weights: Weights, *, is_answer: bool) -> Why:
    """Return why a sentence isn't enough for a claim; empty if it is."""
    if why := _spoils(context, said):
        return why
    days = context.days
    proposed = days_said(said.asked, spoken_on=said.day) if is_answer else frozenset()
    if claim.due_date and claim.due_date not in days | proposed:
        return "date"
    is_moved = claim.purpose == "open" and claim.due_date is not None and context.has("later")
    clauses, forms = context.clauses, context.forms
    is_abstention = claim.purpose == "new" and forms.is_abstention
    if ((clauses.is_negated and not is_abstention) or context.is_taken_back) and not is_moved:
        return "negated"
    is_habit = clauses.is_habit and not (forms.is_dose or forms.is_new_habit or forms.is_abstention)
    is_none = clauses.is_befalling or context.is_past or is_habit or clauses.is_request or forms.is_peril
    if claim.purpose == "new" and is_none:
        return "no promise"
    doubt = context.doubt
    if (
        is_answer
        and doubt in ("", "hedged", "no promise")
        and _answers(claim, context, said, days | proposed)
    ):
        return ""
    if not stands_for(
        claim.title, [*context.clauses.words, *(token.word for token in tokens_of(said.asked))]
    ):
        return "title"
    if claim.purpose == "done":
        return _undone(context, doubt)
    if is_moved or claim.purpose == "dropped":
        return "no promise" if claim.purpose == "dropped" or doubt not in ("", "no promise") else ""
    is_few = bool(doubt) and is_short([token.word for token in tokens_of(context.quoted)])
    is_certain = doubt in ("question", "reported") or is_few
    has_form = claim.purpose == "new" and context.has_form
    is_promise = not is_certain and (has_form or context.weighable(doubt).is_promise(weights))
    return "" if is_promise else doubt or "no promise"


def _undone(context: QuoteContext, doubt: Why) -> Why:
    """Return why a sentence doesn't say that something was done; others may say so, too."""
    if doubt not in ("", "reported", "no promise"):
        return doubt
    if context.clauses.is_hedged:
        return "hedged"
    return "" if context.has("done") and context.clauses.found is None else "not done"


def _spoils(context: QuoteContext, said: Said) -> Why:
    """Return what makes a sentence no evidence, whatever it is about; empty for nothing."""
    is_harm = context.lists.has_other("harm", context.clauses.words, than="no harm")
    if is_harm or context.lists.has("last words", context.message):
        return "harm"
    if find_danger(context.sentence) or find_danger(said.text):
        return "harm"
    if _QUESTIONS & set(context.sentence):
        return "question"
    if context.is_introduced or context.lists.has("pasted", context.message) or context.quoted.isupper():
        return "pasted"
    return "quotation" if context.is_quoted else ""


def _answers(claim: Claim, context: QuoteContext, said: Said, days: Collection[date]) -> bool:
    """Say whether a whole answer agrees to a proposal in what Sage said: by a yes or by its day."""
    if context.clauses.is_hedged and not context.has("yes"):
        return False
    proposal = [token.word for token in tokens_of(said.asked)]
    is_proposed = claim.purpose != "new" or shares_words(claim.title, proposal)
    agrees = said.is_tapped or context.has("yes") or (claim.due_date is not None and claim.due_date in days)
    if claim.purpose == "done":
        agrees = context.has("yes") or context.has("done")
    return is_proposed and agrees
