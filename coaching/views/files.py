"""Files: the tree, and a single file as a page, raw, at an older version, or as a download."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from http import HTTPStatus
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.http import content_disposition_header
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.views.decorators.http import require_safe

from coaching.downloads.zip_stream import safe_name
from coaching.files.edits import outdated_in
from coaching.files.frontmatter import parse_file
from coaching.files.organising import can_be_named
from coaching.files.safety_plans import PLAN_PATH
from coaching.files.selectors import FileText, read_file
from coaching.files.tree import FolderFiles, find_by_name, read_folder, read_folders
from coaching.models import FileType, UserFile, is_private
from coaching.people.accounts import load_profile, user_id_of
from coaching.recall.question import clean_question
from coaching.sandbox.markdown import render_markdown
from coaching.transcript.file_attributes import attributes_of
from coaching.transcript.names import FOLDER_NAMES, folder_name, name_of, without_directions
from coaching.transcript.plans import plan_in_words
from coaching.views.capture_cards import is_look_pending, take_card
from coaching.views.chosen_files import ids_in
from coaching.views.file_tasks import with_boxes
from coaching.views.file_versions import newest_rows, number_in, undone_to
from coaching.views.hits import found_in_files
from coaching.views.parts import or_404, page_in, with_wait

SHOWN_IN_TREE = 6
OPEN_AT_FIRST = 3
"""Folders whose files are shown at once: those that changed last."""
FEW_FILES = 12
"""No more than these are shown whatever their folders."""
FILES_A_PAGE = 100
NAMES_FOUND = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    id: int
    path: str
    shown_name: str
    type_name: str
    preview_line: str
    updated_at: datetime

    @classmethod
    def of(cls, file: UserFile) -> "FileRow":
        facts = {} if is_private(file.file_type) else file.frontmatter
        preview_line = facts.get("preview_line") or facts.get("intention")
        return cls(
            id=file.pk,
            path=file.path,
            shown_name=name_of(file),
            type_name=file.get_file_type_display(),
            preview_line=without_directions(preview_line) if isinstance(preview_line, str) else "",
            updated_at=file.updated_at,
        )


def told_apart(files: Sequence[UserFile]) -> Sequence[FileRow]:
    """Return the rows of files of any folders, each name that comes twice with its folder.

    A day's plan and its log have the same name.
    """
    rows = [FileRow.of(file) for file in files]
    count = Counter(row.shown_name for row in rows)
    return [
        replace(row, shown_name=f"{folder_name(row.path)}: {row.shown_name}")
        if count[row.shown_name] > 1
        else row
        for row in rows
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Files of a folder in a group: those of a month, or all of them without a name."""

    name: str
    files: Sequence[FileRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderOfFiles:
    path: str
    name: str
    count: int
    files: Sequence[FileRow]
    is_open: bool

    @classmethod
    def of(cls, found: FolderFiles, *, is_open: bool = True) -> "FolderOfFiles":
        return cls(
            path=found.path,
            name=str(FOLDER_NAMES.get(found.path) or without_directions(found.path)),
            count=found.total,
            files=[FileRow.of(file) for file in found.files],
            is_open=is_open,
        )


@login_required
@require_safe
def files(request: HttpRequest) -> HttpResponse:
    """Show the person's folders with their first files, or one folder page by page."""
    user_id, zone = user_id_of(request), load_profile(request).zone
    if "folder" in request.GET:
        return _folder_page(request, user_id, zone)
    query = clean_question(request.GET.get("q", "")).strip()
    if query:
        return _search_page(request, user_id, zone, query)
    found = read_folders(user_id=user_id, limit=SHOWN_IN_TREE)
    context = {
        "here": "files",
        "zone": zone,
        "folders": _with_the_last_open(found),
        "is_choosing": bool(found) and _is_choosing(request),
        "deleted": UserFile.deleted_of(user_id).count(),
        **_just_deleted(request, user_id),
    }
    return render(request, "coaching/pages/files.html", context)


def _with_the_last_open(found: Sequence[FolderFiles]) -> list[FolderOfFiles]:
    if sum(len(folder.files) for folder in found) <= FEW_FILES:
        return [FolderOfFiles.of(folder) for folder in found]
    changed = sorted((max(file.updated_at for file in folder.files) for folder in found), reverse=True)
    since = changed[:OPEN_AT_FIRST][-1] if changed else None
    return [
        FolderOfFiles.of(folder, is_open=any(since and file.updated_at >= since for file in folder.files))
        for folder in found
    ]


def _is_choosing(request: HttpRequest) -> bool:
    return request.GET.get("select") == "1"


def _search_page(request: HttpRequest, user_id: int, zone: ZoneInfo, query: str) -> HttpResponse:
    """Show the files whose name has the words, and passages of files about them."""
    hits, refusal = found_in_files(user_id, query, now=timezone.now())
    named = [] if refusal else find_by_name(user_id=user_id, words=query, limit=NAMES_FOUND)
    context = {
        "here": "files",
        "zone": zone,
        "query": query,
        "named": [FileRow.of(file) for file in named],
        "rows": hits,
        "refusal": refusal,
    }
    status = HTTPStatus.TOO_MANY_REQUESTS if refusal else HTTPStatus.OK
    return with_wait(render(request, "coaching/pages/files.html", context, status=status), refusal)


def _just_deleted(request: HttpRequest, user_id: int) -> dict[str, Any]:
    """Return the files that were just deleted, to offer undoing it."""
    ids = ids_in(request.GET.getlist("deleted"))
    files = UserFile.deleted_of(user_id).filter(pk__in=ids) if ids else ()
    return {"just_deleted": [FileRow.of(file) for file in files]}


def _folder_page(request: HttpRequest, user_id: int, zone: ZoneInfo) -> HttpResponse:
    number, path = page_in(request), request.GET["folder"]
    before = (number - 1) * FILES_A_PAGE
    if "\x00" in path:
        raise Http404
    found = read_folder(user_id=user_id, path=path, limit=FILES_A_PAGE, before=before)
    if not found.files:
        raise Http404
    folder = FolderOfFiles.of(found)
    context = {
        "here": "files",
        "zone": zone,
        "folder": folder,
        "groups": _months_of(folder.files) if found.is_of_days else [Group(name="", files=folder.files)],
        "page": number,
        "newer_page": number - 1,
        "older_page": number + 1 if found.total > before + len(found.files) else 0,
        "is_of_days": found.is_of_days,
        "is_choosing": _is_choosing(request),
    }
    return render(request, "coaching/pages/folder.html", context)


def _months_of(rows: Sequence[FileRow]) -> list[Group]:
    by_month = groupby(rows, key=lambda row: row.path.rpartition("/")[2][:7])
    return [Group(name=_month_in_words(month), files=list(files)) for month, files in by_month]


def _month_in_words(month: str) -> str:
    try:
        return capfirst(date_format(date.fromisoformat(f"{month}-01"), "YEAR_MONTH_FORMAT"))
    except ValueError:
        return month


@login_required
@require_safe
def file(request: HttpRequest, path: str) -> HttpResponse:
    """Show a file: as a page, raw (`view=raw`), at an older version (`version=n`), or as a download.

    The safety plan's page is elsewhere.
    """
    user_id = user_id_of(request)
    found = _read(user_id, path, request.GET.get("version"))
    if path == PLAN_PATH and not request.GET:
        return redirect("safety_plan")
    if request.GET.get("download"):
        return _download(found)
    frontmatter, body = parse_file(found.text)
    frontmatter = _as_it_stands(found, frontmatter)
    if frontmatter.get("preview_line") == body.strip():  # A page of one line says it once.
        del frontmatter["preview_line"]
    newest = max(found.file.version_number, found.version.number)
    is_raw = request.GET.get("view") == "raw"
    context = {
        "here": "files",
        "zone": load_profile(request).zone,
        "file": found.file,
        "name": name_of(found.file),
        "folder": folder_name(path),
        "can_be_named": can_be_named(found.file.file_type),
        "version": found.version,
        "newest": newest,
        "versions": newest_rows(user_id=user_id, path=path),
        "is_old": found.version.number < newest,
        "is_raw": is_raw,
        "attributes": attributes_of(frontmatter),
    }
    if found.version.program and found.version.number == newest:
        context |= {"program": found.version.program, "undone_to": undone_to(found.version)}
    is_plan = found.file.file_type == FileType.SAFETY_PLAN
    html = SafeString("") if is_raw else render_markdown(plan_in_words(body) if is_plan else body)
    has_boxes = found.version.number == newest and not is_raw and not is_plan
    context |= {"html": with_boxes(html, body) if has_boxes else html}
    if found.file.file_type == FileType.CAPTURE:  # what was written here may have made a card
        context |= {"is_capture": True, "is_look_pending": is_look_pending(user_id)}
        context["card"] = take_card(request, load_profile(request))
    return render(request, "coaching/pages/file.html", context)


def _read(user_id: int, path: str, version: str | None) -> FileText:
    with or_404():
        return read_file(user_id=user_id, path=path, number=None if version is None else number_in(version))


def _download(found: FileText) -> HttpResponse:
    name = safe_name(found.file.path).replace("/", "-")
    response = HttpResponse(found.text, content_type="text/markdown; charset=utf-8")
    response["Content-Disposition"] = (
        content_disposition_header(as_attachment=True, filename=name) or "attachment"
    )
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _as_it_stands(found: FileText, frontmatter: dict[str, Any]) -> dict[str, Any]:
    """Return the facts with the newest rating, as on the map: of a contradiction the newer part."""
    rated = frontmatter if found.rating is None else {**frontmatter, "updated_rating": found.rating}
    outdated = outdated_in(found, frontmatter)
    return {name: value for name, value in rated.items() if name != outdated}
