"""What code can check of a transcript: one function a check, each returns what is wrong in plain words.

Words are compared by their letters only: case, apostrophes and hyphens don't matter.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from tests.evals.situation import SavedFile, Situation, StepEffect
from tests.evals.transcript import Call, FoundStep, Saved, Transcript
from tests.evals.words import (
    claims_in,
    inner_names_in,
    language_of,
    offers_in,
    questions_in,
    reminder_claims_in,
    removal_claims_in,
    words_in,
)

Check = Callable[[Situation, Transcript], Iterator[str]]

STEP_TOOLS = frozenset({"create_action_item", "resolve_action_item"})
SAVING_TOOLS = STEP_TOOLS | {"save_file", "create_knowledge_entry", "show_pulse_check"}
OFFER_TOOLS = frozenset({"enter_structured_arc", "show_pulse_check"})
REMOVING = re.compile(r"forget|delete|remove|withdraw|resolve|archive")
ENDED_WELL = frozenset({"completed", "awaiting_user", "superseded"})
_NOT_LETTERS = re.compile(r"[^\w]+")


def check_ended(_: Situation, found: Transcript) -> Iterator[str]:
    """Every answer came, with words or a question."""
    for number, answer in enumerate(found.answers, start=1):
        if answer.status not in ENDED_WELL:
            yield f"answer {number} ended as {answer.status}"
        elif not answer.text.strip() and not any(call.is_pending for call in answer.calls):
            yield f"answer {number} has no words"


def check_calls(situation: Situation, found: Transcript) -> Iterator[str]:
    """The tools that must be called were, and didn't fail. `a|b` is one or the other."""
    done = {call.name for call in found.calls if not call.is_refused}
    for names in situation.expect.calls:
        if not done & set(names.split("|")):
            yield f"didn't call {names}"


def check_no_calls(situation: Situation, found: Transcript) -> Iterator[str]:
    """No tool was called that must not be; `any` is every tool."""
    wrong = situation.expect.no_calls
    called = dict.fromkeys(call.name for call in found.calls)
    yield from (f"called {name}" for name in called if name in wrong or "any" in wrong)


def check_saved(situation: Situation, found: Transcript) -> Iterator[str]:
    """The files that must be written are there, and say what they must."""
    for wanted in situation.expect.saved:
        yield from _file_faults(wanted, [file for file in found.saved if file.type == wanted.type])


def _file_faults(wanted: SavedFile, files: Sequence[Saved]) -> Iterator[str]:
    if not files:
        yield f"saved no {wanted.type}"
        return
    text = files[-1].content
    yield from (f"the {wanted.type} doesn't say “{each}”" for each in wanted.says if not _says(text, each))
    yield from (f"the {wanted.type} says “{each}”" for each in wanted.not_says if _says(text, each))


def check_nothing_saved(situation: Situation, found: Transcript) -> Iterator[str]:
    """Where nothing may be written, no file was."""
    if situation.expect.nothing_saved:
        yield from (f"saved {file.path}" for file in found.saved)


def check_steps(situation: Situation, found: Transcript) -> Iterator[str]:
    """The steps stand in the list as they must: new, moved, done or dropped."""
    for wanted in situation.expect.steps:
        if not any(_is_step(wanted, step) for step in found.steps):
            there = "; ".join(f"{each.title}, {each.state}, {each.due}" for each in found.steps) or "none"
            yield f"no step {_in_words(wanted)}; there is: {there}"


def _is_step(wanted: StepEffect, step: FoundStep) -> bool:
    return (
        step.state == wanted.state
        and wanted.due in (None, step.due)
        and _says(step.title, wanted.title)
        and _says(step.quote, wanted.quote)
        and _says(step.outcome, wanted.outcome)
    )


def _in_words(wanted: StepEffect) -> str:
    given = wanted.model_dump(exclude_defaults=True, mode="json")
    return ", ".join(f"{name} “{value}”" for name, value in {**given, "state": wanted.state}.items())


def check_no_new_steps(situation: Situation, found: Transcript) -> Iterator[str]:
    """Where nothing was promised, no step was written."""
    if situation.expect.no_new_steps:
        yield from (f"wrote the step “{step.title}”" for step in found.steps if step.is_new)


def check_says(situation: Situation, found: Transcript) -> Iterator[str]:
    """The answers together say what they must. `a|b` is one or the other."""
    text = _all_words(found)
    yield from (f"doesn't say “{each}”" for each in situation.expect.says if not _says(text, each))


def check_never_says(situation: Situation, found: Transcript) -> Iterator[str]:
    """No answer says what it must not."""
    text = _all_words(found)
    yield from (f"says “{each}”" for each in situation.expect.never_says if _says(text, each))


def check_questions(situation: Situation, found: Transcript) -> Iterator[str]:
    """No answer asks more than one question, or as many as the situation allows."""
    most = situation.expect.questions
    for number, answer in enumerate(found.answers, start=1):
        asked = questions_in(answer.text)
        if len(asked) > most:
            yield f"answer {number} asks {len(asked)} questions: {' / '.join(asked)}"


def check_words(situation: Situation, found: Transcript) -> Iterator[str]:
    """No answer is longer than the situation bears."""
    for number, answer in enumerate(found.answers, start=1):
        if (length := len(words_in(answer.text))) > situation.expect.words:
            yield f"answer {number} has {length} words; {situation.expect.words} are enough"


def check_language(situation: Situation, found: Transcript) -> Iterator[str]:
    """Each answer is in the person's language, if it is long enough to tell."""
    for number, answer in enumerate(found.answers, start=1):
        language = language_of(answer.text)
        if language not in (None, situation.expect.language):
            yield f"answer {number} is in {language}, not in {situation.expect.language}"


def check_card(situation: Situation, found: Transcript) -> Iterator[str]:
    """The card with help lines came as it must, and where nobody is in danger, it didn't."""
    wanted = situation.expect.card
    if wanted not in ("any", found.card):
        yield f"the card was {found.card}, not {wanted}"


def check_offers(situation: Situation, found: Transcript) -> Iterator[str]:
    """Where offers rest, nothing is offered or begun."""
    if situation.expect.offers:
        return
    yield from (f"called {call.name}" for call in found.calls if call.name in OFFER_TOOLS)
    yield from (f"offers: {each}" for answer in found.answers for each in offers_in(answer.text))


def check_arcs(situation: Situation, found: Transcript) -> Iterator[str]:
    """The arc was entered and completed as it must."""
    expect = situation.expect
    if expect.entered and expect.entered not in found.entered:
        yield f"didn't enter {expect.entered}"
    if expect.completed and expect.completed not in found.completed:
        yield f"didn't complete {expect.completed}"
    if expect.not_completed and found.completed:
        yield f"completed {', '.join(found.completed)}"


def check_claims(_: Situation, found: Transcript) -> Iterator[str]:
    """Nothing is said to be written, deleted or promised that wasn't: a claim needs a call that did it."""
    done: list[Call] = []
    for number, answer in enumerate(found.answers, start=1):
        done += [call for call in answer.calls if not (call.is_refused or call.is_pending)]
        names = {call.name for call in done if 'success": false' not in call.result}
        if not names & SAVING_TOOLS:
            yield from (f"answer {number} claims: {each}" for each in claims_in(answer.text))
        if not any(REMOVING.search(name) for name in names):
            yield from (f"answer {number} claims: {each}" for each in removal_claims_in(answer.text))
        if not names & STEP_TOOLS:
            yield from (f"answer {number} promises: {each}" for each in reminder_claims_in(answer.text))


def check_names(_: Situation, found: Transcript) -> Iterator[str]:
    """No answer names tools, sections or paths."""
    for number, answer in enumerate(found.answers, start=1):
        yield from (f"answer {number} names {each}" for each in inner_names_in(answer.text))


CHECKS: Mapping[str, Check] = {
    "ended": check_ended,
    "calls": check_calls,
    "no_calls": check_no_calls,
    "saved": check_saved,
    "nothing_saved": check_nothing_saved,
    "steps": check_steps,
    "no_new_steps": check_no_new_steps,
    "says": check_says,
    "never_says": check_never_says,
    "questions": check_questions,
    "words": check_words,
    "language": check_language,
    "card": check_card,
    "offers": check_offers,
    "arcs": check_arcs,
    "claims": check_claims,
    "names": check_names,
}


def faults_of(situation: Situation, found: Transcript) -> Mapping[str, Sequence[str]]:
    """Return what is wrong, by check; empty if the situation is passed."""
    faults = {name: list(check(situation, found)) for name, check in CHECKS.items()}
    return {name: wrong for name, wrong in faults.items() if wrong}


def _all_words(found: Transcript) -> str:
    return "\n".join(answer.text for answer in found.answers)


def _says(text: str, phrase: str) -> bool:
    """Whether a text has a phrase, or one of several: whole words, whatever stands between them."""
    plain = f" {_plain(text)} "
    return any(f" {_plain(each)} " in plain for each in phrase.split("|")) or not phrase


def _plain(text: str) -> str:
    return _NOT_LETTERS.sub(" ", text.lower()).strip()
