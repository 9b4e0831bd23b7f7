"""Files of an export become documents in the library, the same bytes once.

They are stored as uploads are, so what is in them is others' text. Search finds them; Sage goes through them
by itself only once their person lets it. What isn't taken is named, with the reason.
"""

import uuid
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from hashlib import sha256

from django.db.models import Q
from django.utils.translation import gettext_noop

from coaching.files.errors import QuotaReached
from coaching.files.quota import check_room
from coaching.legacy.importers.left import LeftBehind
from coaching.legacy.importers.things import FoundDocument, Problem
from coaching.legacy.storing import Target
from coaching.legacy.tally import Tally
from coaching.library.documents.filing import delete_document
from coaching.library.documents.intake import Destination, destination_of, take_in
from coaching.library.documents.picture_metadata import MetadataStays, without_metadata
from coaching.models import (
    ClientType,
    Document,
    DocumentState,
    FileUsage,
    Import,
    ImportState,
    LibraryEffect,
    MadeBy,
)
from sessions_app.history import DOCUMENTS_KEY
from sessions_app.import_links import are_deleted, first_unused, link
from sessions_app.import_metadata import IMPORT_KEY
from sessions_app.models import Message, Session
from sessions_app.text import mended

MAX_NEW = 1_000
"""Documents of an import. Importing the same file again takes the next ones."""
MAX_PROJECT_CHARACTERS = 200
SHARE = 2
"""An import stops where a person's files and documents would take up more than one of so many parts."""

TOO_MANY = gettext_noop(
    "Sage takes up to 1,000 files in one import. Import this file again to get the others."
)
NO_ROOM = gettext_noop(
    "Imports leave half of your room for what you write and upload yourself, and the other half is full."
)
UNUSUAL_PICTURE = gettext_noop("Sage couldn’t remove from this picture what it says of its place and time.")
NOT_LINKED = gettext_noop(
    "You wrote in this conversation or chose another answer, so its file is only in your library and not at "
    "its message."
)
FULL = gettext_noop("Its message has 10 documents already, so it’s only in your library.")
OF_DELETED = gettext_noop("You deleted the conversation that it was in.")
IN_USE = gettext_noop("A conversation that stays has this document.")
HELD = gettext_noop("Another import has this document, too.")
CHANGED = gettext_noop("You changed this document.")


Used = Mapping[int, AbstractSet[int | None]]


@dataclass(slots=True)
class DocumentStore:
    """Stores the documents of one run of an import. Without an import it only counts."""

    target: Target
    tally: Tally
    _batch: uuid.UUID = field(default_factory=uuid.uuid4)
    _seen: set[str] = field(default_factory=set)
    _new: int = 0
    _bytes: int = 0

    def take(self, found: FoundDocument) -> None:
        """Store a file and link it to its messages, or name it. Raises `StorageFailed`."""
        refusal = found.refusal
        if not refusal:
            try:
                messages = [(mended(conversation), mended(said)) for conversation, said in found.messages]
                found = replace(found, data=without_metadata(found.data), messages=messages)
            except MetadataStays:
                refusal = UNUSUAL_PICTURE
        if refusal:
            self._name(found, refusal)
            return
        digest = sha256(found.data).hexdigest()
        known = self._known(digest)
        is_new = known is None and digest not in self._seen
        if is_new and are_deleted(self.target.user_id, {conversation for conversation, _ in found.messages}):
            self._name(found, OF_DELETED)
            return
        try:
            held = self._stored(found) if is_new else known
        except QuotaReached:
            self._name(found, NO_ROOM)
            return
        except _TooMany:
            self._name(found, TOO_MANY)
            return
        if is_new or (digest not in self._seen and self._is_mine(known)):
            self.tally.documents += 1
        self._seen.add(digest)
        if known is not None and known.made_by_import_id and not self._is_mine(known):
            self.tally.documents_held.add(known.pk)
        self._link(found, held)

    def _is_mine(self, known: Document | None) -> bool:
        """Return whether an earlier run of this import has brought a document."""
        import_id = self.target.import_id
        return known is not None and import_id is not None and known.made_by_import_id == import_id

    def _known(self, digest: str) -> Document | None:
        """Return the person's own document with these bytes, rather one that was read; none of a client."""
        same = Document.of(self.target.user_id).filter(
            sha256=digest, storage_key__isnull=False, client__client_type=ClientType.SELF
        )
        return min(same, key=lambda each: (each.state == DocumentState.DUPLICATE, each.pk), default=None)

    def _stored(self, found: FoundDocument) -> Document | None:
        """Store a document; None without an import."""
        user_id, size = self.target.user_id, len(found.data)
        if self._new >= MAX_NEW:
            raise _TooMany
        usage = FileUsage.of(user_id).first() or FileUsage(user_id=user_id)
        if self.target.import_id is None:
            usage.files += self._new
            usage.bytes += self._bytes
        check_room(usage, size=size, is_new_file=True, share=SHARE)
        self._new += 1
        self._bytes += size
        if self.target.import_id is None:
            return None
        destination = replace(
            destination_of(user_id=user_id, batch=self._batch),
            session_id=first_unused(user_id, {each for each, _ in found.messages}),
            import_id=self.target.import_id,
            import_project=mended(found.project)[:MAX_PROJECT_CHARACTERS],
            is_on_hold=True,
        )
        try:
            return self._taken(found, destination)
        except Session.DoesNotExist:  # it was deleted meanwhile
            return self._taken(found, replace(destination, session_id=None))

    def _taken(self, found: FoundDocument, destination: Destination) -> Document:
        name = mended(found.name)
        return take_in(user_id=self.target.user_id, name=name, data=found.data, destination=destination)

    def _link(self, found: FoundDocument, held: Document | None) -> None:
        if not found.messages:
            return
        linked = link(
            user_id=self.target.user_id,
            import_id=self.target.import_id,
            document_id=held.pk if held else None,
            messages=found.messages,
        )
        self.tally.completed += linked.count
        where = ", ".join(filter(None, [found.where, found.name]))
        for text, is_so in ((NOT_LINKED, linked.is_refused), (FULL, linked.is_full)):
            if is_so:
                self.tally.report(Problem(where=where, text=text, is_lost=False))

    def _name(self, found: FoundDocument, why: str) -> None:
        self.tally.left.add(LeftBehind(kind=found.kind, name=found.name, where=found.where, why=why))


class _TooMany(Exception):
    """An import has brought as many documents as it may."""


def documents_of(row: Import) -> Collection[int]:
    """Return the ids of the documents that an import has brought, in order."""
    return Document.of(row.user_id).filter(made_by_import=row).order_by("id").values_list("id", flat=True)


def remove_documents(row: Import, ids: Collection[int], used: Used) -> list[dict[str, str]]:
    """Delete documents that an undone import has brought; return those that stay, each with the reason.

    One that another import has too becomes that one's. `used` is what `used_documents` has found.
    """
    by_person = LibraryEffect.of(row.user_id).filter(made_by=MadeBy.USER, document__in=ids, undone_at=None)
    changed = set(by_person.values_list("document", flat=True))
    alive = Import.of(row.user_id).exclude(state=ImportState.UNDONE).exclude(pk=row.pk)
    others = set(alive.values_list("pk", flat=True))
    kept = []
    for document in Document.of(row.user_id).filter(Q(id__in=ids), made_by_import=row).order_by("id"):
        by = used.get(document.pk, set())
        heirs = others.intersection(by)
        if document.pk in changed:
            text = CHANGED
        elif by - others:
            text = IN_USE
        elif heirs:
            Document.of(row.user_id).filter(pk=document.pk).update(made_by_import=min(heirs))
            text = HELD
        else:
            _delete(document)
            continue
        kept.append({"document": str(document.pk), "name": document.name, "text": text})
    return kept


def used_documents(row: Import) -> Used:
    """Return by document the imports that have it too or whose conversations name it.

    Also conversations that were just deleted and can still be restored. None stands for messages that were
    written here. Conversations of an undone import are those that stayed.
    """
    ids = set(documents_of(row))
    used: dict[int, set[int | None]] = {}
    others = Import.of(row.user_id).exclude(state=ImportState.UNDONE).exclude(pk=row.pk)
    for import_id, held in others.values_list("pk", "documents_held"):
        for each in ids.intersection(held):
            used.setdefault(each, set()).add(import_id)
    rows = Message.of(row.user_id).filter(metadata__has_key=DOCUMENTS_KEY)
    rows = rows.select_related("session").only("metadata", "client_id", "session__metadata")
    for message in rows.iterator():
        is_imported = (message.client_id or "").startswith("imported:")
        for each in ids.intersection(message.metadata[DOCUMENTS_KEY]):
            by = message.session.metadata.get(IMPORT_KEY) if is_imported else None
            used.setdefault(each, set()).add(by)
    return used


def _delete(document: Document) -> None:
    try:
        delete_document(user_id=document.user_id, document_id=document.pk)
    except Document.DoesNotExist:  # its person deleted it meanwhile
        return
