"""PDF: the pages' text, and below it what people typed into forms or wrote as comments.

Of a long one, only the first and the last pages are read.
"""

import ctypes
import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import pypdfium2
import pypdfium2.raw as pdfium

from coaching.library.extractors.extracted import LOCKED, Extracted, Unread, gettext_noop
from coaching.library.extractors.left_out import STAMPS, pages_note
from coaching.library.extractors.pdf_added import Added, AddedText
from coaching.library.extractors.pdf_stamps import Stamps
from coaching.library.extractors.xfa import form_data

MAX_PAGES = 200
FIRST_PAGES = 150
LAST_PAGES = 50
DAMAGED = gettext_noop("This PDF is damaged and can’t be opened.")
ENDS_READ = gettext_noop("Sage read only the first 150 pages and the last 50.")
NO_PAGES = gettext_noop("This PDF is damaged: it has no pages.")
FEWEST_CHARACTERS = 10
"""A scan may have stray characters, a page number or a stamp."""
PICTURE_CHARACTERS = 60
"""A page with fewer, most of which one image covers, is a scan with a stamp."""
PICTURE_SHARE, LOGO_SHARE = 0.5, 0.05
"""Pictures on less of a page don't make it one; without words, on less than a logo takes."""
DRAWN_PATHS = 100
"""A page without text but with so many paths may have letters that were drawn."""
MAX_OBJECTS = 2_000
"""Of a page, when it's asked whether it is a picture."""

_PASSWORD_ERROR = 4
_HYPHEN = re.compile("[\x02\ufffe]\n?")
_HINTS = {"Title": "title", "Author": "author", "CreationDate": "created"}


def extract(data: bytes) -> Extracted:
    """Return the text by page; a scanned document has none. Raises `Unread`."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if is_password_missing(error):
            raise Unread("needs_password", LOCKED) from None
        raise Unread("broken", DAMAGED) from None
    count = len(document)
    if not count:
        raise Unread("broken", NO_PAGES)
    numbers = _numbers(count)
    with closing(AddedText(document)) as added:
        stamps = Stamps(document, added.form)
        read = list(_pages(document, numbers, added, stamps))
    if lines := _data_lines(document, read):
        read[0] = replace(read[0], added=replace(read[0].added, filled=(*read[0].added.filled, *lines)))
    pages = tuple(page.whole for page in read)
    characters = sum(character.isalnum() for page in pages for character in page)
    if characters < FEWEST_CHARACTERS and any(page.is_picture for page in read):
        pages = ()
    return Extracted(
        pages=pages,
        page_count=count,
        pages_read=numbers if len(numbers) < count else (),
        picture_pages=tuple(number for number, page in zip(numbers, read, strict=True) if page.is_picture),
        filled=_digest(read),
        hints=_hints(document),
        note="\n".join(
            filter(None, [ENDS_READ if count > MAX_PAGES else "", pages_note(STAMPS, stamps.unread())])
        ),
    )


def is_password_missing(error: pypdfium2.PdfiumError) -> bool:
    """Return whether a document couldn't be opened because it needs a password."""
    return bool(error.err_code == _PASSWORD_ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """A page's own text, what its stamps and buttons show, and what else was added to it.

    `is_picture` if most of what it shows isn't text.
    """

    text: str = ""
    shown: str = ""
    added: Added = field(default_factory=Added)
    is_picture: bool = False

    @property
    def whole(self) -> str:
        """The text with what was added below it."""
        return "\n\n".join(
            filter(None, (self.text, self.shown, *map("\n".join, (self.added.filled, self.added.comments))))
        )


def _numbers(count: int) -> tuple[int, ...]:
    if count <= MAX_PAGES:
        return tuple(range(1, count + 1))
    return (*range(1, FIRST_PAGES + 1), *range(count - LAST_PAGES + 1, count + 1))


def _pages(
    document: pypdfium2.PdfDocument, numbers: tuple[int, ...], added: AddedText, stamps: Stamps
) -> Iterator[_Page]:
    """Yield the pages; a damaged one has no text."""
    for number in numbers:
        try:
            page = document[number - 1]
        except pypdfium2.PdfiumError:
            yield _Page()
            continue
        try:
            text_page = page.get_textpage()
            text: str = text_page.get_text_bounded()
            text_page.close()
            shown = stamps.on(page, number, text)
        except pypdfium2.PdfiumError:
            text = shown = ""
        text = _plain(text)
        yield _Page(text=text, shown=_plain(shown), added=added.of(page), is_picture=_is_picture(page, text))
        page.close()


def _plain(text: str) -> str:
    return _HYPHEN.sub("", text.replace("\r\n", "\n"))


def _is_picture(page: pypdfium2.PdfPage, text: str) -> bool:
    """Return whether what a page shows is an image, or letters that were drawn."""
    characters = sum(character.isalnum() for character in text)
    if characters >= PICTURE_CHARACTERS:
        return False
    share = PICTURE_SHARE if characters >= FEWEST_CHARACTERS else LOGO_SHARE
    least = share * page.get_width() * page.get_height()
    paths, area = 0, 0.0
    for number in range(min(pdfium.FPDFPage_CountObjects(page), MAX_OBJECTS)):
        shown = pdfium.FPDFPage_GetObject(page, number)
        kind = pdfium.FPDFPageObj_GetType(shown)
        paths += kind == pdfium.FPDF_PAGEOBJ_PATH
        if kind in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM):
            area += _area(shown)  # scanners cut pages into strips
        if area >= least:
            return True
    return characters < FEWEST_CHARACTERS and paths >= DRAWN_PATHS


def _area(shown: pdfium.FPDF_PAGEOBJECT) -> float:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(shown, left, bottom, right, top):
        return 0.0
    return (right.value - left.value) * (top.value - bottom.value)


def _data_lines(document: pypdfium2.PdfDocument, pages: Sequence[_Page]) -> Sequence[str]:
    """Return the values of an XFA form that none of its fields has, as lines of its first page."""
    typed = {line.partition(": ")[2] for page in pages for line in page.added.filled}
    return [f"{name}: {value}" for name, value in form_data(document) if value not in typed]


def _digest(pages: Sequence[_Page]) -> str:
    """Return what tells a filled form from the same form with other values; empty without values."""
    lines = "\n".join(line for page in pages for line in page.added.filled)
    return hashlib.sha256(lines.encode("utf-8", "replace")).hexdigest()[:32] if lines else ""


def _hints(document: pypdfium2.PdfDocument) -> dict[str, str]:
    stated = document.get_metadata_dict(skip_empty=True)
    return {hint: stated[name] for name, hint in _HINTS.items() if name in stated}
