"""Reviews: what the user says that a document is, for one or for many.

A correction is remembered for later documents. Each change has an audit row. Another user's document looks
missing.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from coaching.library.clients import accessible_project
from coaching.library.documents.corrections import remember_correction
from coaching.library.documents.filing import (
    NO_PROJECT,
    NOTHING_STORED,
    clean_folder,
)
from coaching.library.documents.locks import locked_document
from coaching.library.documents.readings import queue_readings
from coaching.library.documents.reasons import STILL_READING
from coaching.library.effects import change
from coaching.library.moves import moving
from coaching.library.places import locked_place
from coaching.library.references.placement import Placement, PlacementTable, Rule
from coaching.models import (
    UNFINISHED_STATES,
    Client,
    DecidedBy,
    Document,
    DocumentState,
    EffectKind,
    FilingLevel,
    LibraryEffect,
    MadeBy,
    PlacementRule,
    Project,
    Reference,
)
from sessions_app.errors import Refused

MAX_AT_ONCE = 200
NOT_IN_REVIEW = gettext_noop("This document no longer needs a review.")
CHANGED_SINCE_SHOWN = gettext_noop("This suggestion has changed since the page was loaded. Check it again.")
UNDECIDED = gettext_noop("Sage has no suggestion for this document. Choose a type.")
UNKNOWN_TYPE = gettext_noop("That document type doesn’t exist.")
WRONG_CLIENT = gettext_noop("That project belongs to another client.")
TOO_MANY = gettext_noop("You can change up to %(most)s documents at once.")


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkOutcome:
    """The documents that were changed, and why the others weren't, by id."""

    changed: Sequence[int]
    refused: Mapping[int, Refused]


def accept_review(*, user_id: int, document_id: int, seen_at: datetime | None = None) -> LibraryEffect | None:
    """File a document as it was suggested, perhaps only as it was shown at some time. Raises `Refused`."""
    with moving(Document.of(user_id).filter(id=document_id)):
        document = locked_document(user_id, document_id)
        if seen_at is not None and document.updated_at > seen_at:
            raise Refused(CHANGED_SINCE_SHOWN)
        if document.state != DocumentState.REVIEW:
            raise Refused(NOT_IN_REVIEW)
        if not document.file_type or not document.folder:
            raise Refused(UNDECIDED)
        known = Reference.objects.filter(file_type=document.file_type).first()
        if (
            known
            and _place_in_review(known, document).level == FilingLevel.PROJECT
            and document.project_id is None
        ):
            raise Refused(NO_PROJECT)
        values = {
            "state": DocumentState.FILED,
            "reason": "",
            "decided_by": DecidedBy.USER,
            "decided_at": timezone.now(),
        }
        effect = change(document, kind=EffectKind.FILED, made_by=MadeBy.USER, values=values)
        queue_readings(document)
        return effect


def accept_reviews(
    *, user_id: int, document_ids: Collection[int], seen_at: datetime | None = None
) -> BulkOutcome:
    """Accept the suggestions for several documents, each by itself."""
    accept = partial(accept_review, user_id=user_id, seen_at=seen_at)
    return _each(document_ids, lambda document_id: accept(document_id=document_id))


def correct_document(
    *, user_id: int, document_id: int, file_type: str, folder: str = "", project_id: int | None = None
) -> LibraryEffect | None:
    """File a document as the user says and remember that for later ones. Raises `Refused`.

    Without a folder it goes where its type belongs; with a project, it is filed there.
    """
    with moving(Document.of(user_id).filter(id=document_id)):
        document = locked_document(user_id, document_id)
        if document.state in UNFINISHED_STATES:
            raise Refused(STILL_READING)
        if document.storage_key is None:
            raise Refused(NOTHING_STORED)
        reference = _reference_of(file_type)
        project = _project_of(document, project_id) if project_id else None
        locked_place(
            user_id=user_id, client_id=document.client_id, project_id=project_id or None, document_id=None
        )
        place = _place_in_review(reference, document)
        if place.level == FilingLevel.PROJECT and not (project or document.project_id):
            raise Refused(NO_PROJECT)
        before = (document.file_type, document.folder)
        values: dict[str, Any] = {
            "file_type": reference.file_type,
            "category": reference.category,
            "folder": clean_folder(folder, document) if folder.strip() else place.folder,
            "level": place.level,
            "state": DocumentState.FILED,
            "reason": "",
            "proposal": {},
            "decided_by": DecidedBy.USER,
            "decided_at": timezone.now(),
        }
        if project:
            values["project_id"] = project.id
        if reference.file_type != document.file_type:  # each type has other facts
            values["facts_found_at"] = None
        effect = change(document, kind=EffectKind.CORRECTED, made_by=MadeBy.USER, values=values)
        if before != (document.file_type, document.folder):
            remember_correction(document, from_type=before[0])
        queue_readings(document)
        return effect


def _reference_of(file_type: str) -> Reference:
    """Return a type that documents can still get. Raises `Refused`."""
    known = Reference.objects.filter(is_retired=False)
    reference = known.filter(file_type=file_type.replace("\x00", "")).first()
    if reference is None:
        raise Refused(UNKNOWN_TYPE)
    return reference


def correct_documents(
    *, user_id: int, document_ids: Collection[int], file_type: str, folder: str = ""
) -> BulkOutcome:
    """Say the same of several documents, each by itself."""
    correct = partial(correct_document, user_id=user_id, file_type=file_type, folder=folder)
    return _each(document_ids, lambda document_id: correct(document_id=document_id))


def _each(document_ids: Collection[int], decide: Callable[[int], LibraryEffect | None]) -> BulkOutcome:
    """Decide on documents one by one; missing ones are left out. Raises `Refused` where they are too many."""
    if len(document_ids) > MAX_AT_ONCE:
        raise Refused(TOO_MANY, most=MAX_AT_ONCE)
    changed, refused = [], {}
    for document_id in sorted(set(document_ids)):
        try:
            decide(document_id)
        except Refused as refusal:
            refused[document_id] = refusal
        except Document.DoesNotExist:
            continue
        else:
            changed.append(document_id)
    return BulkOutcome(changed=changed, refused=refused)


def _project_of(document: Document, project_id: int) -> Project:
    project = accessible_project(user_id=document.user_id, project_id=project_id)
    if project.client_id != document.client_id:
        raise Refused(WRONG_CLIENT)
    return project


def _place_in_review(reference: Reference, document: Document) -> Placement:
    return place_of(reference, document.client, has_project=document.project_id is not None)


def place_of(reference: Reference, client: Client, *, has_project: bool) -> Placement:
    """Return where documents of a type are filed for this client; without a rule, as the reference says."""
    concerned = Q(file_type=reference.file_type) | Q(category=reference.category)
    rules = [
        Rule(
            file_type=row.file_type,
            category=row.category,
            client_type=row.client_type,
            folder=row.folder,
            level=FilingLevel(row.level),
        )
        for row in PlacementRule.objects.filter(concerned)
    ]
    own = Rule(file_type=reference.file_type, folder=reference.folder, level=FilingLevel(reference.level))
    return PlacementTable.of([own, *rules], {}).place(
        file_type=reference.file_type,
        category=reference.category,
        client_type=client.client_type,
        has_project=has_project,
    )
