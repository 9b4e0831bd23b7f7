"""Reads clients and projects with their counts. Another user's look missing."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Case, Count, Q, QuerySet, Value, When

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
    Project,
    ProjectStatus,
)

MAX_PLACES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCounts:
    """How much there is of a client, for its page and for a model."""

    documents: int
    in_review: int
    unfinished: int
    knowledge: int
    open_actions: int
    proposals: int


def choosable_places(*, user_id: int) -> Sequence[tuple[Client, Project | None]]:
    """Return clients, the user first, each with its projects; those that are archived are left out."""
    clients = list(list_clients(user_id)[:MAX_PLACES])
    projects = Project.of(user_id).filter(client__in=clients).exclude(status=ProjectStatus.ARCHIVED)
    of_client: dict[int, list[Project]] = {}
    for project in projects.order_by("-updated_at")[:MAX_PLACES]:
        of_client.setdefault(project.client_id, []).append(project)
    return [
        place
        for client in clients
        for place in ((client, None), *((client, project) for project in of_client.get(client.pk, ())))
    ]


def list_clients(user_id: int, *, query: str = "", is_archived: bool | None = False) -> QuerySet[Client]:
    """Return a person's clients, first themselves, then by name: archived ones, the others, or all (None).

    A query's words are in the client's name or notes, or in a project's name.
    """
    rows = Client.of(user_id)
    if is_archived is not None:
        archived = Q(status=ClientStatus.ARCHIVED)
        rows = rows.filter(archived if is_archived else ~archived)
    for word in query.split()[:8]:
        named = Project.of(user_id).filter(name__icontains=word).values("client_id")
        rows = rows.filter(Q(name__icontains=word) | Q(notes__icontains=word) | Q(id__in=named))
    return rows.order_by(Case(When(client_type=ClientType.SELF, then=0), default=1), "name", "id")


def counts_of(*, user_id: int, client_id: int) -> ClientCounts:
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


def list_projects(user_id: int, client: Client) -> QuerySet[Project]:
    """Return a client's projects with their number of documents, first the active ones."""
    is_archived = Case(When(status=ProjectStatus.ARCHIVED, then=Value(1)), default=Value(0))
    rows = Project.of(user_id).filter(client=client).annotate(count=Count("documents"))
    return rows.order_by(is_archived, "name", "id")


def count_folders(user_id: int, clients: Sequence[Client]) -> Mapping[int, Sequence[tuple[str, int]]]:
    """Return by client the folders with their number of documents, those of projects too."""
    rows = (
        Document.of(user_id)
        .filter(client__in=clients, state=DocumentState.FILED)
        .order_by("folder")
        .values_list("client_id", "folder")
        .annotate(count=Count("id"))
    )
    found: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for client_id, folder, count in rows:
        found[client_id].append((folder, count))
    return found
