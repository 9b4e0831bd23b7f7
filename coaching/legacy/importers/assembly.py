"""Puts together again what a reader has sent in parts: conversations and files."""

import binascii
from base64 import b64decode
from collections.abc import Iterator, Sequence

from coaching.legacy.importers.about import FoundNote
from coaching.legacy.importers.bounded import MAX_ITEM_BYTES
from coaching.legacy.importers.left import LeftBehind, MoreLeftBehind
from coaching.legacy.importers.things import (
    FoundConversation,
    FoundDocument,
    FoundFile,
    FoundMessage,
    FoundProfile,
    FoundRating,
    MoreProblems,
    Problem,
    Thing,
    UnknownFields,
)
from coaching.legacy.importers.wire import (
    Entry,
    Misread,
    SentBytes,
    SentConversation,
    SentDocument,
    SentDocumentEnd,
    SentEnd,
    SentFile,
    SentLeft,
    SentMessage,
    SentMoreLeft,
    SentMoreProblems,
    SentNote,
    SentProblem,
    SentProfile,
    SentRating,
    SentUnknownFields,
)


class Assembly:
    """Puts conversations and files together again. Files have at most `most_bytes`."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._open: SentConversation | None = None
        self._messages: list[FoundMessage] = []
        self._characters = 0
        self._document: SentDocument | None = None
        self._data = bytearray()

    def take(self, entries: Sequence[Entry]) -> Iterator[Thing]:
        """Yield what is complete with these entries. Raises `Misread`."""
        for entry in entries:
            if isinstance(entry, SentMessage):
                self._add(entry)
            elif isinstance(entry, SentEnd):
                yield self._closed()
            elif isinstance(entry, SentBytes):
                self._add_bytes(entry)
            elif isinstance(entry, SentDocumentEnd):
                yield self._complete(entry)
            elif self._open is not None or self._document is not None:
                raise Misread
            elif isinstance(entry, SentConversation):
                self._open, self._messages, self._characters = entry, [], 0
            elif isinstance(entry, SentDocument):
                self._document, self._data = entry, bytearray()
            else:
                yield _thing(entry)

    def _add(self, sent: SentMessage) -> None:
        self._characters += len(sent.text) + 1
        if self._open is None or self._characters > MAX_ITEM_BYTES:
            raise Misread
        self._messages.append(
            FoundMessage(
                imported_id=sent.imported_id,
                role=sent.role,
                text=sent.text,
                created_at=sent.created_at,
                metadata=sent.metadata,
                shorter=sent.shorter,
                answers_to=sent.answers_to,
            )
        )

    def _closed(self) -> FoundConversation:
        if self._open is None:
            raise Misread
        opened, self._open = self._open, None
        return FoundConversation(
            imported_id=opened.imported_id,
            kind=opened.session_kind,
            status=opened.status,
            title=opened.title,
            started_at=opened.started_at,
            messages=[message for message in self._messages if not message.answers_to],
            answers=[message for message in self._messages if message.answers_to],
            where=opened.where,
            model=opened.model,
            project=opened.project,
            branch_of=opened.branch_of,
        )

    def _add_bytes(self, sent: SentBytes) -> None:
        try:
            self._data += b64decode(sent.data, validate=True)
        except binascii.Error as error:
            raise Misread from error
        if self._document is None or len(self._data) > self._most_bytes:
            raise Misread

    def _complete(self, end: SentDocumentEnd) -> FoundDocument:
        if self._document is None:
            raise Misread
        opened, self._document = self._document, None
        data, self._data = bytes(self._data), bytearray()
        return FoundDocument(
            name=end.name,
            kind=end.what,
            data=b"" if end.refusal else data,
            project=opened.project,
            where=opened.where,
            messages=opened.messages,
            refusal=end.refusal,
        )


def _thing(
    sent: SentFile
    | SentRating
    | SentProfile
    | SentNote
    | SentLeft
    | SentMoreLeft
    | SentProblem
    | SentMoreProblems
    | SentUnknownFields,
) -> Thing:
    match sent:
        case SentFile(path=path, content=content, updated_at=updated_at, where=where):
            return FoundFile(path=path, content=content, updated_at=updated_at, where=where)
        case SentRating(domain=domain, rating=rating, rated_at=rated_at, where=where):
            return FoundRating(domain=domain, rating=rating, rated_at=rated_at, where=where)
        case SentProfile(name=name, timezone=timezone, where=where):
            return FoundProfile(name=name, timezone=timezone, where=where)
        case SentNote(what=what, project=project, text=text):
            return FoundNote(kind=what, project=project, text=text)
        case SentLeft(what=what, name=name, where=where, count=count, why=why):
            return LeftBehind(kind=what, name=name, where=where, count=count, why=why)
        case SentMoreLeft(what=what, count=count):
            return MoreLeftBehind(kind=what, count=count)
        case SentProblem(where=where, text=text, is_lost=is_lost):
            return Problem(where=where, text=text, is_lost=is_lost)
        case SentMoreProblems(count=count, lost=lost):
            return MoreProblems(count=count, lost=lost)
        case SentUnknownFields(names=names):
            return UnknownFields(names=frozenset(names))
