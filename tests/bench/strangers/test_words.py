"""The measure forgives how programs cut and join words, and nothing else: each loss lowers the share."""

import random
from collections import Counter
from pathlib import Path

import pytest

from coaching.library.extractors.left_out import DELETED, EMBEDDED
from coaching.library.pipeline.extracted import Extraction
from tests.bench.strangers.__main__ import struck
from tests.bench.strangers.damage import DAMAGES, SHARE, damaged
from tests.bench.strangers.references import Reference, struck_words
from tests.bench.strangers.words import Letters, best_of, found_by, recall, words
from tests.library.extractors.word import paragraph, word


def share(reference: str, own: str) -> float | None:
    return recall(words(reference), Letters(own).words_of(reference))


def text(*, seed: int, count: int = 1_500) -> str:
    """Return lines of made-up words, of which some occur often."""
    chance = random.Random(seed)
    vocabulary = ["".join(chance.choices("abcdefghij", k=chance.randint(1, 9))) for _ in range(400)]
    chosen = chance.choices(vocabulary, weights=range(1, 401), k=count)
    lines = [" ".join(chosen[at : at + 10]) for at in range(0, count, 10)]
    return "\f".join("\n".join(lines[at : at + 10]) for at in range(0, len(lines), 10))


def cut(whole: str) -> str:
    """Return a text as programs return it that see spaces between letters, and none between words."""
    chance = random.Random(whole)
    spaced = (f"{each} " if each.isalpha() and chance.random() < 0.2 else each for each in whole)
    return "".join(each for each in spaced if each != " " or chance.random() < 0.8)


@pytest.mark.parametrize(
    ("reference", "own"),
    [
        ("T e x t box1", "Text box1"),
        ("WordArt1WordArt2", "WordArt1\nWordArt2"),
        ("lucene_hype\nrlink", "lucene_hyperlink"),
        ("MASTERTEXTBO\nX", "MASTERTEXTBOX"),
        ("an auto-\nmatic door", "an automatic door"),
        ("so\u00adft ﬁsh", "soft fish"),
        ("ere is some Ar", "Here is some Art"),
        ("© Smith Comp\nanies", "© Smith Companies"),
    ],
)
def test_words_that_are_cut_or_joined_are_found(reference: str, own: str) -> None:
    assert share(reference, own) == 1


@pytest.mark.parametrize(
    ("reference", "own", "found"),
    [
        ("rent rent rent", "rent", {"rent": 1}),
        ("car pet", "carpet", {"car": 1, "pet": 1}),
        ("carpet carpet", "car pet", {"carpet": 1}),
        ("art", "starting", {}),
        ("tart", "starting", {}),
        ("a b c", "abacus bicycle cement", {}),
        ("boxe\ns", "boxes boxes", {"boxe": 1, "s": 1}),
        ("boxe\ns s", "boxes", {"boxe": 1, "s": 1}),
        ("Here", "ere", {}),
        ("120 20", "1200", {}),
    ],
)
def test_each_letter_counts_once_and_a_part_of_a_word_isnt_one(
    reference: str, own: str, found: dict[str, int]
) -> None:
    assert Letters(own).words_of(reference) == Counter(found)


@pytest.mark.parametrize("what", DAMAGES)
@pytest.mark.parametrize("seed", range(3))
def test_the_measure_notices_words_lines_and_pages_that_are_lost(what: str, seed: int) -> None:
    whole = text(seed=seed)
    lost = damaged(whole, what)
    left = len(lost.split()) / len(whole.split())
    assert left <= 1 - SHARE + 0.05
    for reference in (whole, cut(whole)):
        found = share(reference, lost)
        assert found is not None
        assert found <= left + 0.02, "what is lost isn't found in other words"
    assert (share(cut(whole), whole) or 0) > 0.98
    assert (share(cut(whole), text(seed=seed + 100)) or 0) < 0.5, "another text isn't this one"


@pytest.mark.parametrize("what", DAMAGES)
def test_losses_are_noticed_also_if_programs_cut_differently(what: str) -> None:
    whole = text(seed=7)
    readings = [cut(whole), cut(f"{whole} "), whole]
    lost = damaged(whole, what)
    found = recall(words(whole), best_of(words(whole), found_by(lost, readings)))
    assert found is not None
    assert found <= len(lost.split()) / len(whole.split()) + 0.02
    assert best_of(words("carpet carpet car"), found_by("carpet", ["car pet", "carpet"])) == {"carpet": 1}


@pytest.mark.parametrize(
    ("note", "left_out"),
    [
        ("", ""),
        (f"{DELETED}\n1.", "no rent"),
        (f"{DELETED}\n2.", "nor deposit"),
        (f"{EMBEDDED}\n1–2.", ""),
        (f"{EMBEDDED}\n1.\n{DELETED}\n1–3.", "no rent\nnor deposit"),
    ],
)
def test_deleted_words_may_be_missing_only_on_pages_that_are_named(
    tmp_path: Path, note: str, left_out: str
) -> None:
    deleted = "<w:del><w:r><w:delText>%s</w:delText></w:r></w:del>"
    pages = '<w:br w:type="page"/></w:r><w:r><w:lastRenderedPageBreak/>'
    body = paragraph("The lease", after=deleted % "no rent") + paragraph(
        "is", after=pages + deleted % "nor deposit"
    )
    file = tmp_path / "lease.docx"
    file.write_bytes(word(body))
    expected = Reference(struck=tuple(struck_words(file)))
    assert struck(expected, Extraction(outcome="text", sentence="", note=note)) == left_out
