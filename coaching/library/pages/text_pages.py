"""The pages of a document's text, with the sentence that was chosen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coaching.library.documents.page_marks import Marked, marked
from coaching.models import Document

TEXT_BEFORE, TEXT_AFTER = 6_000, 12_000
"""How much of a long text is shown around the mark. The document's page has all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What a URL asks to see: a page, and perhaps a sentence on it. `query` is how the URL says it."""

    query: str
    number: int
    quote: str = ""


FIRST_PAGE = Chosen(query="page=1", number=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPage:
    """A page's text, with the sentence that was chosen if it stands there."""

    number: int
    text: Marked

    @property
    def is_empty(self) -> bool:
        return not (self.text.before.strip() or self.text.mark)


def text_pages(document: Document, chosen: Chosen | None) -> Sequence[TextPage]:
    """Return the pages of a document's text, with what was chosen in them."""
    parts = _text_of(document).split("\f")
    if parts == [""]:
        return []
    numbers = document.text.pages_read or range(1, len(parts) + 1)
    quoted = chosen.number if chosen and chosen.quote else 0
    return [
        TextPage(
            number=number,
            text=marked(part, chosen.quote) if chosen and number == quoted else Marked(before=part),
        )
        for number, part in zip(numbers, parts, strict=False)
    ]


def beginning_of(pages: Sequence[TextPage], most: int) -> Sequence[TextPage]:
    """Return the first pages of a text, of which the last one is cut after so many characters in all."""
    kept = []
    for page in pages:
        if most <= 0:
            break
        text, parts = page.text, []
        for part in (text.before, text.mark, text.after):
            parts.append(part[: max(0, most)])
            most -= len(part)
        before, mark, after = parts
        kept.append(replace(page, text=replace(text, before=before, mark=mark, after=after)))
    return kept


def _text_of(document: Document) -> str:
    text = getattr(document, "text", None)
    return text.text if text is not None and text.text.strip() else ""


def surrounding(text: Marked) -> Marked:
    """Return a text shortened to what stands around its mark, or to its beginning."""
    if not text.mark:
        return Marked(before=text.before[: TEXT_BEFORE + TEXT_AFTER])
    return Marked(before=text.before[-TEXT_BEFORE:], mark=text.mark, after=text.after[:TEXT_AFTER])


def has_text(document: Document) -> bool:
    """Return whether a document that was read with its text has any."""
    return bool(_text_of(document))
