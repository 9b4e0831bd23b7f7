"""What stamps, signatures and buttons of a PDF's page show: words that belong neither to it nor to a field.

PDFium reads a page's words only from its content, so what they show is made part of a copy of the page.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing

import pypdfium2
import pypdfium2.raw as pdfium

MAX_STAMPS = 200
"""Of a document. Those of a page that has more than are left aren't read."""
MAX_BATCH = 16
"""Stamps of a page that are read together: more with large drawings take too much memory."""
MAX_LETTERS = 200_000
"""Of a document's pages, each as often as it is read, and of what stamps draw. The rest isn't read."""
MAX_ANNOTATIONS = 500
"""Of a page with more, nothing is read: a large form has buttons that nobody needs to read."""
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
        """Return what they show on a page, whose own text is `text`. Empty if that can't be told apart."""
        count = pdfium.FPDFPage_GetAnnotCount(page)
        if not 0 < count <= MAX_ANNOTATIONS:
            return ""
        wanted = [place for place in range(count) if self._is_wanted(page, number, place)]
        if len(wanted) > self._left:
            self._unread.add(number)
            return ""
        self._left -= len(wanted)
        shown: list[str] = []
        for batch in _batches(wanted):
            if self._left_letters <= 0 or sum(map(len, shown)) >= MAX_CHARACTERS:
                self._unread.add(number)
                break
            try:
                whole, letters = _flattened(self._document, number, batch, count)
            except pypdfium2.PdfiumError:
                self._unread.add(number)
                break
            self._left_letters -= letters
            if whole.startswith(text):
                shown.append(whole[len(text) :].strip())
        said = "\n".join(filter(None, shown))
        if len(said) > MAX_CHARACTERS:
            self._unread.add(number)
        return said[:MAX_CHARACTERS]

    def unread(self) -> Sequence[int]:
        """Return the pages on which some exceeded a limit."""
        return sorted(self._unread)

    def _is_wanted(self, page: pypdfium2.PdfPage, number: int, place: int) -> bool:
        annotation = pdfium.FPDFPage_GetAnnot(page, place)
        if not annotation:
            return False
        try:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            is_one = kind == pdfium.FPDF_ANNOT_STAMP
            if kind == pdfium.FPDF_ANNOT_WIDGET and self._form:
                is_one = pdfium.FPDFAnnot_GetFormFieldType(self._form, annotation) in _FIELDS
            if not is_one or pdfium.FPDFAnnot_GetFlags(annotation) & _HIDDEN:
                return False
            # Counting its objects would take exponential time where it draws itself.
            size = pdfium.FPDFAnnot_GetAP(annotation, pdfium.FPDF_ANNOT_APPEARANCEMODE_NORMAL, None, 0)
            if size > self._left_drawn:
                self._unread.add(number)
            if not _EMPTY < size <= self._left_drawn:
                return False
            self._left_drawn -= size
            return True
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


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

    Letters outside the page and those that cover each other count, too: all of them take memory.
    """
    with closing(pypdfium2.PdfDocument.new()) as copy:
        copy.import_pages(document, [number - 1])
        with closing(copy[0]) as page:
            if pdfium.FPDFPage_GetAnnotCount(page) != count:
                return "", 0
            for place in reversed(range(count)):
                if place not in wanted:
                    pdfium.FPDFPage_RemoveAnnot(page, place)
            if pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) != pdfium.FLATTEN_SUCCESS:
                return "", 0
        with closing(copy[0]) as page, closing(page.get_textpage()) as text:
            return str(text.get_text_bounded()), text.count_chars()
