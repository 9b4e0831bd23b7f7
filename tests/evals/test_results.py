"""The page of results, which is made from the stored runs."""

from pathlib import Path

import pytest

from tests.evals.judge import Judged
from tests.evals.results import END, FOLDER, PAGE, START, Row, Run, read_runs, row_of, with_tables, write_run
from tests.evals.situation import FOLDER as SITUATIONS
from tests.evals.situation import read_situation
from tests.evals.transcript import Answer, Spent, Transcript

SITUATION = read_situation(SITUATIONS / "small-talk.yaml")


def run(*rows: Row, **values: object) -> Run:
    return Run(model="claude-x", day="2026-11-28", seconds=90.0, rows=rows, **values)  # type: ignore[arg-type]


def test_the_page_shows_the_stored_runs() -> None:
    assert PAGE.read_text() == with_tables(PAGE.read_text(), read_runs(FOLDER)), "write it anew with --write"


def test_a_run_is_stored_and_read_as_it_was(tmp_path: Path) -> None:
    found = Transcript(
        answers=[Answer(asked="It snowed!", text="Which day? Where?", seconds=1.5)],
        spent=Spent(micro_usd=2_500_000),
    )
    judged = Judged(met=frozenset({1}), points=2, better="best", agreed=2)
    row = row_of(SITUATION, found, judged)
    stored = run(row, judge="claude-y", judge_micro_usd=None)
    write_run(stored, tmp_path)
    (read,) = read_runs(tmp_path)
    assert (read.rows[0].faults, read.passed, read.micro_usd) == (row.faults, 0, 2_500_000)
    page = (tmp_path / "README.md").read_text()
    assert (
        "| `claude-x` | 0 of 1 | 1 of 2 (`claude-y`, unknown, 1 situations) | 0, 0, 1 | 67% | $2.50 |" in page
    )
    assert "questions 1/2" in page


def test_other_words_of_the_page_stay() -> None:
    page = with_tables(f"Before\n{START}\nold\n{END}\nAfter\n", [run(Row(name="a", group="b"))])
    assert page.startswith("Before\n")
    assert page.endswith("\nAfter\n")
    assert "old" not in page
    assert "no judge" in page


@pytest.mark.parametrize("cost", [None, 0])
def test_an_unknown_price_is_never_zero(cost: int | None) -> None:
    assert run(Row(name="a", group="b", micro_usd=cost)).micro_usd == cost


def test_a_run_that_broke_off_has_failed() -> None:
    assert not row_of(SITUATION, None).is_passed


def test_a_run_without_an_answer_is_told_from_one_that_went_badly() -> None:
    silent = Row(name="a", group="b", faults={"ended": ["answer 1 ended as failed"]})
    assert not run(silent).is_answered
    assert run(silent, Row(name="c", group="b", faults={"length": ["300 words"]})).is_answered
