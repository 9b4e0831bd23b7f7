"""The words of a PDF's page with their boxes, in the order in which PDFium reads them."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice

import pypdfium2
import pypdfium2.raw as pdfium

from coaching.library.extractors.extracted import UNWANTED
from coaching.library.extractors.pdf_added import AddedText

UNITS = 10_000
"""Boxes are in ten-thousandths of the page's width and height, from its upper left corner, as it is shown."""
MAX_CHARACTERS = 100_000
MAX_WORDS = 20_000
MAX_WORD_CHARACTERS = 200
MAX_ADDED_CHARACTERS = 100_000
"""Of the fields and comments of a page, in addition to those of its text."""

Word = tuple[str, int, int, int, int]
"""The text, then left, top, right and bottom."""

_HYPHENS = "\x02\ufffe"
"""What PDFium returns for a hyphen at the end of a line."""
_UNSPACED = (("\u0e00", "\u0eff"), ("\u3040", "\u30ff"), ("\u3400", "\u9fff"))
"""Scripts that are written without spaces: each letter is a word."""
_MAX_CODE = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


@dataclass(slots=True)
class _Open:
    """The word that is being read: its letters, and the corners that they reach, in the page's own units."""

    letters: list[str] = field(default_factory=list)
    left: float = float("inf")
    bottom: float = float("inf")
    right: float = float("-inf")
    top: float = float("-inf")

    def reach(self, left: float, bottom: float, right: float, top: float) -> None:
        self.left, self.bottom = min(self.left, left), min(self.bottom, bottom)
        self.right, self.top = max(self.right, right), max(self.top, top)


def words_of(page: pypdfium2.PdfPage, added: AddedText) -> Iterator[Word]:
    """Yield the words of a page and of what was added to it, up to `MAX_WORDS`."""
    text_page = page.get_textpage()
    try:
        found = chain(_words(text_page), _added_words(page, added))
        placed = (_placed(page, word) for word in found)
        yield from islice((word for word in placed if word[0]), MAX_WORDS)
    finally:
        text_page.close()


def _words(text_page: pypdfium2.PdfTextPage) -> Iterator[_Open]:
    box = [ctypes.c_double() for _ in range(4)]
    left, right, bottom, top = box
    word = _Open()
    for number in range(min(text_page.count_chars(), MAX_CHARACTERS)):
        code = pdfium.FPDFText_GetUnicode(text_page, number)
        letter = chr(code) if 0 < code <= _MAX_CODE and code not in _SURROGATES else " "
        is_alone = any(first <= letter <= last for first, last in _UNSPACED)
        is_end = letter.isspace() or letter in _HYPHENS
        if word.letters and (is_alone or is_end or len(word.letters) == MAX_WORD_CHARACTERS):
            yield word
            word = _Open()
        if is_end or not pdfium.FPDFText_GetCharBox(text_page, number, *box):
            continue
        word.letters.append(letter)
        word.reach(left.value, bottom.value, right.value, top.value)
        if is_alone:
            yield word
            word = _Open()
    if word.letters:
        yield word


def _added_words(page: pypdfium2.PdfPage, added: AddedText) -> Iterator[_Open]:
    """Yield the words of fields and comments, each with the box of the whole one."""
    room = MAX_ADDED_CHARACTERS
    for line in added.placed(page):
        if room <= 0:
            break
        left, bottom, right, top = line.box
        words = line.text[:room].split()
        room -= len(line.text)
        for word in words:
            yield _Open(
                letters=list(word[:MAX_WORD_CHARACTERS]), left=left, bottom=bottom, right=right, top=top
            )


def _placed(page: pypdfium2.PdfPage, word: _Open) -> Word:
    """Return a word with its box on the page as it is shown: turned, and cut to what is visible."""
    x, y = ctypes.c_int(), ctypes.c_int()
    corners = []
    for across, up in ((word.left, word.top), (word.right, word.bottom)):
        pdfium.FPDF_PageToDevice(page, 0, 0, UNITS, UNITS, 0, across, up, x, y)
        corners.append((min(max(x.value, 0), UNITS), min(max(y.value, 0), UNITS)))
    (one_x, one_y), (other_x, other_y) = corners
    return (
        UNWANTED.sub("", "".join(word.letters)),
        min(one_x, other_x),
        min(one_y, other_y),
        max(one_x, other_x),
        max(one_y, other_y),
    )
