"""What slides show besides the text of their own shapes is read: charts, and the texts of their master."""

import io

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml.ns import qn
from pptx.presentation import Presentation as Slideshow
from pptx.util import Inches

from coaching.library.extractors import pptx
from coaching.library.extractors.left_out import EMBEDDED
from coaching.library.extractors.pptx import MAX_REPEATED
from coaching.library.pipeline.extracted import Extraction
from coaching.library.pipeline.extraction import extract_now
from tests.library.extractors import metafiles


def read(data: bytes) -> Extraction:
    return extract_now(io.BytesIO(data), size=len(data), name="upload")


def saved(slideshow: Slideshow) -> bytes:
    written = io.BytesIO()
    slideshow.save(written)
    return written.getvalue()


def test_charts_and_the_texts_of_a_master_are_read() -> None:
    slideshow = Presentation()
    layout = slideshow.slide_layouts[6]
    box = layout.slide_master.shapes._spTree
    slides = [slideshow.slides.add_slide(layout) for _ in range(2)]
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["North", "South"]
    data.add_series("Rent", (1200.5, 900))  # type: ignore[no-untyped-call]
    place = [Inches(1)] * 4
    slides[1].shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data)
    shown = slides[0].shapes.add_textbox(*place)
    shown.text_frame.text = "Smith & Co, confidential"
    box.append(shown._element)
    first, second = read(saved(slideshow)).pages
    assert first == "Smith & Co, confidential"
    assert second.split("\n") == ["| Rent", "North | 1200.5", "South | 900", "Smith & Co, confidential"]


def test_a_long_text_of_a_master_stands_on_the_first_slide_that_shows_it() -> None:
    slideshow = Presentation()
    layout = slideshow.slide_layouts[6]
    slides = [slideshow.slides.add_slide(layout) for _ in range(3)]
    slides[0]._element.set("showMasterSp", "0")
    shown = slides[0].shapes.add_textbox(*[Inches(1)] * 4)
    shown.text_frame.text = "Terms " * MAX_REPEATED
    layout.slide_master.shapes._spTree.append(shown._element)
    assert [bool(page) for page in read(saved(slideshow)).pages] == [False, True, False]


def test_of_many_slides_only_some_repeat_what_they_show_of_a_master(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pptx, "MAX_REPEATED_TOGETHER", 2 * MAX_REPEATED)
    slideshow = Presentation()
    layout = slideshow.slide_layouts[6]
    shown = slideshow.slides.add_slide(layout).shapes.add_textbox(*[Inches(1)] * 4)
    shown.text_frame.text = "x" * MAX_REPEATED
    layout.slide_master.shapes._spTree.append(shown._element)
    for _ in range(4):
        slideshow.slides.add_slide(layout)
    pages = pptx.extract(saved(slideshow)).pages
    assert [bool(page) for page in pages] == [True, True, True, False, False]


@pytest.mark.parametrize("kind", ["emf", "wmf"])
def test_of_an_embedded_file_the_words_on_its_picture_are_read_and_the_slide_is_named(kind: str) -> None:
    slideshow = Presentation()
    slides = [slideshow.slides.add_slide(slideshow.slide_layouts[6]) for _ in range(2)]
    slides[1].shapes.add_ole_object(io.BytesIO(b"x"), "Excel.Sheet.12", Inches(1), Inches(1))
    drawing = getattr(metafiles, kind)("Rents", "1,200")
    part = Part(PackURI(f"/ppt/media/icon.{kind}"), f"image/x-{kind}", slides[1].part.package, drawing)
    blip = next(slides[1].element.iter(qn("a:blip")))
    blip.set(qn("r:embed"), slides[1].part.relate_to(part, RELATIONSHIP_TYPE.IMAGE))
    found = read(saved(slideshow))
    assert found.pages[1].split("\n") == ["Rents 1,200"]
    assert found.note == f"{EMBEDDED}\n2."
