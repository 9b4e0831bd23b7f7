"""Whether citations hold: the document was read in the conversation, has the page, and says what is quoted.

Synchronous ORM code.
"""

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from coaching.library.evidence import Source
from coaching.models import Document, DocumentText
from coaching.tools.foreign import READING_TOOLS
from coaching.tools.results import document_link
from coaching.turns.citations import Citation
from sessions_app.models import ToolCallRecord

MAX_KEPT = 4_000_000
"""Characters of texts that are kept for the rest of a turn: two of the longest."""
_LEFT_OUT = re.compile(r"\[?(?:…|\.\.\.)\]?")


class CitedTexts:
    """Checks the citations of a turn. A document's text is loaded once, as the turn found it."""

    def __init__(self, *, user_id: int, session_id: uuid.UUID) -> None:
        self._user_id = user_id
        self._session_id = session_id
        self._texts: dict[int, _Text] = {}

    def held(self, citations: Sequence[Citation]) -> Sequence[bool]:
        """Say of each citation whether it holds."""
        ids = {each.document_id for each in citations}
        documents = Document.of(self._user_id).filter(id__in=ids, is_withheld=False)
        attached = dict(documents.values_list("id", "session_id"))
        read = {each for each in attached if attached[each] == self._session_id or self._is_read(each)}
        return [each.document_id in read and _holds(each, self._text(each.document_id)) for each in citations]

    def _text(self, document_id: int) -> "_Text":
        """Return a text; of those that are kept, the oldest make room for it."""
        if document_id not in self._texts:
            row = DocumentText.of(self._user_id).filter(document=document_id).first()
            found = _Text(row.text, tuple(row.pages_read)) if row else _Text("", ())
            while self._texts and len(found.text) + sum(map(len, self._texts.values())) > MAX_KEPT:
                del self._texts[next(iter(self._texts))]
            if not found.text.strip():  # it may still be read in this turn
                return found
            self._texts[document_id] = found
        return self._texts[document_id]

    def _is_read(self, document_id: int) -> bool:
        """Return whether a tool call of the conversation returned something about a document.

        `check_duplicate` and `refile_document` are no such tools: they return names and places, none of what
        a document says.
        """
        calls = ToolCallRecord.of(self._user_id).filter(
            turn__session_id=self._session_id, name__in=READING_TOOLS, is_error=False
        )
        told = Q(result__contains=document_link(document_id)) | Q(input__document_id=document_id)
        return calls.filter(told).exists()


@dataclass(frozen=True, slots=True)
class _Text:
    """A document's text, and the numbers of its pages, without any if all were read."""

    text: str
    pages_read: Sequence[int]

    def __len__(self) -> int:
        return len(self.text)


def _holds(citation: Citation, text: _Text) -> bool:
    if not text.text.strip():  # a picture, which can't be quoted
        return citation.page in (None, 1) and not citation.quotes
    pages = text.text.split("\f")
    numbers = text.pages_read if len(text.pages_read) == len(pages) else range(1, len(pages) + 1)
    if citation.page is None:
        source = Source(text.text)
    elif citation.page in numbers:
        source = Source(pages[list(numbers).index(citation.page)])
    else:
        return False
    return all(_stands_in(source, quote) for quote in citation.quotes)


def _stands_in(source: Source, quote: str) -> bool:
    """Return whether all parts of a quote stand in a text, in their order: dots mark what it leaves out.

    Of a word that dots follow at once, only the beginning may have been quoted.
    """
    gaps = list(_LEFT_OUT.finditer(quote))
    starts = [0, *(gap.end() for gap in gaps)]
    ends = [*(gap.start() for gap in gaps), len(quote)]
    parts = [quote[start:end] for start, end in zip(starts, ends, strict=True)]
    return source.has_parts(parts, cut=[n for n, part in enumerate(parts[:-1]) if part[-1:].isalpha()])
