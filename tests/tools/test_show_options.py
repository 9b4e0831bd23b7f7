"""`show_options`: valid questions and valid answers."""

import json
from typing import Any

import pytest

from coaching.engine.errors import ToolInputError
from coaching.tools.show_options import SHOW_OPTIONS
from tests.tools.committing_context import CommittingContext

MOODS = {"options": [{"label": "Fine"}, {"label": "Not so good", "value": "low"}]}


def answer(value: object, given: dict[str, Any] = MOODS) -> Any:
    assert SHOW_OPTIONS.answer is not None
    return SHOW_OPTIONS.answer(CommittingContext(user_id=1), SHOW_OPTIONS.parse(json.dumps(given)), value)


@pytest.mark.parametrize(("value", "label"), [("Fine", "Fine"), ("low", "Not so good")])
def test_the_result_says_which_one_was_chosen(value: str, label: str) -> None:
    answered = answer(value)
    assert json.loads(answered.result.content) == {"chosen": label, "value": value}
    assert not answered.result.is_error
    assert answered.value == value


@pytest.mark.parametrize("value", ["", " ", None, 1, True, [], ["Fine"], {"value": "Fine"}])
def test_an_empty_answer_is_refused_with_a_sentence(value: object) -> None:
    with pytest.raises(ToolInputError, match="choose one"):
        answer(value)


@pytest.mark.parametrize("value", ["fine", "Fine ", "Not so good", "Great", "x" * 100_000, "\x00", "\ud800"])
def test_an_answer_that_was_not_offered_is_refused_with_a_sentence(value: str) -> None:
    with pytest.raises(ToolInputError, match="isn't one of the answers"):
        answer(value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "at least 2"),
        ([{"label": "Only"}], "at least 2"),
        ([{"label": str(number)} for number in range(7)], "at most 6"),
        ([{"label": ""}, {"label": "b"}], "at least 1"),
        ([{"label": "  "}, {"label": "b"}], "pattern"),
        ([{"label": "x" * 101}, {"label": "b"}], "at most 100"),
        ([{"label": "a"}, {"label": "a"}], "same labels"),
        ([{"label": "a", "value": "c"}, {"label": "b", "value": "c"}], "same values"),
        ([{"label": "a", "value": "b"}, {"label": "b"}], "same values"),
        ([{"label": "a", "hint": "c"}, {"label": "b"}], "hint"),
        ([{"label": "a\x00"}, {"label": "b"}], "NUL"),
        (["a", "b"], "valid dictionary"),
    ],
)
def test_options_that_are_indistinguishable_or_unshowable_are_refused(options: list[Any], told: str) -> None:
    with pytest.raises(ToolInputError, match=told):
        SHOW_OPTIONS.parse(json.dumps({"options": options}))
