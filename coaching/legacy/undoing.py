"""Removes what an import made, except what its person has changed since, which is listed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from coaching.context.budget import count_tokens
from coaching.files.quota import lock_usage
from coaching.legacy.about import PAGE, withdraw
from coaching.legacy.costs import change_brief_tokens
from coaching.legacy.documents import documents_of, remove_documents, used_documents
from coaching.legacy.storing import mark_of
from coaching.library.documents.locks import lock_documents
from coaching.models import (
    DayPlan,
    Document,
    FileSource,
    Import,
    ImportState,
    Profile,
    PulseRating,
    TimezoneSource,
    UserFile,
    UserFileVersion,
)
from sessions_app.import_additions import remove_additions, sessions_added_to
from sessions_app.import_completions import remove_completions, sessions_completed_by
from sessions_app.imports import made_by_import, remove_unchanged
from sessions_app.models import Session

SESSIONS_AT_ONCE = 25
FILES_AT_ONCE = 100
DOCUMENTS_AT_ONCE = 25
MAX_KEPT = 500
NO_ZONE = "UTC"

WENT_ON = gettext_noop("You wrote in this conversation, chose another answer, renamed it or pinned it.")
ADDED_SINCE = gettext_noop(
    "You wrote in this conversation, chose another answer or imported newer messages, so the messages of "
    "this import stay."
)
COMPLETED_SINCE = gettext_noop(
    "You wrote in this conversation or chose another answer, so what this import added to it stays."
)
EDITED = gettext_noop("You changed this file.")
ADDED_BY_YOU = gettext_noop("You added to this page what the other app knew about you.")
TICKED = gettext_noop("You ticked something off in this plan.")


def undo_steps(row: Import) -> Iterator[None]:
    """Undo an import, yielding after each step; repeatable.

    What its person has deleted and could still restore is undone as well.
    """
    row.kept = []
    last: UUID | None = None
    while ids := _next_sessions(row, last):
        _keep_sessions(row, _remove_sessions(row, ids), WENT_ON)
        last = ids[-1]
        yield
    last = None
    while ids := _next(sessions_completed_by(user_id=row.user_id, import_id=row.pk), last):
        _keep_sessions(row, _remove_completions(row, ids), COMPLETED_SINCE)
        last = ids[-1]
        yield
    last = None
    while ids := _next_added_to(row, last):
        kept = remove_additions(user_id=row.user_id, import_id=row.pk, session_ids=ids)
        _keep_sessions(row, kept, ADDED_SINCE)
        last = ids[-1]
        yield
    yield from _undo_documents(row)
    after = 0
    while versions := _next_files(row, after):
        _remove_files(row, versions)
        after = versions[-1].file_id
        yield
    _end(row)


@transaction.atomic
def _remove_sessions(row: Import, ids: Sequence[UUID]) -> Collection[UUID]:
    """Remove sessions; their documents, which lose them, are locked after them and in order."""
    sessions = Session.stored_of(row.user_id).filter(pk__in=ids).select_for_update(no_key=True).order_by("pk")
    list(sessions.values_list("pk"))
    theirs = Document.of(row.user_id).filter(session__in=ids)
    lock_documents(row.user_id, theirs.values_list("id", flat=True), to_refer=True)
    return remove_unchanged(user_id=row.user_id, session_ids=ids)


def _undo_documents(row: Import) -> Iterator[None]:
    ids, used = list(documents_of(row)), used_documents(row)
    for start in range(0, len(ids), DOCUMENTS_AT_ONCE):
        _keep(row, remove_documents(row, ids[start : start + DOCUMENTS_AT_ONCE], used))
        yield


@transaction.atomic
def _remove_completions(row: Import, ids: Sequence[UUID]) -> Collection[UUID]:
    changed = remove_completions(user_id=row.user_id, import_id=row.pk, session_ids=ids, measure=count_tokens)
    change_brief_tokens(row.user_id, changed)
    return set(ids) - {each.session_id for each in changed}


def _next_sessions(row: Import, last: UUID | None) -> Sequence[UUID]:
    return _next(Session.stored_of(row.user_id).filter(made_by_import(row.pk)), last)


def _next_added_to(row: Import, last: UUID | None) -> Sequence[UUID]:
    return _next(sessions_added_to(user_id=row.user_id, import_id=row.pk), last)


def _next(sessions: QuerySet[Session], last: UUID | None) -> Sequence[UUID]:
    rest = sessions if last is None else sessions.filter(pk__gt=last)
    return list(rest.order_by("pk").values_list("pk", flat=True)[:SESSIONS_AT_ONCE])


def _next_files(row: Import, after: int) -> Sequence[UserFileVersion]:
    versions = UserFileVersion.of(row.user_id) | UserFileVersion.deleted_of(row.user_id)
    made = versions.filter(source=FileSource.IMPORT, tool_use_id=mark_of(row.pk), file_id__gt=after)
    return list(made.defer("content").order_by("file_id")[:FILES_AT_ONCE])


@transaction.atomic
def _remove_files(row: Import, versions: Sequence[UserFileVersion]) -> None:
    """Remove files that are still at their first version; garbage collection removes their objects."""
    lock_usage(row.user_id)
    ids = [version.file_id for version in versions]
    files = UserFile.of(row.user_id) | UserFile.deleted_of(row.user_id)
    locked = files.filter(pk__in=ids).select_for_update().order_by("pk")
    plans = {plan.file_id: plan for plan in DayPlan.of(row.user_id).filter(file__in=ids)}
    unchanged = []
    for file in locked:
        if file.version_number > 1:
            why = EDITED
        elif any(priority.get("is_done") for priority in _priorities_of(file, plans.get(file.pk))):
            why = TICKED
        else:
            unchanged.append(file.pk)
            continue
        if file.deleted_at is None:
            _keep(row, [{"path": file.path, "text": why}])
    DayPlan.of(row.user_id).filter(file__in=unchanged).delete()
    files.filter(pk__in=unchanged).delete()


def _priorities_of(file: UserFile, plan: DayPlan | None) -> Sequence[Mapping[str, Any]]:
    """Return the priorities of a day's plan, also of one that was deleted; none of other files."""
    priorities: Sequence[Mapping[str, Any]] = (
        plan.priorities if plan is not None else (file.kept_plan or {}).get("priorities", [])
    )
    return priorities


@transaction.atomic
def _end(row: Import) -> None:
    PulseRating.of(row.user_id).filter(made_by_import=row).delete()
    _empty_profile(row)
    if withdraw(row):
        _keep(row, [{"path": PAGE, "text": ADDED_BY_YOU}])
    row.state, row.ended_at = ImportState.UNDONE, timezone.now()
    row.save(update_fields=["state", "ended_at", "kept", "profile", "about"])


def _empty_profile(row: Import) -> None:
    profile = Profile.of(row.user_id).select_for_update().first()
    if profile is None or not row.profile:
        return
    if profile.name == row.profile.get("name"):
        profile.name = ""
    if profile.timezone == row.profile.get("timezone"):
        profile.timezone, profile.timezone_source = NO_ZONE, TimezoneSource.NOBODY
    profile.save(update_fields=["name", "timezone", "timezone_source"])
    row.profile = {}


def _keep_sessions(row: Import, kept: Collection[UUID], text: str) -> None:
    """List conversations that stay, without those that their person has deleted since."""
    shown = Session.of(row.user_id).filter(pk__in=kept).order_by("pk").values_list("pk", flat=True)
    _keep(row, [{"session": str(pk), "text": text} for pk in shown])


def _keep(row: Import, kept: Sequence[dict[str, str]]) -> None:
    row.kept = [*row.kept, *kept][:MAX_KEPT]


def _name_of(kept: Mapping[str, str], titles: Mapping[str, str]) -> str:
    if "session" in kept:
        return titles.get(kept["session"], gettext("Conversation"))
    return kept["name"] if "document" in kept else kept["path"]


def names_of_kept(row: Import) -> Sequence[dict[str, str]]:
    """Return what an undo left, each with a name and, where it still exists, the key of its page."""
    ids = [each["session"] for each in row.kept if "session" in each]
    titles = {
        str(session.pk): session.title or session.get_kind_display()
        for session in Session.of(row.user_id).filter(pk__in=ids).only("title", "kind")
    }
    return [
        {
            **each,
            "name": _name_of(each, titles),
            "text": gettext(each["text"]),
        }
        for each in row.kept
    ]
