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
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from coaching.legacy.about import PROPOSED, add_to_page, dismiss, text_of_proposal
from coaching.legacy.costs import cost_of, enqueue_briefs, imports_without_briefs
from coaching.legacy.endings import UNDO_BROKEN_OFF, cancel
from coaching.legacy.importers.source import MAX_FILE_BYTES, MEGABYTE, TOO_LARGE
from coaching.legacy.imports import (
    accessible_import,
    begin_undo,
    imports_of,
    queue_upload,
    settle,
)
from coaching.legacy.undoing import names_of_kept
from coaching.models import Import, ImportState
from coaching.models.imports import UNDOABLE_IMPORTS
from coaching.people.accounts import load_profile, user_id_of
from coaching.people.in_flight import waiting
from coaching.views.forms import ImportForm
from coaching.views.parts import or_404
from sessions_app.database import in_database_page
from sessions_app.errors import Refused
from sessions_app.money import dollars

TOO_MANY_WAITING = gettext_lazy("Your other uploads are still being stored. Please try again in a moment.")
SHOWN_PROBLEMS = 50
SHOWN_NAMES = 25
"""Of what was left behind, of each kind; the command names more."""
NOTHING_FAILED: Mapping[int, "Proposal"] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftGroup:
    """What an import left behind of one kind; `more` aren't named."""

    title: str
    named: Sequence[Mapping[str, Any]]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What the other app knew, as it would be added; `error` says why it wasn't."""

    text: str
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRow:
    """An import in the list. `cost` is that of its briefs, None where none can be asked for."""

    row: Import
    made: Sequence[str]
    cost: str | None
    problems: Sequence[Mapping[str, str]]
    kept: Sequence[Mapping[str, str]]
    left_behind: Sequence[LeftGroup]
    about: Proposal | None

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


def _page(
    request: HttpRequest, form: ImportForm | None = None, *, failed: Mapping[int, Proposal] = NOTHING_FAILED
) -> HttpResponse:
    user_id, profile = user_id_of(request), load_profile(request)
    settle(user_id)
    without_briefs = imports_without_briefs(user_id)
    rows = [
        _row(row, has_briefs=row.pk not in without_briefs, failed=failed.get(row.pk))
        for row in imports_of(user_id)
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


def _row(row: Import, *, has_briefs: bool, failed: Proposal | None) -> ImportRow:
    can_have_briefs = row.state == ImportState.FINISHED and not has_briefs
    return ImportRow(
        row=row,
        made=_made(row.counts),
        cost=dollars(cost_of(row)) if can_have_briefs else None,
        problems=[{**each, "text": gettext(each["text"])} for each in row.problems[:SHOWN_PROBLEMS]],
        kept=names_of_kept(row) if row.kept else (),
        left_behind=_left_behind(row.left_behind),
        about=failed
        or (Proposal(text=text_of_proposal(row)) if row.about.get("state") == PROPOSED else None),
    )


def _left_behind(left: Mapping[str, Mapping[str, Any]]) -> Sequence[LeftGroup]:
    """Return what was left behind; fields that aren't known stand among the problems."""
    counts = {kind: each["count"] for kind, each in left.items()}
    titles = (
        ("file", ngettext("{count} attached file", "{count} attached files", counts.get("file", 0))),
        ("picture", ngettext("{count} picture", "{count} pictures", counts.get("picture", 0))),
        ("voice", ngettext("{count} recording", "{count} recordings", counts.get("voice", 0))),
        (
            "branch",
            ngettext(
                "{count} message from another branch",
                "{count} messages from other branches",
                counts.get("branch", 0),
            ),
        ),
        (
            "message",
            ngettext(
                "{count} message that was hidden or had no ID",
                "{count} messages that were hidden or had no ID",
                counts.get("message", 0),
            ),
        ),
        (
            "summary",
            ngettext(
                "{count} summary of a conversation",
                "{count} summaries of conversations",
                counts.get("summary", 0),
            ),
        ),
        ("instructions", gettext("What the other app knew about you")),
        ("member", ngettext("{count} file in the ZIP", "{count} files in the ZIP", counts.get("member", 0))),
        ("tool", ngettext("{count} use of a tool", "{count} uses of tools", counts.get("tool", 0))),
        (
            "thinking",
            ngettext(
                "{count} reasoning step",
                "{count} reasoning steps",
                counts.get("thinking", 0),
            ),
        ),
    )
    return [
        LeftGroup(
            title=title.format(count=number_format(counts[kind], force_grouping=True)),
            named=left[kind]["named"][:SHOWN_NAMES],
            more=counts[kind] - sum(each["count"] for each in left[kind]["named"][:SHOWN_NAMES]),
        )
        for kind, title in titles
        if kind in left
    ]


def _made(counts: Mapping[str, int]) -> Sequence[str]:
    names = (
        "sessions", "branches", "continued", "messages", "answers", "completed", "documents", "files",
        "ratings",
    )  # fmt: skip
    sessions, branches, continued, messages, answers, completed, documents, files, ratings = (
        counts.get(key, 0) for key in names
    )
    parts = (
        (sessions, ngettext("{count} conversation", "{count} conversations", sessions)),
        (branches, ngettext("{count} other branch", "{count} other branches", branches)),
        (continued, ngettext("{count} continued conversation", "{count} continued conversations", continued)),
        (messages, ngettext("{count} message", "{count} messages", messages)),
        (answers, ngettext("{count} other answer", "{count} other answers", answers)),
        (completed, ngettext("{count} completed message", "{count} completed messages", completed)),
        (documents, ngettext("{count} document", "{count} documents", documents)),
        (files, ngettext("{count} file", "{count} files", files)),
        (ratings, ngettext("{count} rating", "{count} ratings", ratings)),
    )
    return [text.format(count=number_format(count, force_grouping=True)) for count, text in parts if count]
