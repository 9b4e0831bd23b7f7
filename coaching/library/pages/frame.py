"""What all pages of the library have: their navigation, what waits for the person, and lists of documents."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy

from coaching.library.references.words import shown_category, shown_folder, shown_folders, shown_title
from coaching.library.rows.folders import (
    FolderDocuments,
    Place,
    folder_names,
    read_folder,
    read_folders,
    reference_choices,
)
from coaching.library.rows.progress import Progress, read_progress, read_to_do
from coaching.models import Reference
from coaching.people.accounts import load_profile
from coaching.views.parts import page_in

SHOWN_IN_FOLDER = 8
DOCUMENTS_A_PAGE = 100
NOT_FILED = gettext_lazy("Not filed")
NOT_FILED_KEY = "-"
"""Names the documents without a folder in a URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderOfDocuments:
    """A folder with some of its documents, and the address of all."""

    name: str
    key: str
    is_filed: bool
    documents: Sequence[Any]
    total: int

    @classmethod
    def of(cls, found: FolderDocuments, *, name: str = "") -> "FolderOfDocuments":
        """Return a folder; without a name it has the one that it is shown by on its own."""
        return cls(
            name=(name or shown_folder(found.name)) if found.name else str(NOT_FILED),
            key=urlencode({"folder": found.name or NOT_FILED_KEY}),
            is_filed=bool(found.name),
            documents=found.documents,
            total=found.total,
        )


def frame_of(request: HttpRequest, section: str, *, user_id: int) -> dict[str, Any]:
    """Return the context of every page of the library."""
    return {
        "here": "library",
        "section": section,
        "zone": load_profile(request).zone,
        "to_do": read_to_do(user_id),
        "titles": {
            file_type: shown_title(title)
            for file_type, title in Reference.objects.values_list("file_type", "title")
        },
    }


def type_choices() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the types of documents with their titles, by category, sorted as they are shown."""
    named: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for category, choices in reference_choices().items():  # two categories may have the same name
        named[shown_category(category)] += [(file_type, shown_title(title)) for file_type, title in choices]
    return {
        category: sorted(named[category], key=lambda choice: choice[1].casefold())
        for category in sorted(named, key=str.casefold)
    }


def folder_choices(*, user_id: int, client_id: int) -> Sequence[str]:
    """Return the names of a client's folders, as they are shown."""
    names = shown_folders(folder_names(user_id=user_id, client_id=client_id))
    return sorted(names.values(), key=str.casefold)


def reading_of(
    place: Place, *, shown: Mapping[str, str] | None = None, since: datetime | None = None
) -> dict[str, Any]:
    """Return the context of the part that shows how far the reading is, and was `since` a page has it.

    `shown` joins its address.
    """
    progress: Progress = read_progress(place, now=timezone.now(), since=since)
    asked: dict[str, Any] = dict(shown or {})
    if place.project:
        asked = {"project": place.project.pk, "since": progress.since.isoformat()}
    elif place.client:
        asked = {"client": place.client.pk, "since": progress.since.isoformat()}
    address = reverse("library_progress")
    return {
        "progress": progress,
        "progress_address": f"{address}?{urlencode(asked)}" if asked else address,
        "place": place,
    }


def drop_of(place: Place) -> dict[str, Any]:
    """Return the context of the part that takes files."""
    return {
        "drop": {
            "client": place.client.pk if place.client else "",
            "project": place.project.pk if place.project else "",
            "max_mb": settings.SAGE_MAX_UPLOAD_MB,
            "max_files": settings.DATA_UPLOAD_MAX_NUMBER_FILES,
        }
    }


def folders_of(place: Place, progress: Progress) -> Sequence[FolderOfDocuments]:
    """Return all folders of a place with their newest documents, except those that `progress` shows."""
    shown = {document.pk for document in progress.newest}
    found = read_folders(place, limit=SHOWN_IN_FOLDER, without=shown)
    names = shown_folders([each.name for each in found])
    folders = [FolderOfDocuments.of(each, name=names[each.name]) for each in found]
    return sorted(folders, key=lambda folder: (folder.is_filed, folder.name.casefold()))


def folder_in(request: HttpRequest, place: Place) -> dict[str, Any]:
    """Return the context of one folder, page by page. Raises `Http404`."""
    number, name = page_in(request), request.GET["folder"]
    if "\x00" in name:
        raise Http404
    before = (number - 1) * DOCUMENTS_A_PAGE
    found = read_folder(
        place, name="" if name == NOT_FILED_KEY else name, limit=DOCUMENTS_A_PAGE, before=before
    )
    if not found.documents:
        raise Http404
    return {
        "folder": FolderOfDocuments.of(found),
        "newer_page": number - 1,
        "older_page": number + 1 if found.total > before + len(found.documents) else 0,
    }


def status_of_form(*, is_refused: bool, is_conflict: bool = False) -> HTTPStatus:
    """Return the status of a page with a form: whether it was refused, and because of another tab."""
    refused = HTTPStatus.CONFLICT if is_conflict else HTTPStatus.UNPROCESSABLE_ENTITY
    return refused if is_refused else HTTPStatus.OK
