"""What stamps, signatures and buttons of a PDF's page show: words that belong neither to it nor to a field.

PDFium reads a page's words only from its content, so what they show is made part of a copy of the page.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing

import pypdfium2
import pypdfium2.raw as pdfium

MAX_STAMPS = 200
"""Of a document. Those of a page that has more than are left aren't read."""
MAX_BATCH = 16
"""Stamps of a page that are read together: more with large drawings take too much memory."""
MAX_LETTERS = 200_000
"""Of what stamps of a document draw, and of their pages as often as these are read again."""
MAX_ANNOTATIONS = 500
"""Of a page with more, none are read. It is named if any of the first ones would be."""
MAX_CHARACTERS = 5_000
"""Of the words on a page."""
MAX_DRAWN = 200_000
"""Bytes of what draws them in a document, two for each character. The rest isn't read."""

_HIDDEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_FIELDS = (pdfium.FPDF_FORMFIELD_PUSHBUTTON, pdfium.FPDF_FORMFIELD_SIGNATURE)
_EMPTY = 2
"""Bytes of a text without characters."""


class Stamps:
    """Reads the pages of one document, up to `MAX_STAMPS` of all kinds and `MAX_DRAWN`."""

    def __init__(self, document: pypdfium2.PdfDocument, form: pdfium.FPDF_FORMHANDLE | None) -> None:
        self._document = document
        self._form = form
        self._left = MAX_STAMPS
        self._left_drawn = MAX_DRAWN
        self._left_letters = MAX_LETTERS
        self._unread: set[int] = set()

    def on(self, page: pypdfium2.PdfPage, number: int, text: str) -> str:
        """Return what they show on a page, whose own text is `text`. What can't be told apart is unread."""
        count = pdfium.FPDFPage_GetAnnotCount(page)
        sizes = [self._drawn_by(page, place) for place in range(min(count, MAX_ANNOTATIONS))]
        wanted = [place for place, size in enumerate(sizes) if size > _EMPTY]
        if not wanted:
            return ""
        if len(wanted) > self._left or count > MAX_ANNOTATIONS:
            self._unread.add(number)
            return ""
        self._left -= len(wanted)
        said = "\n".join(
            filter(None, self._shown(number, self._with_room(number, wanted, sizes), text, count))
        )
        if len(said) > MAX_CHARACTERS:
            self._unread.add(number)
        return said[:MAX_CHARACTERS]

    def unread(self) -> Sequence[int]:
        """Return the pages on which some exceeded a limit or couldn't be told apart from the page's text."""
        return sorted(self._unread)

    def _with_room(self, number: int, wanted: Iterable[int], sizes: Sequence[int]) -> Iterator[int]:
        """Yield those places of a page whose drawings are within `MAX_DRAWN`."""
        for place in wanted:
            if sizes[place] > self._left_drawn:
                self._unread.add(number)
            else:
                self._left_drawn -= sizes[place]
                yield place

    def _shown(self, number: int, places: Iterable[int], text: str, count: int) -> Iterator[str]:
        """Yield what batches of the annotations on a page show."""
        letters_shown = 0
        for batch_number, batch in enumerate(_batches(list(places))):
            if self._left_letters <= 0 or letters_shown >= MAX_CHARACTERS:
                self._unread.add(number)
                return
            try:
                whole, letters = _flattened(self._document, number, batch, count)
            except (pypdfium2.PdfiumError, _NotFlattened):
                self._unread.add(number)
                return
            # Any page is read twice. Only reading it again and again takes too much.
            self._left_letters -= max(0, letters - len(text)) + len(text) * bool(batch_number)
            if whole.startswith(text):
                letters_shown += len(whole) - len(text)
                yield whole[len(text) :].strip()
            else:
                self._unread.add(number)

    def _drawn_by(self, page: pypdfium2.PdfPage, place: int) -> int:
        """Return how many bytes of instructions draw an annotation; 0 if it isn't one to read."""
        annotation = pdfium.FPDFPage_GetAnnot(page, place)
        if not annotation:
            return 0
        try:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            is_one = kind == pdfium.FPDF_ANNOT_STAMP
            if kind == pdfium.FPDF_ANNOT_WIDGET and self._form:
                is_one = pdfium.FPDFAnnot_GetFormFieldType(self._form, annotation) in _FIELDS
            if not is_one or pdfium.FPDFAnnot_GetFlags(annotation) & _HIDDEN:
                return 0
            # Counting its objects would take exponential time where it draws itself.
            size = pdfium.FPDFAnnot_GetAP(annotation, pdfium.FPDF_ANNOT_APPEARANCEMODE_NORMAL, None, 0)
            return int(size)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


class _NotFlattened(Exception):
    """A page of which no copy with only some annotations could be made."""


def _batches(places: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield places of one, two, four stamps and so on. What one of them draws isn't known before."""
    at, size = 0, 1
    while at < len(places):
        yield places[at : at + size]
        at, size = at + size, min(2 * size, MAX_BATCH)


def _flattened(
    document: pypdfium2.PdfDocument, number: int, wanted: Collection[int], count: int
) -> tuple[str, int]:
    """Return the text of a page of which these annotations are a part, and no others, and its letters.

    Letters outside the page and those that cover each other count, too: all of them take memory. Raises
    `PdfiumError` and `_NotFlattened`.
    """
    with closing(pypdfium2.PdfDocument.new()) as copy:
        copy.import_pages(document, [number - 1])
        with closing(copy[0]) as page:
            if pdfium.FPDFPage_GetAnnotCount(page) != count:
                raise _NotFlattened
            for place in reversed(range(count)):
                if place not in wanted:
                    pdfium.FPDFPage_RemoveAnnot(page, place)
            if pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) != pdfium.FLATTEN_SUCCESS:
                raise _NotFlattened
        with closing(copy[0]) as page, closing(page.get_textpage()) as text:
            return str(text.get_text_bounded()), text.count_chars()
