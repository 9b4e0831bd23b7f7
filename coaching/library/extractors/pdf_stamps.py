"""What stamps, signatures and buttons of a PDF's page show: words that belong neither to it nor to a field.

PDFium reads a page's words only from its content, so what they show is made part of a copy of the page.
"""

from contextlib import closing

import pypdfium2
import pypdfium2.raw as pdfium

MAX_STAMPS = 200
"""Of a document. Those of a page that has more than are left aren't read."""
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

    def on(self, page: pypdfium2.PdfPage, number: int, text: str) -> str:
        """Return what they show on a page, whose own text is `text`. Empty if that can't be told apart."""
        count = pdfium.FPDFPage_GetAnnotCount(page)
        if not self._left or not 0 < count <= MAX_ANNOTATIONS:
            return ""
        wanted = {place for place in range(count) if self._is_wanted(page, place)}
        if not 0 < len(wanted) <= self._left:
            return ""
        self._left -= len(wanted)
        try:
            whole = _flattened(self._document, number, wanted, count)
        except pypdfium2.PdfiumError:
            return ""
        return whole[len(text) :].strip()[:MAX_CHARACTERS] if whole.startswith(text) else ""

    def _is_wanted(self, page: pypdfium2.PdfPage, place: int) -> bool:
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
            if not _EMPTY < size <= self._left_drawn:
                return False
            self._left_drawn -= size
            return True
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _flattened(document: pypdfium2.PdfDocument, number: int, wanted: set[int], count: int) -> str:
    """Return the text of a page of which these annotations are a part, and no others."""
    with closing(pypdfium2.PdfDocument.new()) as copy:
        copy.import_pages(document, [number - 1])
        with closing(copy[0]) as page:
            if pdfium.FPDFPage_GetAnnotCount(page) != count:
                return ""
            for place in reversed(range(count)):
                if place not in wanted:
                    pdfium.FPDFPage_RemoveAnnot(page, place)
            if pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) != pdfium.FLATTEN_SUCCESS:
                return ""
        with closing(copy[0]) as page, closing(page.get_textpage()) as text:
            return str(text.get_text_bounded())
