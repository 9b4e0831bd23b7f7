"""Deleting a client or a project, and what goes along. Another user's looks missing."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_noop, ngettext_lazy

from coaching.library.documents.calls import forget_calls
from coaching.library.documents.filing import queue_again
from coaching.library.documents.locks import lock_for_deletion
from coaching.library.effects import keep_keys
from coaching.library.moves import moving
from coaching.models import (
    ActionItem,
    Client,
    ClientType,
    Document,
    DocumentState,
    KnowledgeEntry,
    Project,
    SessionScope,
)
from sessions_app.errors import Refused

SELF_IS_KEPT = gettext_noop("Your own part of the library can’t be deleted, only its documents.")
PROJECTS = ngettext_lazy("%(count)s project", "%(count)s projects", "count")
DOCUMENTS = ngettext_lazy("%(count)s document", "%(count)s documents", "count")
ENTRIES = ngettext_lazy("%(count)s knowledge entry", "%(count)s knowledge entries", "count")
ITEMS = ngettext_lazy("%(count)s next step", "%(count)s next steps", "count")


@transaction.atomic
def delete_client(*, user_id: int, client_id: int) -> None:
    """Delete a client with its projects, documents, knowledge and next steps. Raises `Refused`."""
    client = Client.of(user_id).get(id=client_id)
    if client.client_type == ClientType.SELF:
        raise Refused(SELF_IS_KEPT)
    _delete(client, Q(client=client))


@transaction.atomic
def delete_project(*, user_id: int, project_id: int) -> None:
    """Delete a project with its documents, knowledge and next steps. Raises `Project.DoesNotExist`."""
    project = Project.of(user_id).get(id=project_id)
    _delete(project, Q(project=project))


def _delete(place: Client | Project, its_documents: Q) -> None:
    """Delete a place with its documents; elsewhere, their duplicates are read, as their only copies now."""
    copied = Document.of(place.user_id).filter(its_documents).order_by().values("id")
    with moving(Document.of(place.user_id).filter(duplicate_of__in=copied, state=DocumentState.DUPLICATE)):
        gone = lock_for_deletion(place.user_id, its_documents, place=place)
        others = Document.of(place.user_id).exclude(id__in=gone)
        is_twin = Q(duplicate_of__in=gone, state=DocumentState.DUPLICATE)
        twins = list(others.filter(is_twin).values_list("id", flat=True))
        keep_keys(ActionItem.of(place.user_id).filter(**{_field_of(place): place}))
        place.delete()
        for twin in Document.of(place.user_id).filter(id__in=twins).order_by("id"):
            queue_again(twin)
        forget_calls(user_id=place.user_id, document_ids=gone)


def removal_of_client(client: Client) -> Sequence[str]:
    """Return what goes along with a client, each kind with its number."""
    projects = Project.of(client.user_id).filter(client=client).count()
    return [*([PROJECTS % {"count": projects}] if projects else []), *_rows_of(client.user_id, client=client)]


def removal_of_project(project: Project) -> Sequence[str]:
    """Return what goes along with a project, each kind with its number."""
    return _rows_of(project.user_id, project=project)


def conversations_about(place: Client | Project) -> int:
    """Count the conversations that are kept, but about nobody any more."""
    return SessionScope.of(place.user_id).filter(**{_field_of(place): place}).count()


def _field_of(place: Client | Project) -> str:
    return "client" if isinstance(place, Client) else "project"


def _rows_of(user_id: int, **place: Client | Project) -> Sequence[str]:
    counts = [
        (DOCUMENTS, Document.of(user_id).filter(**place).count()),
        (ENTRIES, KnowledgeEntry.of(user_id).filter(**place).count()),
        (ITEMS, ActionItem.of(user_id).filter(**place).count()),
    ]
    return [words % {"count": count} for words, count in counts if count]
