"""Whether citations hold: the document was read in the conversation, has the page, and says what is quoted.

Synchronous ORM code.
"""

import re
import uuid
from collections.abc import Iterator, Sequence

from django.db.models import Q

from coaching.library.evidence import MIN_QUOTE_CHARACTERS, Source
from coaching.models import Document, DocumentText
from coaching.tools.foreign import READING_TOOLS
from coaching.tools.results import document_link
from coaching.turns.citations import Citation
from sessions_app.models import ToolCallRecord

_LEFT_OUT = re.compile(r"\[?(?:…|\.\.\.)\]?")
_CUT_WORD = re.compile(r"(?<!\w)\w++$")


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
    """Return whether all parts of a quote stand in a text; what it leaves out is marked by dots."""
    parts = [part for part in _parts(quote) if sum(map(str.isalnum, part)) >= MIN_QUOTE_CHARACTERS]
    return bool(parts) and all(source.find(part) is not None for part in parts)


def _parts(quote: str) -> Iterator[str]:
    place = 0
    for gap in _LEFT_OUT.finditer(quote):
        yield _CUT_WORD.sub("", quote[place : gap.start()])  # perhaps only the beginning of a word
        place = gap.end()
    yield quote[place:]
