"""The documents of a conversation's messages in its requests: as data, fenced, each text once."""

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from coaching.context.budget import PROSE_CHARACTERS
from coaching.context.fences import fence, fence_value, open_tag
from coaching.context.library import LibraryFacts, SeenDocument
from coaching.context.opening import Statement
from coaching.context.statement import StatementPart
from coaching.engine.messages import StoredCall, StoredMessage
from coaching.library.documents.reasons import reason_for_models
from coaching.library.rows.attached import ids_in
from coaching.library.rows.headlines import READ_CHARACTERS
from coaching.models import DocumentState
from sessions_app.models import Message, MessageRole

DOCUMENT_KEY = "document:"
"""The prefix of a document's key in a statement, before its id."""
MESSAGE_CHARACTERS = 12_000
"""For the texts of all documents that one message tells of."""
SHARE = 0.5
"""The share of what is left of the prompt that they take at most."""
SUMMARY_CHARACTERS = 1_200
_WITH_TEXT = "t"
WITHHELD = "The user keeps this document from you: you can't read it, and no tool shows it."
NOT_READ_YET = "It is being read. Its text comes with the next message, or from a tool that waits for it."
PICTURE = "It is a picture."
NO_TEXT = "No text could be read in it."
UNREAD = "Its pages are pictures, which nobody has read yet."
# What is inside is fenced, so it neither opens nor closes such a section.
_TOLD = re.compile(
    r'<(?P<tag>document|finding)\b(?:(?! (?:id|document)=")[^<>\n])*+'
    r' (?:id|document)="(?P<id>\d++)"[^<>\n]*+>\n'
    r"(?:[^<]++|<(?!/?(?P=tag)\b))*+(?<=\n)</(?P=tag)>"
)
MORE = "your tools sum it up, and find passages in it"
MORE_ON_PAGE = "they can read all of it on its page in the library"
"""Where no tool reads documents."""


def document_parts(
    facts: LibraryFacts, messages: Iterable[Message], said: Statement, *, tokens: int, more: str = MORE
) -> Sequence[StatementPart]:
    """Return the documents of the messages that weren't told of, or not as they are now.

    A text is told once: later only how far the document is, and its summary. Texts get about a half of
    `tokens`; `more` says how the model can read on.
    """
    ids = dict.fromkeys(
        each for message in messages if message.role == MessageRole.USER for each in ids_in(message.metadata)
    )
    seen = [facts.attached[each] for each in ids if each in facts.attached]
    untold = []
    for document in seen:
        digest = _digest(document)
        before = said.sections.get(f"{DOCUMENT_KEY}{document.id}", "")
        if before != digest:
            untold.append((document, digest, before.startswith(_WITH_TEXT)))
    most = min(MESSAGE_CHARACTERS, int(max(0, tokens) * SHARE * PROSE_CHARACTERS))
    room = most // max(1, len(untold))
    return [
        StatementPart(
            key=f"{DOCUMENT_KEY}{document.id}",
            digest=digest,
            text=_document_text(document, room=room, is_text_told=is_text_told, more=more),
        )
        for document, digest, is_text_told in untold
    ]


def without_withheld(
    message: StoredMessage, withheld: Collection[int], *, tools: Collection[str]
) -> StoredMessage:
    """Return a message without what was told of documents that were withheld since.

    `tools` are those whose result is about one document. Words of others, and passages that were found, stay.
    """

    def told(section: re.Match[str]) -> str:
        return _withheld(int(section["id"])) if int(section["id"]) in withheld else section[0]

    calls = [
        replace(call, result=WITHHELD) if call.name in tools and _is_about(call, withheld) else call
        for call in message.calls
    ]
    return replace(message, context=_TOLD.sub(told, message.context), calls=tuple(calls))


def _is_about(call: StoredCall, documents: Collection[int]) -> bool:
    given: object = call.input  # a model may have sent anything
    document_id = given.get("document_id") if isinstance(given, dict) else None
    return isinstance(document_id, int) and document_id in documents


def _withheld(document_id: int) -> str:
    return f"{open_tag('document', {'id': document_id})}\n{WITHHELD}\n</document>"


def _digest(document: SeenDocument) -> str:
    """Identify what is told: with its text or not yet, and what has become known."""
    has_text = bool(document.head) and not document.is_withheld
    known: tuple[object, ...] = (
        document.is_ready,
        document.is_withheld,
        document.reason,
        document.file_type,
        document.summary,
    )
    known += ("picture",) if document.has_image else ()
    known += (document.reading_note,) if document.reading_note else ()
    digest = hashlib.sha256(repr(known).encode("utf-8", "replace")).hexdigest()[:12]
    return f"{_WITH_TEXT if has_text else 'n'}{digest}"


def _document_text(document: SeenDocument, *, room: int, is_text_told: bool, more: str) -> str:
    if document.is_withheld:
        return _withheld(document.id)
    attributes = {
        "id": document.id,
        "name": document.name,
        "state": document.state,
        "type": document.file_type,
        "pages": document.page_count or "",
    }
    lines = [fence_value(reason_for_models(document.reason), 300)] if document.reason else []
    lines += [fence_value(reason_for_models(document.reading_note), 500)] if document.reading_note else []
    lines += [f"Summary: {fence(document.summary)[:SUMMARY_CHARACTERS]}"] if document.summary else []
    if is_text_told:
        lines.append("Its text was shown before.")
    elif document.head:
        lines.append(_text_of(document, room, more=more))
    elif document.has_image:
        lines.append(PICTURE)
    elif document.state == DocumentState.UNREAD:
        lines.append(UNREAD)
    else:
        lines.append(NO_TEXT if document.is_ready else NOT_READ_YET)
    return "\n".join([open_tag("document", attributes), *lines, "</document>"])


def _text_of(document: SeenDocument, room: int, *, more: str) -> str:
    """Return a short text whole, and of a long one its beginning."""
    room = min(room, READ_CHARACTERS)
    head = document.head.replace("\f", "\n")
    if document.characters <= room:
        return fence(head)
    left = document.characters - room
    return f"{fence(head[:room])}\n[shortened: {left:,} characters are left out; {more}]"
