"""Merges a save into the newest version of its file: what the save doesn't name stays.

Prepared before the bytes are stored; the write checks it again under the file's lock, so a concurrent change
is merged, never silently overwritten.
"""

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import F

from coaching.files.attributes import NO_ATTRIBUTES, FileAttributes
from coaching.files.drafts import FileDraft
from coaching.files.edits import editable_of, kept_entries, says_again
from coaching.files.frontmatter import build_frontmatter, parse_file, render_file
from coaching.files.log_captures import LinkedCapture, read_captures_of_log, with_links
from coaching.files.quota import refuse_when_full
from coaching.files.safety_plans import plan_body
from coaching.files.selectors import FileText, with_newest_rating
from coaching.files.standing import without_contradicted
from coaching.files.types import ATTRIBUTE_ORDER, AttributeName
from coaching.models import FileType, UserFileVersion


def prepare_save(*, user_id: int, draft: FileDraft) -> FileDraft:
    """Return the draft to store over the newest version. Raises `QuotaReached` if it doesn't fit."""
    if draft.path.is_always_new:
        refuse_when_full(user_id=user_id, size=len(draft.data))
        return draft
    newest = _read_newest(user_id, draft.path.text())
    captures: Sequence[LinkedCapture] = ()
    if draft.file_type == FileType.DAILY_LOG:
        captures = read_captures_of_log(user_id=user_id, day=draft.path.day)
    merged = merge_save(draft, newest, captures)
    refuse_when_full(user_id=user_id, size=len(merged.data))
    return merged


def merge_save(
    draft: FileDraft, newest: FileText | None, captures: Sequence[LinkedCapture] = ()
) -> FileDraft:
    """Merge a draft into the newest version, if any. Pure. Unreadable frontmatter stays as it is.

    Raises `FileRefused` for a safety plan without text.
    """
    body, captures = with_links(draft.body, captures)
    if draft.file_type == FileType.SAFETY_PLAN:
        body = plan_body(body, parse_file(newest.text)[1] if newest else "")
    draft = replace(
        draft,
        body=body,
        capture_ids=tuple(capture.id for capture in captures),
        expected_version=newest.version.number if newest else 0,
    )
    if newest is None:
        return replace(draft, text=render_file(draft.frontmatter, body))
    held = editable_of(newest)
    if not held.has_fields:
        return replace(
            draft,
            text=f"{held.head}\n{body}\n",
            frontmatter={},
            attributes=NO_ATTRIBUTES,
            cleared=frozenset(),
            unwritten=_named(draft),
        )
    given = draft.attributes.given()
    stays = {name: value for name, value in held.attributes.given().items() if name not in draft.cleared}
    attributes = FileAttributes.model_validate(without_contradicted(stays, given) | given)
    frontmatter = build_frontmatter(draft.file_type, attributes, day=draft.path.day)
    kept = kept_entries(held, frontmatter)
    frontmatter |= {name: value for name, value in kept.items() if name not in draft.cleared}
    if "date" in frontmatter:  # A file's day doesn't change with its text.
        frontmatter["date"] = held.frontmatter.get("date", frontmatter["date"])
    text = render_file(frontmatter, body)
    return replace(draft, text=text, frontmatter=frontmatter, is_said_again=says_again(text, newest, held))


def _read_newest(user_id: int, path: str) -> FileText | None:
    versions = UserFileVersion.of(user_id).filter(file__path=path)
    newest = versions.filter(number=F("file__version_number")).select_related("file").first()
    return with_newest_rating(FileText(file=newest.file, version=newest)) if newest else None


def _named(draft: FileDraft) -> tuple[AttributeName, ...]:
    given = draft.attributes.given()
    return tuple(name for name in ATTRIBUTE_ORDER if name in given or name in draft.cleared)
