"""Reads a person's library. Another user's rows look missing, and every list is bounded or lazy."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Case, Count, Q, QuerySet, When

from coaching.models import (
    UNFINISHED_STATES,
    ActionItem,
    ActionState,
    Client,
    ClientStatus,
    ClientType,
    Document,
    DocumentState,
    EntryState,
    KnowledgeEntry,
    LibraryEffect,
    Project,
    ProjectStatus,
)

MAX_MATCHES = 10
MAX_PLACES = 40

RowT = TypeVar("RowT", KnowledgeEntry, ActionItem)
_NUMBERED_COPY = re.compile(
    r"(?<!\s)\s*(?:\((?:\d{1,3}|copy)\)|[-_ ](?:copy|kopie|final|v\d{1,3}|\d{1,2}))$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder of a client or project and how many documents lie in it."""

    name: str
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCounts:
    """How much there is of a client, for its page and for a model."""

    documents: int
    in_review: int
    unfinished: int
    knowledge: int
    open_actions: int
    proposals: int


def documents_of(
    *,
    user_id: int,
    client_id: int | None = None,
    project_id: int | None = None,
    folder: str = "",
    state: DocumentState | None = None,
) -> QuerySet[Document]:
    """Return documents, the newest first, without their texts."""
    rows = Document.of(user_id).select_related("client", "project")
    rows = rows.filter(client_id=client_id) if client_id else rows
    rows = rows.filter(project_id=project_id) if project_id else rows
    rows = rows.filter(folder=folder) if folder else rows
    return rows.filter(state=state) if state else rows


def reviews_of(*, user_id: int) -> QuerySet[Document]:
    """Return the documents that wait for the user, the oldest first."""
    return documents_of(user_id=user_id, state=DocumentState.REVIEW).order_by("created_at", "id")


def suggestions_of(*, user_id: int) -> QuerySet[Document]:
    """Return those of them for which there is a suggestion that can be accepted."""
    return reviews_of(user_id=user_id).exclude(file_type="").exclude(folder="")


def entries_of(
    *,
    user_id: int,
    client_id: int | None = None,
    project_id: int | None = None,
    document_id: int | None = None,
    state: EntryState | None = None,
) -> QuerySet[KnowledgeEntry]:
    """Return knowledge entries, the newest first; the dismissed ones only if they are asked for."""
    rows = KnowledgeEntry.of(user_id).select_related("client", "project", "document")
    rows = rows.filter(client_id=client_id) if client_id else rows
    rows = rows.filter(project_id=project_id) if project_id else rows
    rows = rows.filter(document_id=document_id) if document_id else rows
    return rows.filter(state=state) if state else rows.exclude(state=EntryState.DISMISSED)


def actions_of(
    *,
    user_id: int,
    client_id: int | None = None,
    project_id: int | None = None,
    document_id: int | None = None,
    state: ActionState | None = None,
) -> QuerySet[ActionItem]:
    """Return action items by due date; the dismissed ones only if they are asked for."""
    rows = ActionItem.of(user_id).select_related("client", "project", "document")
    rows = rows.filter(client_id=client_id) if client_id else rows
    rows = rows.filter(project_id=project_id) if project_id else rows
    rows = rows.filter(document_id=document_id) if document_id else rows
    return rows.filter(state=state) if state else rows.exclude(state=ActionState.DISMISSED)


def for_models(rows: "QuerySet[RowT]") -> "QuerySet[RowT]":
    """Return entries or action items without those of documents that a model never gets."""
    return rows.exclude(document__is_withheld=True)


def folders_of(*, user_id: int, client_id: int, project_id: int | None = None) -> Sequence[Folder]:
    """Return the folders of a client, or of one of its projects, by name."""
    rows = documents_of(user_id=user_id, client_id=client_id, project_id=project_id).exclude(folder="")
    counted = rows.order_by("folder").values_list("folder").annotate(documents=Count("id"))
    return [Folder(name=name, documents=documents) for name, documents in counted]


def choosable_places(*, user_id: int) -> Sequence[tuple[Client, Project | None]]:
    """Return clients, the user first, each with its projects; those that are archived are left out."""
    clients = list(clients_of(user_id=user_id)[:MAX_PLACES])
    projects = Project.of(user_id).filter(client__in=clients).exclude(status=ProjectStatus.ARCHIVED)
    of_client: dict[int, list[Project]] = {}
    for project in projects.order_by("-updated_at")[:MAX_PLACES]:
        of_client.setdefault(project.client_id, []).append(project)
    return [
        place
        for client in clients
        for place in ((client, None), *((client, project) for project in of_client.get(client.pk, ())))
    ]


def clients_of(*, user_id: int, query: str = "", is_archived: bool = False) -> QuerySet[Client]:
    """Return clients by name, the user first; a query's words are in name, notes or a project's name."""
    rows = Client.of(user_id)
    if not is_archived:
        rows = rows.exclude(status=ClientStatus.ARCHIVED)
    for word in query.split()[:8]:
        named = Project.of(user_id).filter(name__icontains=word).values("client_id")
        rows = rows.filter(Q(name__icontains=word) | Q(notes__icontains=word) | Q(id__in=named))
    is_self = Case(When(client_type=ClientType.SELF, then=0), default=1)
    return rows.order_by(is_self, "name", "id")


def counts_of(*, user_id: int, client_id: int) -> ClientCounts:
    """Count what there is of a client."""
    documents = (
        Document.of(user_id)
        .filter(client_id=client_id)
        .aggregate(
            all=Count("id"),
            in_review=Count("id", filter=Q(state=DocumentState.REVIEW)),
            unfinished=Count("id", filter=Q(state__in=UNFINISHED_STATES)),
        )
    )
    knowledge = (
        KnowledgeEntry.of(user_id)
        .filter(client_id=client_id)
        .aggregate(
            accepted=Count("id", filter=Q(state=EntryState.ACCEPTED)),
            proposed=Count("id", filter=Q(state=EntryState.PROPOSED)),
        )
    )
    actions = (
        ActionItem.of(user_id)
        .filter(client_id=client_id)
        .aggregate(
            open=Count("id", filter=Q(state=ActionState.OPEN)),
            proposed=Count("id", filter=Q(state=ActionState.PROPOSED)),
        )
    )
    return ClientCounts(
        documents=documents["all"],
        in_review=documents["in_review"],
        unfinished=documents["unfinished"],
        knowledge=knowledge["accepted"],
        open_actions=actions["open"],
        proposals=knowledge["proposed"] + actions["proposed"],
    )


def possible_duplicates(
    *, user_id: int, file_name: str, client_id: int | None = None, file_type: str = ""
) -> Sequence[Document]:
    """Return documents with this name, give or take a copy's number, the likeliest first.

    Of each, `duplicate_of` and `similar_to` say what was found by content.
    """
    stem, _, extension = file_name.strip().rpartition(".")
    stem = _NUMBERED_COPY.sub("", stem or extension)[:200]
    if not stem:
        return []
    rows = documents_of(user_id=user_id, client_id=client_id)
    rows = rows.filter(name__istartswith=stem, is_withheld=False)
    rows = rows.filter(file_type=file_type) if file_type else rows
    return list(rows.select_related("duplicate_of", "similar_to")[:MAX_MATCHES])


def effects_of(*, user_id: int, document_id: int | None = None) -> QuerySet[LibraryEffect]:
    """Return what was changed in the library, or in one document, the newest first."""
    rows = LibraryEffect.of(user_id).select_related("document", "entry", "action_item")
    return rows.filter(document_id=document_id) if document_id else rows
