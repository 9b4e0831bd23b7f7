"""What users do with whole files: new notes, names of their own, deleting and restoring.

A deleted file looks missing at once and keeps its versions for some weeks; then its rows go, and garbage
collection removes the objects. Nothing here changes a path that is in use: links stay valid.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils.translation import gettext_noop

from coaching.files.attributes import NO_ATTRIBUTES, check_storable
from coaching.files.drafts import FileDraft, check_content
from coaching.files.edits import STARTS_WITH_BLOCK, build_restore
from coaching.files.errors import FileRefused
from coaching.files.frontmatter import build_frontmatter, render_file, strip_frontmatter
from coaching.files.objects import store_object_now
from coaching.files.paths import build_note_path, type_of_path
from coaching.files.quota import lock_usage, refuse_when_full
from coaching.files.selectors import FileText, accessible_file
from coaching.files.store import store_version
from coaching.files.types import RULES
from coaching.models import DayPlan, FileSource, FileType, UserFile, UserFileVersion

KEPT_DAYS = 30
MAX_TITLE_CHARACTERS = 120
PURGED_AT_ONCE = 200
_MAX_SUFFIX = 1_000


def can_be_named(file_type: str) -> bool:
    """Return whether files of a type may get another name: most are named by their day or domain."""
    return RULES[FileType(file_type)].naming in ("slug", "moment")


def create_note(
    *,
    user_id: int,
    title: str,
    content: str,
    now: datetime,
    timezone: ZoneInfo,
    client_id: str | None = None,
    program: str = "",
) -> UserFile:
    """Store a new note, once where it is sent again with its client id. Blocks.

    `program` is the name of the program that sent it, empty for the user.

    Raises `FileRefused`, `QuotaReached` and `StorageFailed`.
    """
    name = check_title(title)
    body = check_content(content.replace("\r\n", "\n")).strip()
    if strip_frontmatter(body) != body:
        raise FileRefused(STARTS_WITH_BLOCK)
    draft = _note_draft(name, body, now=now, timezone=timezone)
    refuse_when_full(user_id=user_id, size=len(draft.data))
    stored = store_object_now(user_id=user_id, data=draft.data)
    with transaction.atomic():
        lock_usage(user_id)  # a second press waits for the first
        if client_id and (sent := _sent_before(user_id, client_id, name, draft, program=program)):
            return sent
        written = store_version(
            user_id=user_id,
            draft=draft,
            stored=stored,
            source=FileSource.USER,
            tool_use_id=client_id or "",
            program=program,
        )
        file = UserFile.of(user_id).get(pk=written.file_id)
        file.title = name
        file.save(update_fields=["title"])
    return file


def _note_draft(title: str, body: str, *, now: datetime, timezone: ZoneInfo) -> FileDraft:
    path = build_note_path(title, now=now, timezone=timezone)
    frontmatter = build_frontmatter(FileType.NOTE, NO_ATTRIBUTES, day=path.day)
    return FileDraft(
        file_type=FileType.NOTE,
        path=path,
        text=render_file(frontmatter, body),
        body=body,
        frontmatter=frontmatter,
        attributes=NO_ATTRIBUTES,
        now=now,
        timezone=timezone,
    )


def _sent_before(
    user_id: int, client_id: str, title: str, draft: FileDraft, *, program: str
) -> UserFile | None:
    """Return the note that a form has made already. With other words in it, a form makes another note.

    The id of a program's request identifies its words; the note may have another title or day by now.
    """
    first = UserFileVersion.of(user_id).filter(number=1, tool_use_id=client_id, source=FileSource.USER)
    if not program:
        first = first.filter(file__title=title, content=draft.text)
    version = first.select_related("file").first()
    return version.file if version else None


def check_title(title: str) -> str:
    """Return a title as one line. Raises `FileRefused`."""
    name = " ".join(title.split())
    if not name:
        raise FileRefused(gettext_noop("Give the file a name."))
    if len(name) > MAX_TITLE_CHARACTERS:
        raise FileRefused(
            gettext_noop("The name has %(count)s characters; the limit is %(most)s."),
            count=len(name),
            most=MAX_TITLE_CHARACTERS,
        )
    try:
        check_storable(name)
    except ValueError:
        raise FileRefused(
            gettext_noop("The name has a character that can’t be stored. Please remove it.")
        ) from None
    return name


@transaction.atomic
def rename_file(*, user_id: int, path: str, title: str) -> UserFile:
    """Give a file a name of its user's own. Raises `UserFile.DoesNotExist` and `FileRefused`."""
    file = accessible_file(user_id=user_id, path=path)
    if not can_be_named(file.file_type):
        raise FileRefused(
            gettext_noop("This file is named after its day or its part of life and keeps that name.")
        )
    file.title = check_title(title)
    file.save(update_fields=["title"])
    return file


@transaction.atomic
def delete_file(*, user_id: int, path: str, now: datetime) -> UserFile:
    """Delete a file, and with a day's plan what home shows of it. Raises `UserFile.DoesNotExist`."""
    lock_usage(user_id)
    file = UserFile.of(user_id).select_for_update().get(pk=accessible_file(user_id=user_id, path=path).pk)
    plan = DayPlan.of(user_id).select_for_update(of=("self",)).filter(file=file).first()
    if plan is not None:
        file.kept_plan = {"intention": plan.intention, "priorities": plan.priorities}
        plan.file, plan.intention, plan.priorities = None, "", []
        plan.save()
    file.deleted_at = now
    file.save(update_fields=["deleted_at", "kept_plan"])
    return file


@transaction.atomic
def delete_files(*, user_id: int, ids: Sequence[int], now: datetime) -> Sequence[int]:
    """Delete together those of these files that the user has; each can be restored by itself.

    Returns the ids of all that are deleted now, also by a first press or in another tab.
    """
    lock_usage(user_id)  # a second press waits for the first
    paths = UserFile.of(user_id).filter(pk__in=ids).order_by("pk").values_list("path", flat=True)
    for path in list(paths):
        delete_file(user_id=user_id, path=path, now=now)
    return list(UserFile.deleted_of(user_id).filter(pk__in=ids).values_list("pk", flat=True))


@transaction.atomic
def restore_file(*, user_id: int, file_id: int, now: datetime, timezone: ZoneInfo) -> UserFile:
    """Undo a deletion; if its path is in use by now, the file gets one with a number.

    Raises `UserFile.DoesNotExist`, also where its rows are gone.
    """
    lock_usage(user_id)
    file: UserFile = UserFile.deleted_of(user_id).select_for_update().get(pk=file_id)
    is_free = not UserFile.of(user_id).filter(path=file.path).exists()
    if not is_free:
        file.path = _free_path(user_id, file.path)
    file.deleted_at = None
    file.save(update_fields=["deleted_at", "path"])
    if type_of_path(file.path) == file.file_type == FileType.DAY_PLAN:
        _restore_plan(file, now=now, timezone=timezone)
    file.kept_plan = None
    file.save(update_fields=["kept_plan"])
    return file


def read_deleted(*, user_id: int, limit: int, before: int = 0) -> Sequence[UserFile]:
    """Return up to `limit` deleted files, after the first `before`, the last deleted first."""
    deleted = UserFile.deleted_of(user_id).order_by("-deleted_at", "-pk")
    return list(deleted[before : before + limit])


def purge_deleted_files(*, now: datetime) -> int:
    """Delete the rows of files that were deleted long enough ago; return how many files."""
    deleted_before, purged = now - timedelta(days=KEPT_DAYS), 0
    due = UserFile.unscoped.filter(deleted_at__lt=deleted_before).order_by("pk").values_list("pk", flat=True)
    last = 0
    while ids := list(due.filter(pk__gt=last)[:PURGED_AT_ONCE]):
        purged += sum(_purge(pk, deleted_before=deleted_before) for pk in ids)
        last = ids[-1]
    return purged


@transaction.atomic
def _purge(file_id: int, *, deleted_before: datetime) -> bool:
    due = UserFile.unscoped.select_for_update().filter(pk=file_id, deleted_at__lt=deleted_before)
    file = due.first()
    if file is None:
        return False
    file.delete()
    return True


def _free_path(user_id: int, path: str) -> str:
    stem = path.removesuffix(".md")
    for number in range(2, _MAX_SUFFIX):
        beside = f"{stem}-{number}.md"
        if not UserFile.of(user_id).filter(path=beside).exists():
            return beside
    raise FileRefused(gettext_noop("Too many files have this name."))


def _restore_plan(file: UserFile, *, now: datetime, timezone: ZoneInfo) -> None:
    """Give the day its plan back as it was, unless another one has been made.

    Where nothing was kept of it, it is filled from the file, without ticks.
    """
    newest = FileText(file=file, version=file.versions.get(number=file.version_number))
    draft = build_restore(newest, newest, now=now, timezone=timezone)
    day: date = draft.path.day
    plan, _is_new = DayPlan.of(file.user_id).select_for_update(of=("self",)).get_or_create(date=day)
    if plan.says_something:
        return
    kept = file.kept_plan or {
        "intention": draft.attributes.intention or "",
        "priorities": [{"text": text, "is_done": False} for text in draft.attributes.priorities or []],
    }
    plan.file, plan.intention, plan.priorities = file, kept["intention"], kept["priorities"]
    plan.save()
