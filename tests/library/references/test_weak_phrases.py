"""The practice model files nothing on one weak phrase. `python -m tests.library` prints the figures."""

import pytest

from coaching.library.pipeline.confidence import is_unsure
from coaching.library.references.current import References
from tests.library.labelled_texts import FOLDER, read_labelled_texts
from tests.library.practised import judge_all, verdict_on

MAX_WRONG = 0.04
"""The share of texts that may be filed under a wrong type."""
LEAST_RIGHT = 0.4
"""The share that is filed under its own type; the rest is asked about."""

NEIGHBOURS = read_labelled_texts(FOLDER.parent / "neighbours")
"""Texts with one word of another type: an invoice with an IBAN, a pay slip that names an account."""


def test_a_word_that_many_kinds_of_document_have_files_none(shipped: References) -> None:
    judged = judge_all(shipped, NEIGHBOURS)
    assert len(judged) == 12
    assert [each for each in judged if each.is_filed and not each.is_right] == []


@pytest.mark.parametrize(
    ("file_type", "text", "name"),
    [
        ("bank-statement", "Kontoauszug Nr. 3\n1.3. Miete -900,00", ""),
        ("bank-statement", "1.3. Miete -900,00", "Kontoauszug_2026-03.txt"),
        ("tenancy-agreement", "Wohnraummietvertrag\nFrau Berg mietet von Herrn Tal.", ""),
    ],
)
def test_one_phrase_in_the_title_or_the_name_is_enough(
    shipped: References, file_type: str, text: str, name: str
) -> None:
    verdict = verdict_on(shipped, text, name=name)
    assert (verdict.file_type, is_unsure(verdict)) == (file_type, False)


@pytest.mark.parametrize("is_held_out", [False, True], ids=["tuned", "held_out"])
@pytest.mark.parametrize("has_name", [True, False], ids=["named", "nameless"])
def test_few_labelled_texts_are_filed_wrongly(shipped: References, is_held_out: bool, has_name: bool) -> None:
    items = [item for item in read_labelled_texts() if item.is_held_out == is_held_out]
    judged = judge_all(shipped, items, has_names=has_name)
    wrong = [
        (each.item.file_type, each.verdict.why) for each in judged if each.is_filed and not each.is_right
    ]
    assert len(wrong) <= MAX_WRONG * len(items), wrong
    assert sum(each.is_filed and each.is_right for each in judged) >= LEAST_RIGHT * len(items)
