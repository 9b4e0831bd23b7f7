"""What people typed into a PDF's form or wrote next to its text is in the text of its page."""

import io

import pytest

from coaching.library.extractors.left_out import STAMPS
from coaching.library.extractors.pdf_stamps import MAX_ANNOTATIONS, MAX_CHARACTERS, MAX_LETTERS, MAX_STAMPS
from coaching.library.pipeline.extracted import Extraction
from coaching.library.pipeline.extraction import extract_now
from tests.library.extractors import files, forms, hostile
from tests.library.extractors.forms import annotation, pdf_with_annotations, pdf_with_xfa
from tests.library.extractors.hostile_forms import tiff


def read(data: bytes) -> Extraction:
    return extract_now(io.BytesIO(data), size=len(data), name="upload")


def test_a_filled_form_has_its_values_on_their_pages() -> None:
    found = read(forms.form(name="Mia Groß", income="42,000.50", is_married=True))
    first, second = found.pages
    assert first.endswith("\n\nYour name: Mia Groß\n[x] Married\nTax class: IV")
    assert second.endswith("\n\nincome: 42,000.50\nState: Bavaria")
    assert "4711" not in found.text, "a password"
    assert (found.picture_pages, found.sentence) == ((), "")


def test_a_blank_form_has_its_text_alone() -> None:
    found = read(forms.form())
    assert found.text == "\n".join(forms.TEXT) + "\fPage two of the income tax return"
    assert found.filled == ""


def test_copies_of_a_form_are_told_apart_by_their_values() -> None:
    filled = [read(forms.form(name=name, income="1")).filled for name in ("Mia", "Mia", "Ben")]
    assert filled[0] == filled[1] != ""
    assert filled[0] != filled[2] != ""


@pytest.mark.parametrize(
    ("kind", "more", "line"),
    [
        ("Text", "/T (Ann)", "Comment (Ann): Too high?"),
        ("Highlight", "/QuadPoints [50 710 99 710 50 690 99 690]", "Comment: Too high?"),
        ("Stamp", "", "Comment: Too high?"),
        ("FreeText", "/DA (/Helv 12 Tf)", "Too high?"),
        ("Text", "/F 2", ""),
        ("Popup", "", ""),
    ],
)
def test_comments_stand_below_the_text_unless_they_are_hidden(kind: str, more: str, line: str) -> None:
    found = read(pdf_with_annotations(annotation(kind, "Too high?", more=more)))
    assert found.text == "\n\n".join(filter(None, ("A lease of ten years", line)))
    assert bool(found.filled) == (kind == "FreeText"), "a comment makes no other form of it"


@pytest.mark.parametrize(
    ("annotation", "shown"),
    [
        ("/Subtype /Stamp", "PAID 3 May 2026"),
        ("/Subtype /Stamp /F 2", ""),
        ("/Subtype /Widget /FT /Sig /T (s)", "PAID 3 May 2026"),
        ("/Subtype /Widget /FT /Btn /Ff 65536 /T (b)", "PAID 3 May 2026"),
        ("/Subtype /Widget /FT /Tx /T (t) /V (1200)", "t: 1200"),
        ("/Subtype /Link", ""),
    ],
)
def test_stamps_signatures_and_buttons_have_the_words_that_they_show(annotation: str, shown: str) -> None:
    found = read(forms.pdf_with_shown(annotation))
    assert found.text == "\n\n".join(filter(None, ("A lease of ten years", shown)))


def test_of_many_or_long_stamps_some_or_none_are_read() -> None:
    stamps = ["/Subtype /Stamp"] * MAX_STAMPS
    found = read(forms.pdf_with_shown(*stamps, stamps[0]))
    assert (found.text, found.note) == ("A lease of ten years", f"{STAMPS}\n1.")
    links = forms.pdf_with_shown(stamps[0], *["/Subtype /Link"] * MAX_ANNOTATIONS)
    assert read(links).note == f"{STAMPS}\n1."
    assert read(forms.pdf_with_shown(*["/Subtype /Link"] * (MAX_ANNOTATIONS + 1))).note == ""
    for letters, most in ((1_000, MAX_CHARACTERS), (9_000, 2_000)):
        many = forms.pdf_with_shown(*stamps, drawn=b"BT /F 12 Tf (%s) Tj ET" % (b"x" * letters))
        text = read(many).text
        assert text.startswith("A lease of ten years\n\nx")
        assert most / 2 < len(text) < most + 50


def test_a_stamp_on_each_page_of_a_long_text_is_read() -> None:
    """The pages together have more letters than stamps may have."""
    found = read(forms.pdf_with_stamped_pages(100, MAX_LETTERS // 90))
    assert found.page_count == 100
    assert all(page.endswith("\n\nPAID") for page in found.pages)
    assert sum(map(len, found.pages)) > MAX_LETTERS
    assert found.note == ""


@pytest.mark.slow
@pytest.mark.parametrize("size", [b"12", b"0.02"])
def test_stamps_that_refer_to_long_drawings_are_read_up_to_a_limit_and_named(size: bytes) -> None:
    """Letters of the first size reach beyond the page, which shows only some of them."""
    found = read(forms.pdf_with_long_stamps(150, b"BT /F %s Tf (%s) Tj ET" % (size, b"abcdefghi" * 1_000)))
    assert found.text.startswith("A lease of ten years\n\nabc")
    assert found.note == f"{STAMPS}\n1."


def test_of_a_stamp_that_draws_itself_the_page_is_read() -> None:
    assert read(forms.pdf_with_shown("/Subtype /Stamp", drawn=b"/A Do " * 100)).text == "A lease of ten years"


def test_data_of_an_xfa_form_stands_on_its_first_page() -> None:
    found = read(pdf_with_xfa(forms.DATASETS.encode()))
    assert found.text.endswith("loaded it\n\nName: Mia Groß\nStreet: 12 High Street")
    assert found.filled


def test_data_with_a_document_type_is_left_out() -> None:
    typed = '<!DOCTYPE d [<!ENTITY x "y">]>' + forms.DATASETS
    assert "Mia" not in read(pdf_with_xfa(typed.encode())).text


def test_pages_that_are_pictures_are_named() -> None:
    assert read(hostile.scanned_pdf()).picture_pages == (1, 2, 3)
    assert read(hostile.scanned_pdf(strips=40)).picture_pages == (1, 2, 3)
    assert read(files.pdf([["A lease of ten years"], []])).picture_pages == ()
    assert read(hostile.scanned_pdf(share=0.04)).picture_pages == ()  # a logo


def test_a_page_that_one_image_covers_is_a_picture_despite_its_stamp() -> None:
    found = read(forms.mixed())
    assert found.outcome == "text"
    assert found.picture_pages == (2, 3)
    assert found.pages[1] == "Scanned on 3 May 2026"


def test_each_image_of_a_tiff_is_a_page() -> None:
    found = read(tiff((600, 800), (600, 800), (60, 80)))
    assert (found.page_count, found.picture_pages) == (3, (1, 2, 3))
