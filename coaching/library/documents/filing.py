"""Filing: where a document lies, as decided by a model or by its user, and what else happens to it.

Each change of a decision has an audit row. Another user's document looks missing: all of these raise
`Document.DoesNotExist`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from coaching.job_queue.documents import enqueue_document
from coaching.library.documents.calls import forget_calls
from coaching.library.documents.drawn_pages import forget_pages
from coaching.library.documents.folder_names import folder_meant
from coaching.library.documents.intake import clean_name, destination_of
from coaching.library.documents.locks import lock_for_deletion, lock_with_attachments, locked_document
from coaching.library.documents.readings import queue_readings
from coaching.library.documents.reasons import STILL_READING
from coaching.library.effects import change
from coaching.library.moves import moving
from coaching.library.places import locked_place
from coaching.library.references.words import shown_folder
from coaching.library.rows.reading_notes import PICTURES
from coaching.models import (
    UNFINISHED_STATES,
    ActionItem,
    ActionState,
    DecidedBy,
    Document,
    DocumentSource,
    DocumentState,
    DocumentText,
    EffectKind,
    EntryState,
    FilingLevel,
    KnowledgeEntry,
    LibraryEffect,
    MadeBy,
)
from sessions_app.errors import Refused

NO_PROJECT = gettext_noop("Documents of this type belong in a project. Choose a project first.")
NOTHING_STORED = gettext_noop("The file wasn’t accepted, so it isn’t stored. Upload it again.")
FOLDER_NAME = gettext_noop("A folder’s name can have 1 to 120 characters, on one line.")
NAME_NEEDED = gettext_noop("A document needs a name.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a document was found to be, and where it belongs."""

    file_type: str
    category: str
    folder: str
    level: FilingLevel
    confidence: float | None = None
    why: str = ""
    tags: Sequence[str] = ()
    summary: str = ""
    key_facts: Sequence[Mapping[str, Any]] = ()
    dropped_facts: int = 0
    alternatives: Sequence[Mapping[str, Any]] = ()
    proposal: Mapping[str, Any] = field(default_factory=dict)
    decided_by: DecidedBy = DecidedBy.MODEL

    def values(self) -> dict[str, Any]:
        return {
            "file_type": self.file_type,
            "category": self.category,
            "folder": self.folder,
            "level": self.level,
            "confidence": self.confidence,
            "why": self.why,
            "tags": list(self.tags),
            "summary": self.summary,
            "key_facts": [dict(fact) for fact in self.key_facts],
            "dropped_facts": self.dropped_facts,
            "facts_found_at": None,
            "alternatives": [dict(other) for other in self.alternatives],
            "proposal": dict(self.proposal),
            "decided_by": self.decided_by,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """The key of a document's bytes in the storage, with its name and its type by content.

    `is_lost`: the bytes were lost for good (`coaching.files.lost`).
    """

    storage_key: str
    name: str
    content_type: str
    size: int
    is_lost: bool


@transaction.atomic
def file_document(
    *, user_id: int, document_id: int, decision: Decision, made_by: MadeBy = MadeBy.PIPELINE
) -> Document:
    """File a document as decided; one for a project goes to review where it has none.

    Filed, it is read as a whole for its facts.
    """
    document = locked_document(user_id, document_id)
    if decision.level == FilingLevel.PROJECT and document.project_id is None:
        return _put_to_review(document, reason=NO_PROJECT, decision=decision)
    values = {
        **decision.values(),
        "state": DocumentState.FILED,
        "reason": "",
        "decided_at": timezone.now(),
    }
    change(document, kind=EffectKind.FILED, made_by=made_by, values=values)
    queue_readings(document)
    return document


@transaction.atomic
def put_to_review(
    *, user_id: int, document_id: int, reason: str, decision: Decision | None = None
) -> Document:
    """Let the user decide on a document, perhaps with a suggestion."""
    return _put_to_review(locked_document(user_id, document_id), reason=reason, decision=decision)


def _put_to_review(document: Document, *, reason: str, decision: Decision | None) -> Document:
    values = decision.values() if decision else {}
    if values and document.project_id is None:
        values["level"] = FilingLevel.CLIENT
    for name, value in {**values, "state": DocumentState.REVIEW, "reason": reason[:500]}.items():
        setattr(document, name, value)
    document.save()
    return document


@transaction.atomic
def move_document(
    *,
    user_id: int,
    document_id: int,
    client_id: int | None = None,
    project_id: int | None = None,
    folder: str = "",
) -> LibraryEffect | None:
    """Move a document to a project, to a client without one, or to another folder where it is.

    What was made from it moves along. Raises `Refused`, `Client.DoesNotExist` and `Project.DoesNotExist`.
    """
    document = locked_document(user_id, document_id)
    if document.state in UNFINISHED_STATES:
        raise Refused(STILL_READING)
    values: dict[str, Any] = {}
    if client_id or project_id:
        place = destination_of(user_id=user_id, client_id=client_id, project_id=project_id)
        project_id = place.project.id if place.project else None
        locked_place(user_id=user_id, client_id=place.client.id, project_id=project_id, document_id=None)
        values = {"client_id": place.client.id, "project_id": project_id}
        if place.project is None and document.level == FilingLevel.PROJECT:
            values["level"] = FilingLevel.CLIENT
    if folder.strip():
        values["folder"] = clean_folder(folder, document, client_id=values.get("client_id"))
    return change(document, kind=EffectKind.MOVED, made_by=MadeBy.USER, values=values)


@transaction.atomic
def rename_document(*, user_id: int, document_id: int, name: str) -> LibraryEffect | None:
    document = locked_document(user_id, document_id)
    if not name.strip():
        raise Refused(NAME_NEEDED)
    values = {"name": clean_name(name)}
    return change(document, kind=EffectKind.RENAMED, made_by=MadeBy.USER, values=values)


@transaction.atomic
def withhold_document(*, user_id: int, document_id: int, is_withheld: bool) -> LibraryEffect | None:
    """Never send a document to the model, nor what is attached to it; or allow it alone again."""
    withheld = lock_with_attachments(user_id, document_id) if is_withheld else {document_id}
    document = locked_document(user_id, document_id)
    if is_withheld:
        forget_pages(user_id, withheld)
    values = {"is_withheld": is_withheld}
    for attachment in Document.of(user_id).filter(id__in=withheld - {document_id}).order_by("id"):
        change(attachment, kind=EffectKind.WITHHELD, made_by=MadeBy.USER, values=values)
    effect = change(document, kind=EffectKind.WITHHELD, made_by=MadeBy.USER, values=values)
    if effect and document.state == DocumentState.FILED:
        queue_readings(document)
    return effect


def read_again(*, user_id: int, document_id: int) -> Document:
    """Queue a document's reading once more, with all its attempts; it isn't on hold then.

    Raises `Refused`.
    """
    with moving(Document.of(user_id).filter(id=document_id)):
        document = locked_document(user_id, document_id)
        if document.storage_key is None:
            raise Refused(NOTHING_STORED)
        if document.state in UNFINISHED_STATES:
            raise Refused(STILL_READING)
        document.is_on_hold = False
        queue_again(document)
        return document


def queue_again(document: Document) -> None:
    """Queue the reading of a locked document, with all its attempts.

    If pages couldn't be read from their pictures, the file is read again: another model may read them.
    Its pages are drawn again, too.
    """
    if PICTURES in document.reading_note and not document.is_withheld:
        document.read_at = None
        for text in DocumentText.within(document):
            text.page_texts = {page: words for page, words in text.page_texts.items() if words is not None}
            text.save(update_fields=["page_texts"])
    document.state, document.reason, document.attempts = DocumentState.QUEUED, "", 0
    if document.source == DocumentSource.COMMAND:  # its command may be over, so workers read it now
        document.source = DocumentSource.UPLOAD
    document.save(
        update_fields=["state", "reason", "attempts", "source", "read_at", "is_on_hold", "updated_at"]
    )
    forget_pages(document.user_id, [document.pk])
    enqueue_document(document)


@transaction.atomic
def delete_document(*, user_id: int, document_id: int) -> None:
    """Delete a document with its text and what calls hold of it; its duplicates are read.

    What the user accepted from it stays.

    No row names its bytes any more, so garbage collection removes them.
    """
    twins = Document.of(user_id).filter(duplicate_of=document_id, state=DocumentState.DUPLICATE)
    with moving(twins):
        lock_for_deletion(user_id, Q(id=document_id))
        document = Document.of(user_id).get(id=document_id)
        for twin in twins:
            queue_again(twin)
    KnowledgeEntry.of(user_id).filter(document=document, state=EntryState.PROPOSED).delete()
    ActionItem.of(user_id).filter(document=document, state=ActionState.PROPOSED).delete()
    document.delete()
    forget_calls(user_id=user_id, document_ids=[document_id])


def read_download(*, user_id: int, document_id: int) -> Download:
    """Return what a download needs. Raises `Refused` where nothing is stored."""
    document = Document.of(user_id).get(id=document_id)
    if document.storage_key is None:
        raise Refused(NOTHING_STORED)
    return Download(
        storage_key=document.storage_key,
        name=document.name,
        content_type=document.content_type,
        size=document.size,
        is_lost=not document.sha256,
    )


def clean_folder(
    folder: str, document: Document, *, client_id: int | None = None, is_any_language: bool = False
) -> str:
    """Return the stored name of the folder for a document, from the name that pages show. Raises `Refused`.

    `client_id` is whose it will be. What is shown of the document's own folder keeps it there.
    """
    kept = " ".join(folder.replace("\x00", "").split())
    if not kept or len(kept) > 120:
        raise Refused(FOLDER_NAME)
    if kept == shown_folder(document.folder):
        return document.folder
    return folder_meant(
        user_id=document.user_id,
        client_id=client_id or document.client_id,
        name=kept,
        is_any_language=is_any_language,
    )
