"""Whether citations hold: the document was read in the conversation, has the page, and says what is quoted.

Synchronous ORM code.
"""

import re
import uuid
from collections.abc import Sequence

from django.db.models import Q

from coaching.library.evidence import Source
from coaching.models import Document, DocumentText
from coaching.tools.foreign import READING_TOOLS
from coaching.tools.results import document_link
from coaching.turns.citations import Citation
from sessions_app.models import ToolCallRecord

_LEFT_OUT = re.compile(r"\[?(?:…|\.\.\.)\]?")


def citations_held(citations: Sequence[Citation], *, user_id: int, session_id: uuid.UUID) -> Sequence[bool]:
    """Say of each citation whether it holds."""
    ids = {each.document_id for each in citations}
    documents = Document.of(user_id).filter(id__in=ids, is_withheld=False)
    attached = dict(documents.values_list("id", "session_id"))
    read = {each for each in attached if attached[each] == session_id or _is_read(user_id, session_id, each)}
    texts = {text.document_id: text for text in DocumentText.of(user_id).filter(document_id__in=read)}
    return [each.document_id in read and _holds(each, texts.get(each.document_id)) for each in citations]


def _is_read(user_id: int, session_id: uuid.UUID, document_id: int) -> bool:
    """Return whether a tool call of the conversation returned something about a document."""
    calls = ToolCallRecord.of(user_id).filter(
        turn__session_id=session_id, name__in=READING_TOOLS, is_error=False
    )
    told = Q(result__contains=document_link(document_id)) | Q(input__document_id=document_id)
    return calls.filter(told).exists()


def _holds(citation: Citation, text: DocumentText | None) -> bool:
    if text is None or not text.text.strip():  # a picture, which can't be quoted
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
