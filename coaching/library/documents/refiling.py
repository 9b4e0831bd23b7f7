"""Filing a document elsewhere in one step: under another type, in another folder, for another client.

`refiled` returns what would change. What was done is one effect, which one click undoes.
"""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from coaching.library.documents.corrections import remember_correction
from coaching.library.documents.filing import NO_PROJECT, NOTHING_STORED, clean_folder
from coaching.library.documents.intake import destination_of
from coaching.library.documents.locks import locked_document
from coaching.library.documents.readings import queue_readings
from coaching.library.documents.reasons import STILL_READING
from coaching.library.documents.reviews import UNDECIDED, UNKNOWN_TYPE, place_of
from coaching.library.effects import change
from coaching.library.moves import moving
from coaching.library.places import locked_place
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
    Project,
    Reference,
)
from sessions_app.errors import Refused

SAME_PLACE = gettext_noop("This document is already filed that way.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refiling:
    """Where a document is to be filed. What is empty or None stays, or follows from the type."""

    file_type: str = ""
    folder: str = ""
    client_id: int | None = None
    project_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """Where a document is filed, in words and by the ids of its place."""

    file_type: str
    folder: str
    client: str
    client_id: int
    project: str
    project_id: int | None


def refiled(*, user_id: int, document_id: int, to: Refiling) -> tuple[Filed, Filed]:
    """Return where a document is filed and where it would be. Raises as `refile_document` does."""
    document = Document.of(user_id).select_related("client", "project").get(id=document_id)
    values = _values(document, to)
    client = Client.of(user_id).get(id=values.get("client_id", document.client_id))
    project_id = values.get("project_id", document.project_id)
    project = Project.of(user_id).get(id=project_id) if project_id else None
    titles = dict(Reference.objects.values_list("file_type", "title"))
    before, after = document.file_type, values.get("file_type", document.file_type)
    was = Filed(
        file_type=titles.get(before, before),
        folder=document.folder,
        client=document.client.name,
        client_id=document.client_id,
        project_id=document.project_id,
        project=document.project.name if document.project else "",
    )
    becomes = Filed(
        file_type=titles.get(after, after),
        folder=values["folder"],
        client=client.name,
        client_id=client.id,
        project_id=project_id,
        project=project.name if project else "",
    )
    if was == becomes and not _decided(document):
        raise Refused(SAME_PLACE)
    return was, becomes


@transaction.atomic
def refile_document(
    *, user_id: int, document_id: int, to: Refiling, made_by: MadeBy, tool_use_id: str = ""
) -> LibraryEffect:
    """File a document as said, and remember a correction for later ones.

    Raises `Refused`, and `DoesNotExist` for what isn't the user's.
    """
    with moving(Document.of(user_id).filter(id=document_id)):
        document = locked_document(user_id, document_id)
        values = _values(document, to)
        locked_place(
            user_id=user_id,
            client_id=values.get("client_id", document.client_id),
            project_id=values.get("project_id", document.project_id),
            document_id=None,
        )
        before = (document.file_type, document.folder)
        is_corrected = values.get("file_type", before[0]) != before[0]
        kind = EffectKind.CORRECTED if is_corrected else EffectKind.MOVED
        effect = change(document, kind=kind, made_by=made_by, values=values, tool_use_id=tool_use_id)
        if effect is None:
            raise Refused(SAME_PLACE)
        if is_corrected:
            remember_correction(document, from_type=before[0])
        queue_readings(document)
        return effect


def _values(document: Document, to: Refiling) -> dict[str, Any]:
    """Return the fields that filing a document so changes. Raises `Refused` and `DoesNotExist`."""
    if document.state in UNFINISHED_STATES:
        raise Refused(STILL_READING)
    if document.storage_key is None:
        raise Refused(NOTHING_STORED)
    values: dict[str, Any] = {}
    client, project_id = document.client, document.project_id
    if to.client_id or to.project_id:
        place = destination_of(user_id=document.user_id, client_id=to.client_id, project_id=to.project_id)
        client, project_id = place.client, place.project.id if place.project else None
        values |= {"client_id": client.id, "project_id": project_id}
    reference = _reference(to.file_type or document.file_type, is_new=bool(to.file_type))
    placed = place_of(reference, client, has_project=project_id is not None)
    if placed.level == FilingLevel.PROJECT and project_id is None:
        raise Refused(NO_PROJECT)
    if reference.file_type != document.file_type:
        values |= {
            "file_type": reference.file_type,
            "category": reference.category,
            "facts_found_at": None,
        }
    is_typed = bool(to.file_type) or not document.folder
    folder = placed.folder if is_typed else document.folder
    if to.folder.strip():  # a model may name it in the language of the person's pages
        folder = clean_folder(to.folder, document, client_id=client.id, is_any_language=True)
    return values | {"folder": folder, "level": placed.level, **_decided(document)}


def _decided(document: Document) -> dict[str, Any]:
    """Return what a decision of the user changes in a document that hasn't been theirs."""
    if document.state == DocumentState.FILED and document.decided_by == DecidedBy.USER:
        return {}
    return {
        "state": DocumentState.FILED,
        "reason": "",
        "proposal": {},
        "decided_by": DecidedBy.USER,
        "decided_at": timezone.now(),
    }


def _reference(file_type: str, *, is_new: bool) -> Reference:
    rows = Reference.objects.filter(file_type=file_type.replace("\x00", ""))
    found = rows.filter(is_retired=False).first() if is_new else rows.first()
    if found is None:
        raise Refused(UNKNOWN_TYPE if is_new else UNDECIDED)
    return found
