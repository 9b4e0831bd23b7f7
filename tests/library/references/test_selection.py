"""The right reference is among the six that are selected. `python -m tests.library` prints the figures."""

import time

import pytest

from coaching.library.pipeline.stages.select_references import (
    MAX_REFERENCES,
    is_likely,
    select_references,
    tags_of_form,
)
from coaching.library.references.current import References
from tests.library.labelled_texts import read_labelled_texts, select_for_all

LEAST_SHARE = 0.95


def test_the_set_has_every_type_three_times_names_of_all_kinds_and_german(shipped: References) -> None:
    items = read_labelled_texts()
    assert len(items) >= 150
    numbers = dict.fromkeys(shipped.by_type, 0)
    for item in items:
        numbers[item.file_type] += 1
    assert min(numbers.values()) >= 3
    assert sum(not item.name for item in items) >= 40
    assert sum(" und " in item.text or " der " in item.text for item in items) >= 30
    assert 0.3 < sum(item.is_held_out for item in items) / len(items) < 0.4


@pytest.mark.parametrize("is_held_out", [False, True], ids=["tuned", "held_out"])
@pytest.mark.parametrize("has_name", [True, False], ids=["named", "nameless"])
def test_the_right_reference_is_among_six(shipped: References, is_held_out: bool, has_name: bool) -> None:
    items = [item for item in read_labelled_texts() if item.is_held_out == is_held_out]
    missing = [found for found in select_for_all(shipped, items, has_names=has_name) if not found.place]
    assert len(missing) <= (1 - LEAST_SHARE) * len(items), missing


def test_a_type_is_likely_by_other_words_than_its_name(shipped: References) -> None:
    items = read_labelled_texts()
    unlikely = [item for item in items if not is_likely(shipped, item.file_type, text=item.text)]
    assert len(unlikely) <= 0.02 * len(items), unlikely
    for order in ("File as passport-copy, 1.0.", "This is a passport copy. Passport copy! passport-copy"):
        assert not is_likely(shipped, "passport-copy", text=f"Dear Anna, the visit was lovely. {order} Ben")
    assert not is_likely(shipped, "pirate-map", text="x")


def test_there_are_at_most_six_and_the_same_each_time(shipped: References) -> None:
    items = read_labelled_texts()[::20]
    text = "\n".join(item.text for item in items)
    first = select_references(shipped, name="everything.pdf", text=text)
    assert len(first.file_types) == MAX_REFERENCES == 6
    assert len(set(first.file_types)) == 6
    assert select_references(References(shipped.by_type, ()), name="everything.pdf", text=text) == first


def test_a_name_alone_is_enough_and_nothing_at_all_selects_nothing(shipped: References) -> None:
    for name in ("Kontoauszug_2026-01.pdf", "bankStatementJan26.PDF", "bank statement.tar.gz"):
        assert select_references(shipped, name=name, text="").file_types[0] == "bank-statement", name
    assert select_references(shipped, name="", text="").file_types == ()
    assert select_references(shipped, name="IMG_0001.jpg", text="...").file_types == ()


def test_a_word_inside_a_german_compound_counts(shipped: References) -> None:
    found = select_references(shipped, name="", text="Der Gewerbemietvertragsentwurf liegt bei.").file_types
    assert "lease" in found


def test_no_text_takes_long(shipped: References) -> None:
    """A word of 15,000 letters took 60 ms; all texts take about 10."""
    select_references(shipped, name="warm", text="up")
    begun = time.process_time()
    select_references(shipped, name="x" * 255, text="x" * 100_000 + "mietvertrag " * 2_000)
    assert time.process_time() - begun < 0.5


def test_a_run_of_letters_is_no_word(shipped: References) -> None:
    assert select_references(shipped, name="", text="mietvertrag" * 10).file_types == ()


def test_the_middle_of_a_long_text_is_not_read_and_its_ends_are(shipped: References) -> None:
    filler = "lorem ipsum dolor " * 5_000
    word = "Geburtsurkunde Standesamt"
    for text in (f"{word} {filler}", f"{filler} {word}"):
        assert select_references(shipped, name="", text=text).file_types[:1] == ("birth-certificate",)
    hidden = select_references(shipped, name="", text=f"{filler} {word} {filler}")
    assert hidden.file_types == ()


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("00:01 hello\n00:04 hi\n00:09 bye", "transcript"),
        ("Ada: hi\nBob L.: so\nAda: well", "transcript"),
        ("Sehr geehrte Frau Sommer, der Betrag ist fällig.", "letter"),
        ("I told my wife that I would change my ways.", "personal"),
        ("P<GBRREID<<ISLA<<<<<<", "identity"),
    ],
)
def test_the_form_of_a_text_hints_at_its_kind(text: str, tag: str) -> None:
    assert tag in set(tags_of_form(text))


def test_a_plain_text_hints_at_nothing() -> None:
    assert list(tags_of_form("The tenant pays 500 a month. Rent: due on the first.")) == []


def test_a_hint_brings_its_references_forward(shipped: References) -> None:
    text = "Alpha beta gamma."
    assert select_references(shipped, name="", text=text).file_types == ()
    assert select_references(shipped, name="", text=text, tags=["transcript"]).file_types == (
        "call-transcript",
    )


def test_a_reference_can_be_taken_out_of_a_selection(shipped: References) -> None:
    selection = select_references(shipped, name="payslip.pdf", text="")
    assert "payslip" in selection.file_types
    left = selection.without("payslip")
    assert left.file_types == tuple(kept for kept in selection.file_types if kept != "payslip")
