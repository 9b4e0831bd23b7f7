"""Files: their list, one of them as a page or raw, its versions, and its download."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from coaching.accounts import profile_for, user_id_of
from coaching.files.frontmatter import parse_file
from coaching.files.selectors import FileText, list_files, read_file, versions_of
from coaching.markdown import render_markdown
from coaching.models import UserFile, UserFileVersion
from coaching.shown_names import FOLDER_NAMES, folder_name, in_words, shown_name

_PROGRAM_NAME = re.compile(r"[a-z]+(?:_[a-z]+)+")
_HIDDEN_FACTS = ("type",)
_FACT_NAMES = {
    "domains_touched": "Touched",
    "mood_signal": "Mood",
    "preview_line": "In a line",
    "updated_rating": "Rating",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """A file in a list."""

    path: str
    shown_name: str
    type_name: str
    preview_line: str
    updated_at: datetime

    @classmethod
    def of(cls, file: UserFile) -> "FileRow":
        """Build the row of a file."""
        preview_line = file.frontmatter.get("preview_line") or file.frontmatter.get("intention")
        return cls(
            path=file.path,
            shown_name=shown_name(file.path),
            type_name=file.get_file_type_display(),
            preview_line=preview_line if isinstance(preview_line, str) else "",
            updated_at=file.updated_at,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder with its files."""

    name: str
    files: Sequence[FileRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One entry of a file's frontmatter: `entries` where it is a list, else `text`."""

    name: str
    text: str = ""
    entries: Sequence[str] = ()


@login_required
@require_safe
def files(request: HttpRequest) -> HttpResponse:
    """List the person's files by folder."""
    rows = [FileRow.of(file) for file in list_files(user_id=user_id_of(request))]
    context = {"here": "files", "zone": profile_for(request).zone, "folders": _folders_of(rows)}
    return render(request, "coaching/pages/files.html", context)


def _folders_of(rows: Iterable[FileRow]) -> list[Folder]:
    by_folder = sorted(rows, key=lambda row: (row.path.rpartition("/")[0], row.path))
    folders = []
    for name, group in groupby(by_folder, key=lambda row: row.path.rpartition("/")[0]):
        found = list(group)
        if found[0].path.rpartition("/")[2][:2] == "20":  # Days: the newest first.
            found.reverse()
        folders.append(Folder(name=FOLDER_NAMES.get(name, name), files=found))
    return folders


@login_required
@require_safe
def file(request: HttpRequest, path: str) -> HttpResponse:
    """Show one file: as a page, raw (`view=raw`), at an older version (`version=n`), or as a download."""
    user_id = user_id_of(request)
    found = _read(user_id, path, request.GET.get("version"))
    if request.GET.get("download"):
        return _download(found)
    frontmatter, body = parse_file(found.text)
    context = {
        "here": "files",
        "zone": profile_for(request).zone,
        "file": found.file,
        "name": shown_name(path),
        "folder": folder_name(path),
        "version": found.version,
        "newest": max(found.file.version_number, found.version.number),
        "versions": versions_of(user_id=user_id, path=path),
        "is_old": found.version.number < found.file.version_number,
        "is_raw": request.GET.get("view") == "raw",
        "facts": _facts_of(frontmatter),
        "html": render_markdown(body),
    }
    return render(request, "coaching/pages/file.html", context)


def _read(user_id: int, path: str, version: str | None) -> FileText:
    if version is not None and not (version.isascii() and version.isdigit() and len(version) < 10):
        raise Http404
    try:
        return read_file(user_id=user_id, path=path, number=int(version) if version else None)
    except (UserFile.DoesNotExist, UserFileVersion.DoesNotExist):
        raise Http404 from None


def _download(found: FileText) -> HttpResponse:
    name = found.file.path.replace("/", "-")
    response = HttpResponse(found.text, content_type="text/markdown; charset=utf-8")
    response["Content-Disposition"] = (
        content_disposition_header(as_attachment=True, filename=name) or "attachment"
    )
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _facts_of(frontmatter: Mapping[str, Any]) -> list[Fact]:
    return [
        _fact(key, value)
        for key, value in frontmatter.items()
        if key not in _HIDDEN_FACTS and value not in ("", None, [], {})
    ]


def _fact(key: str, value: Any) -> Fact:
    name = _FACT_NAMES.get(key, in_words(key))
    if isinstance(value, list):
        return Fact(name=name, entries=[_valuein_words(item) for item in value])
    return Fact(name=name, text=_valuein_words(value))


def _valuein_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(
            f"{in_words(str(key)).lower()}: {_valuein_words(item)}" for key, item in value.items()
        )
    if isinstance(value, list):
        return ", ".join(_valuein_words(item) for item in value)
    return _text_in_words(str(value))


def _text_in_words(text: str) -> str:
    """Return a date or a name made for programs in words; other text as it is."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return text.replace("_", " ") if _PROGRAM_NAME.fullmatch(text) else text
    return f"{day.day} {day:%B %Y}"
