"""Deleting a client or a project, and what goes along. Another user's looks missing."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_noop, ngettext_lazy

from coaching.library.documents.calls import forget_calls
from coaching.library.documents.filing import queue_again
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
ITEMS = ngettext_lazy("%(count)s action item", "%(count)s action items", "count")


@transaction.atomic
def delete_client(*, user_id: int, client_id: int) -> None:
    """Delete a client with its projects, documents, knowledge and action items. Raises `Refused`."""
    client = Client.of(user_id).select_for_update().get(id=client_id)
    if client.client_type == ClientType.SELF:
        raise Refused(SELF_IS_KEPT)
    _delete(client, Document.of(user_id).filter(client=client))


@transaction.atomic
def delete_project(*, user_id: int, project_id: int) -> None:
    """Delete a project with its documents, knowledge and action items. Raises `Project.DoesNotExist`."""
    project = Project.of(user_id).select_for_update().get(id=project_id)
    _delete(project, Document.of(user_id).filter(project=project))


def _delete(place: Client | Project, documents: QuerySet[Document]) -> None:
    """Delete a place with its documents; elsewhere, their duplicates are read, as their only copies now."""
    gone = list(documents.values_list("id", flat=True))
    others = Document.of(place.user_id).exclude(id__in=gone)
    twins = list(
        others.filter(duplicate_of__in=gone, state=DocumentState.DUPLICATE).values_list("id", flat=True)
    )
    place.delete()
    for twin in Document.of(place.user_id).select_for_update().filter(id__in=twins):
        queue_again(twin)
    forget_calls(user_id=place.user_id)


def removal_of_client(client: Client) -> Sequence[str]:
    """Return what goes along with a client, each kind with its number."""
    projects = Project.of(client.user_id).filter(client=client).count()
    return [*([PROJECTS % {"count": projects}] if projects else []), *_rows_of(client.user_id, client=client)]


def removal_of_project(project: Project) -> Sequence[str]:
    """Return what goes along with a project, each kind with its number."""
    return _rows_of(project.user_id, project=project)


def conversations_about(place: Client | Project) -> int:
    """Count the conversations that are kept, but about nobody any more."""
    field = "client" if isinstance(place, Client) else "project"
    return SessionScope.of(place.user_id).filter(**{field: place}).count()


def _rows_of(user_id: int, **place: Client | Project) -> Sequence[str]:
    counts = [
        (DOCUMENTS, Document.of(user_id).filter(**place).count()),
        (ENTRIES, KnowledgeEntry.of(user_id).filter(**place).count()),
        (ITEMS, ActionItem.of(user_id).filter(**place).count()),
    ]
    return [words % {"count": count} for words, count in counts if count]
