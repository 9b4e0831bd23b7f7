"""PowerPoint presentations: a page for each slide, with tables, charts, diagrams and speaker notes.

What slides show of their layout and master stands on each of them, as people see it; if it is long, only on
the first.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from pptx.oxml.ns import qn
from pptx.package import Package
from pptx.parts.presentation import PresentationPart
from pptx.parts.slide import SlidePart
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.slide import Slide, SlideLayout, SlideMaster

from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.left_out import EMBEDDED, pages_note
from coaching.library.extractors.office import checked_package, package_hints
from coaching.library.extractors.office_drawings import Drawings

MAX_REPEATED = 300
"""Characters of a master that are repeated on each slide."""
MAX_REPEATED_TOGETHER = 100_000
"""On all slides of a presentation. After that, each text is repeated once at most."""
_OBJECT, _EMBED = qn("p:oleObj"), qn("p:embed")
_SHOWS_MASTER = "showMasterSp"


def extract(data: bytes) -> Extracted:
    """Return the text of each slide. Raises `Unread`."""
    main = Package.open(io.BytesIO(checked_package(data))).main_document_part
    assert isinstance(main, PresentationPart), (
        "also of a template or a show, which `pptx.Presentation` refuses"
    )
    presentation = main.presentation
    reader = _Reader()
    slides = list(presentation.slides)
    pages = tuple("\n".join(reader.lines(slide)) for slide in slides)
    return Extracted(
        pages=pages,
        page_count=len(pages),
        hints=package_hints(presentation.core_properties),
        note=pages_note(EMBEDDED, [number for number, slide in enumerate(slides, 1) if _embeds(slide)]),
    )


class _Reader:
    """Reads the slides of one presentation."""

    def __init__(self) -> None:
        self._drawings = Drawings()
        self._masters: dict[str, list[str]] = {}
        self._left_repeated = MAX_REPEATED_TOGETHER

    def lines(self, slide: Slide) -> Iterator[str]:
        title = slide.shapes.title
        for shape in _all_shapes(slide.shapes):
            is_title = title is not None and shape.shape_id == title.shape_id
            for line in _texts(shape):
                yield f"# {line}" if is_title else line
            yield from self._drawings.lines(shape.element, partial(_part, slide.part))
        layout = slide.slide_layout
        if _shows_master(slide):
            yield from self._shown_by(layout)
            yield from self._shown_by(layout.slide_master) if _shows_master(layout) else ()
        if slide.has_notes_slide:
            frame = slide.notes_slide.notes_text_frame
            notes = " ".join(frame.text.split()) if frame is not None else ""
            if notes:
                yield f"Notes: {notes}"

    def _shown_by(self, master: SlideLayout | SlideMaster) -> Sequence[str]:
        """Return the texts that slides show from a master. In placeholders it has only instructions."""
        name = master.part.partname
        if name not in self._masters:
            shapes = (shape for shape in _all_shapes(master.shapes) if not shape.is_placeholder)
            self._masters[name] = [line for shape in shapes for line in _texts(shape)]
        lines = self._masters[name]
        size = sum(map(len, lines))
        if size > min(MAX_REPEATED, self._left_repeated):
            self._masters[name] = []
        else:
            self._left_repeated -= size
        return lines


def _shows_master(shown: Slide | SlideLayout) -> bool:
    return shown.element.get(_SHOWS_MASTER, "1") not in ("0", "false")


def _embeds(slide: Slide) -> bool:
    return any(each.find(_EMBED) is not None for each in slide.element.iter(_OBJECT))


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
