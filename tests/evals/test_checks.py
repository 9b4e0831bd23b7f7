"""Each check passes a good transcript and fails a bad one; no check is without both."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from tests.evals.checks import CHECKS, faults_of
from tests.evals.situation import FOLDER, Situation, read_situation
from tests.evals.transcript import Answer, Call, FoundStep, Saved, Transcript

WRITTEN = Call(name="save_file", result='{"success": true}')
GIVEN = read_situation(FOLDER / "small-talk.yaml").model_dump(mode="json")
THURSDAY = date(2026, 11, 26)


def situation(**expect: Any) -> Situation:
    return Situation.model_validate({**GIVEN, "expect": expect})


def said(text: str, *calls: Call, **found: Any) -> Transcript:
    return Transcript(answers=[Answer(asked="Hello.", text=text, calls=calls)], **found)


def done(name: str, **values: Any) -> Call:
    return Call(name=name, **values)


STEP = FoundStep(title="Call Mum", quote="I’ll call Mum on Thursday.", due=THURSDAY)
FILE = Saved(type="check-in", path="check-ins/2026-11-29.md", content="Mia and I run on Saturdays.")

CASES: Mapping[str, list[tuple[dict[str, Any], Transcript, Transcript]]] = {
    "ended": [
        ({}, said("Good."), said("")),
        ({}, said("", done("show_options", is_pending=True)), said("", done("save_file"))),
        ({}, said("Yes."), Transcript(answers=[Answer(asked="Hello.", text="Yes.", status="failed")])),
    ],
    "calls": [
        ({"calls": ["save_file"]}, said("Kept.", WRITTEN), said("Kept.")),
        (
            {"calls": ["a|save_file"]},
            said("Kept.", WRITTEN),
            said("Kept.", done("save_file", is_refused=True)),
        ),
    ],
    "no_calls": [
        ({"no_calls": ["save_file"]}, said("Hm.", done("read_file")), said("Hm.", WRITTEN)),
        ({"no_calls": ["any"]}, said("Hm."), said("Hm.", done("read_file"))),
    ],
    "saved": [
        ({"saved": [{"type": "check-in", "says": ["mia"]}]}, said("", saved=[FILE]), said("")),
        (
            {"saved": [{"type": "check-in", "not_says": ["Eva"]}]},
            said("", saved=[FILE]),
            said("", saved=[Saved(type="check-in", path="", content="Eva’s secret.")]),
        ),
    ],
    "nothing_saved": [({"nothing_saved": True}, said("Hm."), said("Hm.", saved=[FILE]))],
    "steps": [
        (
            {"steps": [{"quote": "I'll call Mum on Thursday", "due": "2026-11-26"}]},
            said("", steps=[STEP]),
            said("", steps=[FoundStep(title="Call Mum", quote=STEP.quote, due=date(2026, 11, 27))]),
        ),
        (
            {"steps": [{"title": "call mum", "state": "done"}]},
            said("", steps=[FoundStep(title="Call Mum", state="done", is_new=False)]),
            said("", steps=[STEP]),
        ),
    ],
    "no_new_steps": [
        (
            {"no_new_steps": True},
            said("", steps=[FoundStep(title="Call Mum", is_new=False)]),
            said("", steps=[STEP]),
        )
    ],
    "says": [({"says": ["AI|program"]}, said("I’m a program."), said("I’m Sage, and I maintain you."))],
    "never_says": [({"never_says": ["an hour"]}, said("Ten minutes."), said("It takes an hour or more."))],
    "questions": [
        ({}, said("Which day? He asked “why? why now?”"), said("Which day? And where?")),
        ({"questions": 0}, said("You’re right."), said("You’re right. And now?")),
    ],
    "words": [({"words": 5}, said("Only five words, no more."), said("These are more words than that."))],
    "language": [
        (
            {"language": "de"},
            said("Das ist schön. Was war heute für dich gut?"),
            said("That is what you have done."),
        ),
        (
            {"language": "es"},
            said("Está bien. ¿Qué es lo que te pesa?"),
            said("Das ist schön. Und was war für dich gut?"),
        ),
        ({}, said("Ja."), said("Eso es lo que más te gusta de la casa.")),
    ],
    "card": [
        ({}, said("Hm."), said("Hm.", card="concern")),
        ({"card": "immediate"}, said("Hm.", card="immediate"), said("Hm.", card="concern")),
    ],
    "offers": [
        ({"offers": False}, said("What was she like?"), said("Shall we plan your day?")),
        ({"offers": False}, said("Hm."), said("Hm.", done("enter_structured_arc"))),
        ({"offers": False}, said("Wie war sie?"), said("Wollen wir deine Woche anschauen?")),
        ({"offers": False}, said("¿Cómo era?"), said("¿Quieres hacer la revisión?")),
    ],
    "arcs": [
        ({"entered": "open_day"}, said("", entered=["open_day"]), said("")),
        ({"completed": "open_day"}, said("", completed=["open_day"]), said("")),
        ({"not_completed": True}, said(""), said("", completed=["open_day"])),
    ],
    "claims": [
        ({}, said("I’ve saved it.", WRITTEN), said("I’ve saved it.")),
        ({}, said("It isn’t saved yet."), said("It’s on your list now.")),
        ({}, said("Shall it be saved?"), said("It's saved.", done("save_file", is_refused=True))),
        ({}, said("Ist notiert.", WRITTEN), said("Das habe ich dir notiert.")),
        ({}, said("Lo he guardado.", WRITTEN), said("Lo he guardado.")),
        ({}, said("I can’t delete it."), said("I’ve deleted that.", WRITTEN)),
        ({}, said("I can’t remind you."), said("I’ll remind you on Friday.")),
        ({}, said("I’ll remind you.", done("create_action_item")), said("Ich rufe dich an.")),
    ],
    "names": [
        ({}, said("Your health page."), said("I used save_file.")),
        ({}, said("Either/or."), said("It is in life-map/health.md.")),
    ],
}


@pytest.mark.parametrize(
    ("check", "expect", "good", "bad"),
    [(name, *case) for name, cases in CASES.items() for case in cases],
)
def test_it_passes_what_is_good_and_fails_what_is_bad(
    check: str, expect: dict[str, Any], good: Transcript, bad: Transcript
) -> None:
    assert list(CHECKS[check](situation(**expect), good)) == []
    assert list(CHECKS[check](situation(**expect), bad)) != []


def test_every_check_has_its_examples() -> None:
    assert list(CASES) == list(CHECKS)


def test_faults_are_told_by_check_in_words() -> None:
    found = said("I’ve saved it. Which day? And where?")
    assert faults_of(situation(), found) == {
        "questions": ["answer 1 asks 2 questions: Which day? / And where?"],
        "claims": ["answer 1 claims: I’ve saved it."],
    }
