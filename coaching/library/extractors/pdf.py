"""PDF. Of a long one, only the first and the last pages are read."""

import re
from collections.abc import Iterator

import pypdfium2

from coaching.library.extractors.extracted import LOCKED, Extracted, Unread, gettext_noop

MAX_PAGES = 200
FIRST_PAGES = 150
LAST_PAGES = 50
DAMAGED = gettext_noop("This PDF is damaged and can’t be opened.")
ENDS_READ = gettext_noop("Sage read only the first 150 pages and the last 50.")
NO_PAGES = gettext_noop("This PDF is damaged: it has no pages.")
FEWEST_CHARACTERS = 10
"""A scan may have stray characters, a page number or a stamp."""

_PASSWORD_ERROR = 4
_HYPHEN = re.compile("[\x02\ufffe]\n?")
_HINTS = {"Title": "title", "Author": "author", "CreationDate": "created"}


def extract(data: bytes) -> Extracted:
    """Return the text by page; a scanned document has none. Raises `Unread`."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == _PASSWORD_ERROR:
            raise Unread("needs_password", LOCKED) from None
        raise Unread("broken", DAMAGED) from None
    count = len(document)
    if not count:
        raise Unread("broken", NO_PAGES)
    numbers = _numbers(count)
    pages = tuple(_pages(document, numbers))
    if sum(character.isalnum() for page in pages for character in page) < FEWEST_CHARACTERS:
        pages = ()
    return Extracted(
        pages=pages,
        page_count=count,
        pages_read=numbers if len(numbers) < count else (),
        hints=_hints(document),
        note=ENDS_READ if count > MAX_PAGES else "",
    )


def _numbers(count: int) -> tuple[int, ...]:
    if count <= MAX_PAGES:
        return tuple(range(1, count + 1))
    return (*range(1, FIRST_PAGES + 1), *range(count - LAST_PAGES + 1, count + 1))


def _pages(document: pypdfium2.PdfDocument, numbers: tuple[int, ...]) -> Iterator[str]:
    """Yield texts; a damaged page has none."""
    for number in numbers:
        try:
            page = document[number - 1]
            text_page = page.get_textpage()
            text: str = text_page.get_text_bounded()
            text_page.close()
            page.close()
        except pypdfium2.PdfiumError:
            text = ""
        yield _HYPHEN.sub("", text.replace("\r\n", "\n"))


def _hints(document: pypdfium2.PdfDocument) -> dict[str, str]:
    stated = document.get_metadata_dict(skip_empty=True)
    return {hint: stated[name] for name, hint in _HINTS.items() if name in stated}
