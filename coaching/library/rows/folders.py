"""Reads documents by folder, for pages: few rows and no long fields, however many documents there are."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db.models import Case, Count, F, Q, QuerySet, Value, When, Window
from django.db.models.functions import RowNumber

from coaching.library.rows.documents import documents_of
from coaching.models import (
    Client,
    Document,
    DocumentState,
    FilingLevel,
    Project,
    Reference,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderCount:
    """A folder of a client or project and how many documents lie in it."""

    name: str
    documents: int


def folders_of(*, user_id: int, client_id: int, project_id: int | None = None) -> Sequence[FolderCount]:
    rows = documents_of(user_id=user_id, client_id=client_id, project_id=project_id).exclude(folder="")
    counted = rows.order_by("folder").values_list("folder").annotate(documents=Count("id"))
    return [FolderCount(name=name, documents=documents) for name, documents in counted]


LONG_FIELDS = ("summary", "key_facts", "why", "alternatives", "proposal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Whose documents a list shows: a client's own, a project's, or without either all of a person."""

    user_id: int
    client: Client | None = None
    project: Project | None = None

    @property
    def is_everything(self) -> bool:
        return self.client is None and self.project is None

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


def read_folders(
    place: Place, *, limit: int, without: Collection[int] = frozenset()
) -> Sequence[FolderDocuments]:
    """Return all folders by name, each with up to `limit` documents; first what isn't filed.

    `without` has the ids of documents that the page shows elsewhere.
    """
    found = (
        _in_folders(place)
        .exclude(id__in=without)
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
