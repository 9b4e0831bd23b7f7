"""PowerPoint presentations: a page for each slide, with tables, charts, diagrams and speaker notes."""

import io
from collections.abc import Iterable, Iterator
from functools import partial

from pptx.package import Package
from pptx.parts.presentation import PresentationPart
from pptx.parts.slide import SlidePart
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.slide import Slide, SlideLayout, SlideMaster

from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.office import checked_package, package_hints
from coaching.library.extractors.office_drawings import Drawings


def extract(data: bytes) -> Extracted:
    """Return the text of each slide. Raises `Unread`."""
    main = Package.open(io.BytesIO(checked_package(data))).main_document_part
    assert isinstance(main, PresentationPart), (
        "also of a template or a show, which `pptx.Presentation` refuses"
    )
    presentation = main.presentation
    reader = _Reader()
    pages = tuple("\n".join(reader.lines(slide)) for slide in presentation.slides)
    return Extracted(pages=pages, page_count=len(pages), hints=package_hints(presentation.core_properties))


class _Reader:
    """Reads one presentation: what all slides show from their master stands on the first one."""

    def __init__(self) -> None:
        self._drawings = Drawings()
        self._masters: set[str] = set()

    def lines(self, slide: Slide) -> Iterator[str]:
        title = slide.shapes.title
        for shape in _all_shapes(slide.shapes):
            is_title = title is not None and shape.shape_id == title.shape_id
            for line in _texts(shape):
                yield f"# {line}" if is_title else line
            if isinstance(shape, GraphicFrame):
                yield from self._drawings.lines(shape.element, partial(_part, slide.part))
        for master in (slide.slide_layout, slide.slide_layout.slide_master):
            yield from self._shown_by(master)
        if slide.has_notes_slide:
            frame = slide.notes_slide.notes_text_frame
            notes = " ".join(frame.text.split()) if frame is not None else ""
            if notes:
                yield f"Notes: {notes}"

    def _shown_by(self, master: SlideLayout | SlideMaster) -> Iterator[str]:
        """Yield the texts that slides show from a master. In placeholders it has only instructions."""
        if master.part.partname not in self._masters:
            self._masters.add(master.part.partname)
            for shape in _all_shapes(master.shapes):
                if not shape.is_placeholder:
                    yield from _texts(shape)


def _part(slide: SlidePart, relationship: str) -> tuple[str, bytes]:
    part = slide.related_part(relationship)
    return part.partname, part.blob


def _all_shapes(shapes: Iterable[BaseShape]) -> Iterator[BaseShape]:
    for shape in shapes:
        if isinstance(shape, GroupShape):
            yield from _all_shapes(shape.shapes)
        else:
            yield shape


def _texts(shape: BaseShape) -> Iterator[str]:
    if shape.has_text_frame:
        lines = shape.text_frame.text.splitlines()  # type: ignore[attr-defined]  # a shape with a text frame
        yield from (text for line in lines if (text := " ".join(line.split())))
    if isinstance(shape, GraphicFrame) and shape.has_table:
        for row in shape.table.rows:
            cells = [" ".join(cell.text.split()) for cell in row.cells]
            if any(cells):
                yield " | ".join(cells)
