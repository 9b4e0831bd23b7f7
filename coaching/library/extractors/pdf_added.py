"""What people added to a PDF's pages and isn't part of their content: values of form fields, and comments.

Lines, as they stand below a page's text: `label: value`, and `[x] label` for a ticked box. What is hidden and
passwords are left out.
"""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import pypdfium2
import pypdfium2.raw as pdfium

MAX_ANNOTATIONS = 20_000
"""Of a document. Large forms have two thousand fields."""
MAX_OPTIONS = 500
"""Of a field."""
MAX_VALUE_CHARACTERS = 20_000
MAX_LABEL_CHARACTERS = 200

_HIDDEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD = 1 << 13
_NO_COMMENTS = (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP)
_TICKED = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
_CHOICES = (pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)

_Text = Callable[[ctypes.Array[ctypes.c_ushort] | None, int], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """Lines of a page: `filled` were typed or ticked, `comments` are about what stands there."""

    filled: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedLine:
    """A line, and the left, bottom, right and top of its field or comment in the page's own units."""

    text: str
    is_comment: bool
    box: tuple[float, float, float, float]


class AddedText:
    """Reads what was added to the pages of one document, up to `MAX_ANNOTATIONS`."""

    def __init__(self, document: pypdfium2.PdfDocument) -> None:
        self._left = MAX_ANNOTATIONS
        self._own_form = None
        if document.formenv:  # for drawing it
            self.form = document.formenv
            return
        # Not by pypdfium2, whose pages then have every field drawn: that takes long, and nobody looks.
        self._config = pdfium.FPDF_FORMFILLINFO(version=2)
        if pdfium.FPDF_GetFormType(document) != pdfium.FORMTYPE_NONE:
            self._own_form = pdfium.FPDFDOC_InitFormFillEnvironment(document, self._config)
        self.form = self._own_form

    def close(self) -> None:
        """Free the fields, before the document is closed."""
        if self._own_form:
            pdfium.FPDFDOC_ExitFormFillEnvironment(self._own_form)

    def of(self, page: pypdfium2.PdfPage) -> Added:
        """Return the lines of a page, each once."""
        lines = list(self.placed(page))
        return Added(
            filled=tuple(dict.fromkeys(line.text for line in lines if not line.is_comment)),
            comments=tuple(dict.fromkeys(line.text for line in lines if line.is_comment)),
        )

    def placed(self, page: pypdfium2.PdfPage) -> Iterator[AddedLine]:
        """Yield the lines of a page with where they stand."""
        count = min(pdfium.FPDFPage_GetAnnotCount(page), self._left)
        self._left -= max(0, count)
        for number in range(count):
            annotation = pdfium.FPDFPage_GetAnnot(page, number)
            if not annotation:
                continue
            if not pdfium.FPDFAnnot_GetFlags(annotation) & _HIDDEN and (line := self._line(annotation)):
                yield line
            pdfium.FPDFPage_CloseAnnot(annotation)

    def _line(self, annotation: pdfium.FPDF_ANNOTATION) -> AddedLine | None:
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        text, is_comment = "", False
        if kind == pdfium.FPDF_ANNOT_WIDGET:
            text = self._field(annotation) if self.form else ""
        elif kind not in _NO_COMMENTS and (said := _value_of(annotation, b"Contents")):
            # A text that was written on the page, as into forms without fields, isn't one about it.
            is_comment = kind != pdfium.FPDF_ANNOT_FREETEXT
            author = _value_of(annotation, b"T")[:MAX_LABEL_CHARACTERS] if is_comment else ""
            start = f"Comment ({author}): " if author else "Comment: "
            text = start + said if is_comment else said
        if not text:
            return None
        place = pdfium.FS_RECTF()
        pdfium.FPDFAnnot_GetRect(annotation, place)
        return AddedLine(
            text=text, is_comment=is_comment, box=(place.left, place.bottom, place.right, place.top)
        )

    def _field(self, annotation: pdfium.FPDF_ANNOTATION) -> str:
        """Return the line of a field; empty for one without a value, for buttons and signatures."""
        kind = pdfium.FPDFAnnot_GetFormFieldType(self.form, annotation)
        label = self._label(annotation)
        if kind in _TICKED:
            # PDFium's own answer needs every field drawn.
            state = _value_of(annotation, b"AS")
            if state in ("", "Off"):
                return ""
            return f"{label}: {state}" if kind == pdfium.FPDF_FORMFIELD_RADIOBUTTON else f"[x] {label}"
        value = ""
        if kind in _CHOICES:
            value = self._chosen(annotation) or self._text(pdfium.FPDFAnnot_GetFormFieldValue, annotation)
        elif kind == pdfium.FPDF_FORMFIELD_TEXTFIELD and not self._is_password(annotation):
            value = self._text(pdfium.FPDFAnnot_GetFormFieldValue, annotation)
        return f"{label}: {value}" if value else ""

    def _is_password(self, annotation: pdfium.FPDF_ANNOTATION) -> bool:
        return bool(pdfium.FPDFAnnot_GetFormFieldFlags(self.form, annotation) & _PASSWORD)

    def _label(self, annotation: pdfium.FPDF_ANNOTATION) -> str:
        """Return the tooltip, which says what to enter, or else the name."""
        tooltip = self._text(pdfium.FPDFAnnot_GetFormFieldAlternateName, annotation)
        label = tooltip or _short(self._text(pdfium.FPDFAnnot_GetFormFieldName, annotation))
        return " ".join(label.split())[:MAX_LABEL_CHARACTERS].rstrip(": ")

    def _chosen(self, annotation: pdfium.FPDF_ANNOTATION) -> str:
        count = min(pdfium.FPDFAnnot_GetOptionCount(self.form, annotation), MAX_OPTIONS)
        labels = (
            _read(partial(pdfium.FPDFAnnot_GetOptionLabel, self.form, annotation, number))
            for number in range(count)
            if pdfium.FPDFAnnot_IsOptionSelected(self.form, annotation, number)
        )
        return ", ".join(filter(None, labels))

    def _text(self, function: Callable[..., int], annotation: pdfium.FPDF_ANNOTATION) -> str:
        return _read(partial(function, self.form, annotation))


def _value_of(annotation: pdfium.FPDF_ANNOTATION, key: bytes) -> str:
    return _read(partial(pdfium.FPDFAnnot_GetStringValue, annotation, key))


def _read(function: _Text) -> str:
    """Return what PDFium writes into a buffer as UTF-16 with a zero at its end."""
    size = function(None, 0)
    if not 2 < size <= 4 * MAX_VALUE_CHARACTERS:
        return ""
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    function(buffer, size)
    text = bytes(buffer)[: size - 2].decode("utf-16-le", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()[:MAX_VALUE_CHARACTERS]


def _short(name: str) -> str:
    """Return a field's name; of one that a program made of a form's parts, its own part."""
    return name.rsplit(".", 1)[-1].partition("[")[0] if "[" in name else name
