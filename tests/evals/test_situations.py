"""The situations' files: complete, readable, and each `best` answer passes the checks of words."""

import inspect

import pytest

from coaching.tools import CHAT_TOOLS
from tests.evals.checks import (
    CHECKS,
    check_language,
    check_names,
    check_never_says,
    check_offers,
    check_questions,
    check_says,
    check_words,
)
from tests.evals.situation import FOLDER, Expected, Sage, Situation, read_situation, read_situations
from tests.evals.transcript import Answer, Transcript

PLANNED_TOOLS = {"resolve_action_item"}
"""Tools of situations that were written before them."""
OF_WORDS = (
    check_language, check_names, check_never_says, check_offers, check_questions, check_says, check_words,
)  # fmt: skip
GROUPS = {
    "approaches", "danger", "days", "decisions", "documents", "first conversation", "grief", "how it talks",
    "languages", "life map", "memory", "next steps", "questions about Sage", "weekly check-in",
}  # fmt: skip
MAX_LINES = 50
"""A file is understood in ten seconds."""


@pytest.fixture(params=sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def situation(request: pytest.FixtureRequest) -> Situation:
    return read_situation(request.param)


def test_there_are_at_least_sixty_in_all_groups() -> None:
    situations = read_situations()
    assert len(situations) >= 60
    assert {each.group for each in situations} == GROUPS


def test_a_file_is_short_and_names_tools_that_exist(situation: Situation) -> None:
    assert len((FOLDER / f"{situation.name}.yaml").read_text().splitlines()) <= MAX_LINES
    expect = situation.expect
    named = {name for names in (*expect.calls, *expect.no_calls) for name in names.split("|")} - {"any"}
    assert named <= {*CHAT_TOOLS.names(), *PLANNED_TOOLS}


def test_the_best_answer_passes_the_checks_of_its_words(situation: Situation) -> None:
    found = Transcript(answers=[Answer(asked="", text=situation.best)])
    # What the answers before it say isn't in the file.
    checks = [
        check for check in OF_WORDS if check is not check_says or "them" not in _answered(situation)[1:]
    ]
    assert not [fault for check in checks for fault in check(situation, found)]


def _answered(situation: Situation) -> list[str]:
    """Return the kinds of the lines that the model answers."""
    lines = situation.talk
    last = max((place for place, line in enumerate(lines) if isinstance(line, Sage)), default=-1)
    return ["them" for _ in lines[last + 1 :]]


def test_every_expectation_is_some_checks() -> None:
    source = "".join(inspect.getsource(check) for check in CHECKS.values())
    assert [name for name in Expected.model_fields if f"expect.{name}" not in source] == []


def test_unknown_names_and_mistakes_are_refused() -> None:
    with pytest.raises(LookupError, match="no-such-thing"):
        read_situations(["grief", "no-such-thing"])
    given = read_situation(FOLDER / "small-talk.yaml").model_dump(mode="json")
    Situation.model_validate(given)
    for mistake in (
        {"expect": {"forbids": ["save_file"]}},
        {"talk": [{"them": "Hello."}, {"sage": "Hello."}]},
        {"talk": ["opening"]},
    ):
        with pytest.raises(ValueError, match="1 validation error"):
            Situation.model_validate({**given, **mistake})
