"""Writes of the pipeline: each names its document and the sentence there that it rests on.

`coaching.library.evidence` decides what of it holds. What doesn't is not written, and the result says why.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolInput
from coaching.files.attributes import StorableText
from coaching.library.evidence import MAX_QUOTE, Passage, Source
from coaching.models import Client, Document, Project
from coaching.tools.context import CallContext
from coaching.tools.reach import Place
from coaching.tools.results import Id

NOT_OF_THIS_CALL = "Nothing was written: document_id isn't the id of a document in this call."
NOT_IN_DOCUMENT = (
    "Nothing was written: the quote doesn't stand in that document's text. Quote a sentence of it word by "
    "word, at least 8 characters."
)
NOT_IN_QUOTE = (
    "Nothing was written: {what} has a date, a number or a name that the quote doesn't have. Quote the "
    "sentence that has it, or leave it out."
)


class Sourced(ToolInput):
    """What a write of the pipeline has to name besides what it writes."""

    document_id: Annotated[Id, Field(description="id of the document that says it")]
    quote: Annotated[
        StorableText,
        Field(
            max_length=MAX_QUOTE, description="its sentence, word by word, with all dates, numbers and names"
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The document, the passage there, and the document's text that a write rests on."""

    document: Document
    passage: Passage
    source: Source

    def check(self, **words: str) -> None:
        """Raise `ToolError` for words with dates, numbers or names that the passage doesn't have."""
        for name, said in words.items():
            if not self.source.states(said, self.passage):
                raise ToolError(NOT_IN_QUOTE.format(what=name))

    def stated(self, lines: Sequence[str]) -> Sequence[str]:
        """Return the lines whose dates, numbers and names the passage has."""
        return [line for line in lines if self.source.states(line, self.passage)]

    def place_in(self, client: Client, project: Project | None) -> Place:
        """Return where a write goes: to the document's project, unless the call names another."""
        return client, project or self.document.project

    def key(self, title: str) -> str:
        """Return the same key for the same proposal when the document is read again."""
        said = f"{' '.join(title.split())}\n{self.passage.quote}".casefold()
        return f"pipeline:{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()[:24]}"


def origin_of(context: CallContext, given: ToolInput) -> Origin | None:
    """Return what a write of the pipeline rests on; None elsewhere.

    Raises `ToolError`. Sync ORM code.
    """
    if not context.tier.names_source:
        return None
    if not isinstance(given, Sourced) or context.binding is None:
        raise ToolError(NOT_OF_THIS_CALL)
    if given.document_id not in context.binding.document_ids:
        raise ToolError(NOT_OF_THIS_CALL)
    rows = Document.of(context.user_id).filter(is_withheld=False, client_id=context.binding.client_id)
    document = rows.select_related("text", "project").filter(id=given.document_id).first()
    if document is None:
        raise ToolError(NOT_OF_THIS_CALL)
    text = getattr(document, "text", None)
    source = Source(text.text, pages_read=text.pages_read) if text else Source("")
    passage = source.find(given.quote)
    if passage is None:
        raise ToolError(NOT_IN_DOCUMENT)
    return Origin(document=document, passage=passage, source=source)
