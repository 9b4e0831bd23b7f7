"""Import settings: upload an export of another program, see how far it is, cancel it, undo it.

The upload is stored and a job reads it; the page asks for the job's progress. Without JavaScript the page
reloads by itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.messages import success, warning
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from coaching.legacy.about import PROPOSED, add_to_page, dismiss, text_of_proposal
from coaching.legacy.costs import cost_of, enqueue_briefs, imports_without_briefs
from coaching.legacy.endings import UNDO_BROKEN_OFF, cancel
from coaching.legacy.importers.source import MAX_FILE_BYTES, TOO_LARGE
from coaching.legacy.imports import (
    accessible_import,
    begin_undo,
    imports_of,
    queue_upload,
    settle,
)
from coaching.legacy.undoing import names_of_kept
from coaching.legacy.unread import (
    ImportedDocuments,
    imported_documents,
    read_shown_documents_of,
    unread_documents,
)
from coaching.library.pipeline.estimates import estimate_reading
from coaching.models import Import, ImportState
from coaching.models.imports import UNDOABLE_IMPORTS
from coaching.people.accounts import load_profile, user_id_of
from coaching.people.in_flight import waiting
from coaching.sandbox.limits import MEGABYTE
from coaching.views.forms import ImportForm, ShownDocumentsForm
from coaching.views.import_words import LeftGroup, left_groups, made_in_words
from coaching.views.parts import or_404, wants_part
from sessions_app.database import in_database_page
from sessions_app.errors import Refused
from sessions_app.money import dollars

TOO_MANY_WAITING = gettext_lazy("Your other uploads are still being stored. Please try again in a moment.")
SHOWN_PROBLEMS = 50
NOTHING_FAILED: Mapping[int, "Proposal"] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What the other app knew, as it would be added; `error` says why it wasn't."""

    text: str
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRow:
    """An import in the list. `cost` is that of its briefs, None where none can be asked for.

    `documents` are those that Sage hasn't read; `reading_cost` is what reading them would cost, None where
    their person can't be asked yet.
    """

    row: Import
    made: Sequence[str]
    cost: str | None
    problems: Sequence[Mapping[str, str]]
    kept: Sequence[Mapping[str, str]]
    left_behind: Sequence[LeftGroup]
    about: Proposal | None
    documents: ImportedDocuments | None
    reading_cost: str | None

    @property
    def more_problems(self) -> int:
        return self.row.problem_count - len(self.problems)

    @property
    def is_undo_broken_off(self) -> bool:
        return self.row.failure == UNDO_BROKEN_OFF

    @property
    def can_be_cancelled(self) -> bool:
        is_under_way = self.row.state in (ImportState.WAITING, ImportState.RUNNING)
        return is_under_way and not self.row.is_cancelling

    @property
    def can_be_undone(self) -> bool:
        return self.row.state in UNDOABLE_IMPORTS and bool(self.made)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
async def show_imports(request: HttpRequest) -> HttpResponse:
    """List the person's imports, or store an upload and queue its import."""
    if request.method != "POST":
        return await in_database_page(_page, request)
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return await in_database_page(_page, request, form)
    file: UploadedFile[Any] = form.cleaned_data["file"]
    try:
        if (file.size or 0) > MAX_FILE_BYTES:
            raise Refused(TOO_LARGE)
        async with waiting() as may_wait:
            if not may_wait:
                raise Refused(str(TOO_MANY_WAITING))
            await in_database_page(queue_upload, user_id=user_id_of(request), name=file.name or "", file=file)
    except Refused as refusal:
        form.add_error("file", refusal.shown())
        return await in_database_page(_page, request, form)
    return redirect("imports")


@login_required
@require_POST
def cancel_import(request: HttpRequest, import_id: int) -> HttpResponse:
    """Cancel an import that waits or runs."""
    return _changed(request, import_id, cancel)


@login_required
@require_POST
def undo_import(request: HttpRequest, import_id: int) -> HttpResponse:
    return _changed(request, import_id, begin_undo)


def _changed(request: HttpRequest, import_id: int, change: Callable[..., object]) -> HttpResponse:
    try:
        with or_404():
            change(user_id=user_id_of(request), import_id=import_id)
    except Refused as refusal:
        warning(request, refusal.shown())
    return redirect("imports")


@login_required
@require_POST
def answer_about(request: HttpRequest, import_id: int) -> HttpResponse:
    """Add what the other app knew to Sage's page about the person, or dismiss it."""
    user_id, text = user_id_of(request), request.POST.get("text", "")
    try:
        with or_404():
            if request.POST.get("answer") == "add":
                add_to_page(user_id=user_id, import_id=import_id, text=text)
                success(request, gettext("Added to what Sage knows about you."))
            else:
                dismiss(user_id=user_id, import_id=import_id)
    except Refused as refusal:
        return _page(request, failed={import_id: Proposal(text=text, error=refusal.shown())})
    return redirect("imports")


@login_required
@require_POST
def write_briefs(request: HttpRequest, import_id: int) -> HttpResponse:
    """Queue the briefs of an import's conversations, whose cost the page has said."""
    with or_404():
        row = accessible_import(user_id=user_id_of(request), import_id=import_id)
    if row.state == ImportState.FINISHED:
        enqueue_briefs(row)
        success(request, gettext("Sage is now reading these conversations. That may take some hours."))
    return redirect("imports")


@login_required
@require_POST
def read_documents(request: HttpRequest, import_id: int) -> HttpResponse:
    """Let Sage read an import's documents that the page has shown, with what they cost."""
    with or_404():
        row = accessible_import(user_id=user_id_of(request), import_id=import_id)
    form = ShownDocumentsForm(request.POST)
    if not row.is_unfinished and form.is_valid() and read_shown_documents_of(row, **form.cleaned_data):
        success(request, gettext("Sage is now reading these files. That may take a while."))
    return redirect("imports")


def _page(
    request: HttpRequest, form: ImportForm | None = None, *, failed: Mapping[int, Proposal] = NOTHING_FAILED
) -> HttpResponse:
    user_id, profile = user_id_of(request), load_profile(request)
    settle(user_id)
    without_briefs = imports_without_briefs(user_id)
    imports = imports_of(user_id)
    documents = imported_documents(user_id, [row.pk for row in imports])
    target = request.headers.get("HX-Target", "")
    rows = [
        _row(
            row,
            has_briefs=row.pk not in without_briefs,
            failed=failed.get(row.pk),
            documents=documents.get(row.pk),
            is_shown=not wants_part(request) or target.endswith(f"-{row.pk}"),
        )
        for row in imports
    ]
    context = {
        "here": "settings",
        "zone": profile.zone,
        "rows": rows,
        "is_running": any(row.row.is_unfinished for row in rows),
        "form": form or ImportForm(),
        "most_megabytes": MAX_FILE_BYTES // MEGABYTE,
        "too_large": TOO_LARGE,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form or failed else HTTPStatus.OK
    return render(request, "coaching/pages/imports.html", context, status=status)


def _row(
    row: Import,
    *,
    has_briefs: bool,
    failed: Proposal | None,
    documents: ImportedDocuments | None,
    is_shown: bool,
) -> ImportRow:
    """Return a row; the price of one that the page doesn't replace isn't estimated, which reads its texts."""
    can_have_briefs = row.state == ImportState.FINISHED and not has_briefs
    can_be_read = is_shown and not row.is_unfinished and bool(documents and documents.can_be_read)
    return ImportRow(
        row=row,
        made=made_in_words(row.counts),
        cost=dollars(cost_of(row)) if can_have_briefs else None,
        problems=[{**each, "text": gettext(each["text"])} for each in row.problems[:SHOWN_PROBLEMS]],
        kept=names_of_kept(row) if row.kept else (),
        left_behind=left_groups(row.left_behind),
        about=failed
        or (Proposal(text=text_of_proposal(row)) if row.about.get("state") == PROPOSED else None),
        documents=None if row.state == ImportState.UNDOING else documents,
        reading_cost=dollars(estimate_reading(unread_documents(row))) if can_be_read else None,
    )
