"""Lists for pages: clients with counts, documents by folder, and how far the reading is.

Few rows are read and no long fields, however many documents there are.
"""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db.models import Case, Count, F, Q, QuerySet, Value, When, Window
from django.db.models.functions import RowNumber

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
    FilingLevel,
    KnowledgeEntry,
    Project,
    ProjectStatus,
    Reference,
)

LONG_FIELDS = ("summary", "key_facts", "why", "alternatives", "proposal")
NEWEST_SHOWN = 20
FIRST = Case(When(client_type=ClientType.SELF, then=Value(0)), default=Value(1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Whose documents a list shows: a client's own, a project's, or without either all of a person."""

    user_id: int
    client: Client | None = None
    project: Project | None = None

    @property
    def documents(self) -> QuerySet[Document]:
        rows: QuerySet[Document] = Document.of(self.user_id)
        if self.project:
            return rows.filter(project=self.project)
        if self.client:
            is_own = Q(project=None) | Q(level=FilingLevel.CLIENT, state=DocumentState.FILED)
            return rows.filter(is_own, client=self.client)
        return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderDocuments:
    """Some documents of a folder, newest first, and how many it has. Without a name: those not filed."""

    name: str
    documents: Sequence[Document]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The newest documents of a place, and of what is still being read how much is done."""

    newest: Sequence[Document]
    unfinished: int
    done: int

    @property
    def total(self) -> int:
        return self.unfinished + self.done


@dataclass(frozen=True, slots=True, kw_only=True)
class ToDo:
    """What waits for the person."""

    reviews: int
    proposed_entries: int
    proposed_actions: int
    open_actions: int


def read_folders(place: Place, *, limit: int) -> Sequence[FolderDocuments]:
    """Return all folders by name, each with up to `limit` documents; first what isn't filed."""
    found = (
        _in_folders(place)
        .annotate(
            from_first=Window(
                RowNumber(),
                partition_by=F("listed_in"),
                order_by=[F("created_at").desc(), F("id").desc()],
            ),
            total=Window(Count("id"), partition_by=F("listed_in")),
        )
        .filter(from_first__lte=limit)
        .order_by("listed_in", "-created_at", "-id")
    )
    return [
        FolderDocuments(name=name, documents=documents, total=getattr(documents[0], "total", 0))
        for name, group in groupby(found, key=attrgetter("listed_in"))
        if (documents := list(group))
    ]


def read_folder(place: Place, *, name: str, limit: int, before: int) -> FolderDocuments:
    """Return up to `limit` documents of a folder, after the first `before`."""
    rows = _in_folders(place).filter(listed_in=name).order_by("-created_at", "-id")
    return FolderDocuments(name=name, documents=list(rows[before : before + limit]), total=rows.count())


def read_progress(place: Place) -> Progress:
    """Return the newest documents, and how many of those that came with unread ones are read."""
    rows = place.documents
    unfinished = rows.filter(state__in=UNFINISHED_STATES)
    batches: list[uuid.UUID] = list(unfinished.order_by().values_list("batch", flat=True).distinct()[:200])
    counts = rows.filter(batch__in=batches).aggregate(
        done=Count("id", filter=~Q(state__in=UNFINISHED_STATES)),
        unfinished=Count("id", filter=Q(state__in=UNFINISHED_STATES)),
    )
    newest = _with_names(rows.order_by("-created_at", "-id"))[:NEWEST_SHOWN]
    return Progress(newest=list(newest), unfinished=counts["unfinished"], done=counts["done"])


def read_to_do(user_id: int) -> ToDo:
    """Count what waits for the person in the library."""
    actions = ActionItem.of(user_id).aggregate(
        proposed=Count("id", filter=Q(state=ActionState.PROPOSED)),
        open=Count("id", filter=Q(state=ActionState.OPEN)),
    )
    return ToDo(
        reviews=Document.of(user_id).filter(state=DocumentState.REVIEW).count(),
        proposed_entries=KnowledgeEntry.of(user_id).filter(state=EntryState.PROPOSED).count(),
        proposed_actions=actions["proposed"],
        open_actions=actions["open"],
    )


def list_clients(user_id: int, *, is_archived: bool) -> QuerySet[Client]:
    """Return a person's clients, first themselves, then by name."""
    archived = Q(status=ClientStatus.ARCHIVED)
    return Client.of(user_id).filter(archived if is_archived else ~archived).order_by(FIRST, "name", "id")


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


def document_with_text(*, user_id: int, document_id: int) -> Document:
    """Return a document with its text, client and twins. Raises `Document.DoesNotExist`."""
    whole = Document.of(user_id).select_related("client", "project", "text", "duplicate_of", "similar_to")
    return whole.get(id=document_id)


def folder_names(*, user_id: int, client_id: int) -> Sequence[str]:
    """Return the folders that a client's documents are in, and those that references name."""
    rows = Document.of(user_id).filter(client_id=client_id).exclude(folder="")
    names = set(rows.order_by().values_list("folder", flat=True).distinct())
    return sorted(names | set(Reference.objects.filter(is_retired=False).values_list("folder", flat=True)))


def reference_choices() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the types of documents with their titles, by category."""
    rows = Reference.objects.filter(is_retired=False).order_by("category", "title")
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for category, file_type, title in rows.values_list("category", "file_type", "title"):
        found[category].append((file_type, title))
    return dict(found)


def _in_folders(place: Place) -> QuerySet[Any]:
    filed = When(state=DocumentState.FILED, then=F("folder"))
    return place.documents.annotate(listed_in=Case(filed, default=Value(""))).defer(*LONG_FIELDS)


def _with_names(rows: QuerySet[Document]) -> QuerySet[Document]:
    return rows.select_related("client", "project").defer(*LONG_FIELDS)
