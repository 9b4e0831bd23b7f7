"""Takes documents in: their bytes into the storage, a row, and the job that reads them.

The bytes are stored before the row commits, and the job is a row of the same transaction: a document that is
shown is stored, and is read. Of pictures, nothing is stored that says where they were taken.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_noop

from coaching.files.objects import store_object_now
from coaching.files.quota import check_room, lock_usage, refuse_when_full
from coaching.job_queue.documents import enqueue_document
from coaching.library.clients import accessible_client, accessible_project, own_client
from coaching.library.documents.locks import lock_documents
from coaching.library.documents.picture_metadata import MetadataStays, without_metadata
from coaching.library.documents.reasons import join_reasons
from coaching.library.moves import adding
from coaching.models import Client, Document, DocumentSource, DocumentState, Project
from coaching.people.profile_changes import offer_library
from coaching.sandbox.limits import MEGABYTE

MAX_NAME = 255
MAX_REFUSED = 500
"""As many documents without bytes are kept of a person; the quota doesn't count them."""
TOO_LARGE = gettext_noop("This file is too large:")
EMPTY = gettext_noop("This file is empty.")
UNUSUAL_PICTURE = gettext_noop(
    "Sage couldn’t remove from this picture what it says of its place and time, so it wasn’t stored. Save a "
    "copy in another program, and upload that."
)
"""As file managers count."""


Together = Callable[[Document], None]
"""What is written in the transaction of a new document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Whose document it is, and where it came from: `batch` is one for those that came together.

    `part_of_id` is the email that it was attached to, `import_id` the import that brings it, perhaps from a
    project of the other app. With `is_on_hold` Sage doesn't read it by itself until its person lets it.
    """

    client: Client
    project: Project | None = None
    source: DocumentSource = DocumentSource.UPLOAD
    session_id: uuid.UUID | None = None
    batch: uuid.UUID
    part_of_id: int | None = None
    import_id: int | None = None
    import_project: str = ""
    is_on_hold: bool = False


def destination_of(
    *,
    user_id: int,
    client_id: int | None = None,
    project_id: int | None = None,
    source: DocumentSource = DocumentSource.UPLOAD,
    session_id: uuid.UUID | None = None,
    batch: uuid.UUID | None = None,
) -> Destination:
    """Return the destination with these ids: of a project its client, and without any the user.

    Raises `Client.DoesNotExist` and `Project.DoesNotExist`, also for a project of another client.
    """
    project = accessible_project(user_id=user_id, project_id=project_id) if project_id else None
    if project and client_id not in (None, project.client_id):
        raise Project.DoesNotExist
    if project:
        client = project.client
    elif client_id:
        client = accessible_client(user_id=user_id, client_id=client_id)
    else:
        client = own_client(user_id)
    return Destination(
        client=client, project=project, source=source, session_id=session_id, batch=batch or uuid.uuid4()
    )


def take_in(
    *,
    user_id: int,
    name: str,
    data: bytes,
    destination: Destination,
    is_withheld: bool = False,
    also: Together = lambda _: None,
) -> Document:
    """Store a document and queue its reading; one that is over a limit becomes `refused`, with the reason.

    `also` runs in the transaction of the row; what it raises leaves no document. Sync code, outside
    transactions. Raises `StorageFailed`, and `QuotaReached` where it doesn't fit into the quota.
    """
    data, reason = _as_stored(data)
    if reason:
        return refuse(
            user_id=user_id, name=name, size=len(data), destination=destination, reason=reason, also=also
        )
    refuse_when_full(user_id=user_id, size=len(data))
    stored = store_object_now(user_id=user_id, data=data)
    with adding(destination.session_id) as added:
        email = _lock_email(user_id, destination)
        check_room(lock_usage(user_id), size=len(data), is_new_file=True)
        document = Document.of(user_id).create(
            **_values(clean_name(name), destination),
            size=stored.size,
            sha256=stored.sha256,
            storage_key=stored.key,
            is_withheld=is_withheld or (email is not None and email.is_withheld),
            is_on_hold=destination.is_on_hold if email is None else email.is_on_hold,
        )
        offer_library(user_id)
        enqueue_document(document)
        also(document)
        added.append(document)
    return document


def refuse(
    *,
    user_id: int,
    name: str,
    size: int,
    destination: Destination,
    reason: str,
    also: Together = lambda _: None,
) -> Document:
    """Record a document that is over a limit, without its bytes, and forget the oldest of many such."""
    with adding(destination.session_id) as added:
        _lock_email(user_id, destination)
        document = Document.of(user_id).create(
            **_values(clean_name(name), destination),
            size=size,
            storage_key=None,
            state=DocumentState.REFUSED,
            reason=reason,
        )
        also(document)
        added.append(document)
    unread = Document.of(user_id).filter(state=DocumentState.REFUSED, storage_key=None).order_by("-id")
    oldest = unread.values_list("id", flat=True)[MAX_REFUSED:]
    with transaction.atomic():
        unread.filter(id__in=lock_documents(user_id, oldest)).delete()
    return document


def clean_name(name: str) -> str:
    """Return a file's name without folders and control characters; it is only shown, never used as a path."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(character for character in last if character.isprintable()).strip()
    return shown[-MAX_NAME:] or "document"


def refusal_of_size(size: int) -> str:
    """Return why a document of so many bytes isn't taken; empty if it is."""
    limit = settings.SAGE_MAX_UPLOAD_MB
    if size > limit * MEGABYTE:
        return join_reasons([TOO_LARGE, f"{size / MEGABYTE:,.1f} MB (max. {limit} MB)."])
    return "" if size else EMPTY


def _as_stored(data: bytes) -> tuple[bytes, str]:
    """Return a document's bytes as they are stored, and why they aren't; empty if they are."""
    if reason := refusal_of_size(len(data)):
        return data, reason
    try:
        return without_metadata(data), ""
    except MetadataStays:
        return data, UNUSUAL_PICTURE


def _lock_email(user_id: int, destination: Destination) -> Document | None:
    """Lock the email that a new document refers to, if there is one: what holds for it now holds for both.

    Raises `Document.DoesNotExist` if it was deleted.
    """
    email = destination.part_of_id
    if email is None:
        return None
    if email not in lock_documents(user_id, [email], to_refer=True):
        raise Document.DoesNotExist
    return Document.of(user_id).only("is_withheld", "is_on_hold").get(id=email)


def _values(name: str, destination: Destination) -> dict[str, object]:
    return {
        "name": name,
        "client": destination.client,
        "project": destination.project,
        "source": destination.source,
        "session_id": destination.session_id,
        "batch": destination.batch,
        "part_of_id": destination.part_of_id,
        "made_by_import_id": destination.import_id,
        "import_project": destination.import_project,
    }
