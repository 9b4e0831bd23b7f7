"""A file's versions: authors, differences, and restoring one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import error, success
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from coaching.files.errors import QuotaReached, StorageFailed
from coaching.files.frontmatter import strip_frontmatter
from coaching.files.selectors import (
    FileText,
    accessible_file,
    read_earlier_with_same_text,
    read_file,
    read_versions,
)
from coaching.files.store import StoredFile, restore_version
from coaching.models import FileSource, FileType, UserFile, UserFileVersion
from coaching.people.accounts import load_profile, user_id_of
from coaching.programs.words import program_in_words
from coaching.sandbox.differences import compare
from coaching.transcript.names import folder_name, name_of, without_directions
from coaching.views.capture_cards import note_edit
from coaching.views.file_form import readable_text
from coaching.views.parts import or_404, status_of

VERSIONS_A_PAGE = 50
NEWEST_SHOWN = 6

_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_WRITERS = {
    FileSource.TOOL: "Sage",
    FileSource.USER: gettext_lazy("You"),
    FileSource.IMPORT: gettext_lazy("An import"),
    FileSource.JOB: gettext_lazy("Sage, in the background"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRow:
    """A version in a list. `same_as` is an earlier one with the same text, 0 if there is none."""

    number: int
    writer: str
    created_at: datetime
    size: int
    session_id: str
    session_title: str
    same_as: int


def writer_of(version: UserFileVersion) -> str:
    """Return who wrote a version, in words."""
    return program_in_words(version.program) if version.program else str(_WRITERS[FileSource(version.source)])


def undone_to(version: UserFileVersion) -> int:
    """Return the last version before a program's that no program wrote, 0 where there is none."""
    earlier = version.file.versions.filter(number__lt=version.number, program="")
    return earlier.order_by("-number").values_list("number", flat=True).first() or 0


def number_in(text: str) -> int:
    """Return the version number in a URL. Raises `Http404`."""
    if not _NUMBER.fullmatch(text):
        raise Http404
    return int(text)


def newest_rows(*, user_id: int, path: str) -> Sequence[VersionRow]:
    """Return the first rows of a file's versions. Raises `UserFile.DoesNotExist`."""
    return _rows_of(user_id, read_versions(user_id=user_id, path=path, limit=NEWEST_SHOWN))


def _rows_of(user_id: int, versions: Sequence[UserFileVersion]) -> Sequence[VersionRow]:
    same = read_earlier_with_same_text(versions[0].file, versions) if versions else {}
    return [_row_of(user_id, version, same.get(version.number, 0)) for version in versions]


def _row_of(user_id: int, version: UserFileVersion, same_as: int) -> VersionRow:
    session = version.session if version.session and version.session.user_id == user_id else None
    return VersionRow(
        number=version.number,
        writer=writer_of(version),
        created_at=version.created_at,
        size=version.size,
        session_id=str(session.id) if session else "",
        session_title=without_directions(session.title or session.get_kind_display()) if session else "",
        same_as=same_as,
    )


@login_required
@require_safe
def versions(request: HttpRequest, path: str) -> HttpResponse:
    """List a file's versions, newest first."""
    user_id = user_id_of(request)
    file = _file(user_id, path)
    page = number_in(request.GET.get("page") or "1")
    offset = (page - 1) * VERSIONS_A_PAGE
    rows = _rows_of(user_id, read_versions(user_id=user_id, path=path, offset=offset, limit=VERSIONS_A_PAGE))
    if not rows:
        raise Http404
    context = {
        **_shown(request, file),
        "versions": rows,
        "newest": file.version_number,
        "newer_page": page - 1,
        "older_page": page + 1 if rows[-1].number > 1 else 0,
    }
    return render(request, "coaching/pages/file_versions.html", context)


@login_required
@require_safe
def difference(request: HttpRequest, path: str) -> HttpResponse:
    """Show the difference between version `from` (default: the previous) and `to` (default: the newest)."""
    user_id = user_id_of(request)
    newest = _file(user_id, path).version_number
    if newest == 1 and not request.GET:
        return redirect("file_versions", path)  # There is nothing to compare.
    to = number_in(request.GET.get("to") or str(newest))
    begin = number_in(request.GET.get("from") or str(max(1, to - 1)))
    with or_404():
        old = read_file(user_id=user_id, path=path, number=begin)
        new = read_file(user_id=user_id, path=path, number=to)
    context = {
        **_shown(request, new.file),
        "old": old.version,
        "new": new.version,
        "old_writer": writer_of(old.version),
        "new_writer": writer_of(new.version),
        "newest": newest,
        "difference": compare(*_comparable(old, new)),
    }
    return render(request, "coaching/pages/file_difference.html", context)


def _comparable(old: FileText, new: FileText) -> tuple[str, str]:
    """Return two versions as their user edits them; as they are stored where that hides the difference."""
    shown = readable_text(old), readable_text(new)
    return (old.text, new.text) if shown[0] == shown[1] else shown


@login_required
@require_POST
def restore(request: HttpRequest, path: str) -> HttpResponse:
    """Restore an older version: a new version with its text."""
    user_id = user_id_of(request)
    number = number_in(request.POST.get("version", ""))
    try:
        stored = restore_version(
            user_id=user_id, path=path, number=number, now=timezone.now(), timezone=load_profile(request).zone
        )
    except (UserFile.DoesNotExist, UserFileVersion.DoesNotExist):
        raise Http404 from None
    except QuotaReached as refusal:
        context = {
            "title": _("Not enough space"),
            "message": refusal.shown(),
            "back": reverse("file", args=[path]),
            "back_words": _("Back to the file"),
        }
        return render(request, "429.html", context, status=status_of(refusal))
    except StorageFailed as refusal:
        error(request, refusal.shown())
    else:
        if stored.is_new_version:
            said = _("Version %(old)s was restored as version %(new)s.")
            _note_words(request, stored)
        else:
            said = _("The file is already the same as version %(old)s.")
        success(request, said % {"old": number, "new": stored.version})
    response = redirect("file", path)
    response.status_code = HTTPStatus.SEE_OTHER
    return response


def _note_words(request: HttpRequest, stored: StoredFile) -> None:
    """Check the words of a capture that was restored."""
    newest = read_file(user_id=user_id_of(request), path=stored.path)
    if newest.file.file_type == FileType.CAPTURE:
        note_edit(
            request, file_id=stored.file_id, version=stored.version, text=strip_frontmatter(newest.text)
        )


def _file(user_id: int, path: str) -> UserFile:
    with or_404():
        return accessible_file(user_id=user_id, path=path)


def _shown(request: HttpRequest, file: UserFile) -> dict[str, object]:
    return {
        "here": "files",
        "zone": load_profile(request).zone,
        "file": file,
        "name": name_of(file),
        "folder": folder_name(file.path),
    }
