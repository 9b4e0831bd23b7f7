"""What slides show besides the text of their own shapes is read: charts, and the texts of their master."""

import io

from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from coaching.library.pipeline.extracted import Extraction
from coaching.library.pipeline.extraction import extract_now


def read(data: bytes) -> Extraction:
    return extract_now(io.BytesIO(data), size=len(data), name="upload")


def test_charts_and_the_texts_of_a_master_are_read() -> None:
    presentation = Presentation()
    layout = presentation.slide_layouts[6]
    box = layout.slide_master.shapes._spTree
    slides = [presentation.slides.add_slide(layout) for _ in range(2)]
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["North", "South"]
    data.add_series("Rent", (1200.5, 900))  # type: ignore[no-untyped-call]
    place = [Inches(1)] * 4
    slides[1].shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data)
    shown = slides[0].shapes.add_textbox(*place)
    shown.text_frame.text = "Smith & Co, confidential"
    box.append(shown._element)
    written = io.BytesIO()
    presentation.save(written)
    first, second = read(written.getvalue()).pages
    assert first == "Smith & Co, confidential"
    assert second.split("\n") == ["| Rent", "North | 1200.5", "South | 900"]
