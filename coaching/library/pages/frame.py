"""What all pages of the library have: their navigation, what waits for the person, and lists of documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy

from coaching.library.rows.folders import FolderDocuments, Place, read_folder, read_folders
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
    def of(cls, found: FolderDocuments) -> "FolderOfDocuments":
        return cls(
            name=found.name or str(NOT_FILED),
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
        "titles": dict(Reference.objects.values_list("file_type", "title")),
    }


def reading_of(place: Place, *, shown: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the context of the part that shows how far the reading is. `shown` joins its address."""
    asked: dict[str, Any] = {"client": place.client.pk} if place.client else dict(shown or {})
    if place.project:
        asked = {"project": place.project.pk}
    progress: Progress = read_progress(place)
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


def folders_of(place: Place) -> Sequence[FolderOfDocuments]:
    """Return all folders of a place with their newest documents."""
    return [FolderOfDocuments.of(found) for found in read_folders(place, limit=SHOWN_IN_FOLDER)]


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
