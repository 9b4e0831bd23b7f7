"""Side effects of a write, in the same transaction: one function per type that has any.

A function may run again for the same text (a retry), so each must be idempotent; only a rating is an event,
written with a new version only. Restoring a version restores what the file says, without repeating events.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from coaching.clock.days import local_day, next_weekday
from coaching.files.drafts import FileDraft, Occasion
from coaching.files.errors import FileMoved
from coaching.files.log_captures import read_captures_of_log
from coaching.files.paths import type_of_path
from coaching.models import Capture, DayPlan, FileType, Profile, PulseRating, ReflectionPrompt, UserFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A write about to commit. `file` is at its newest version, its row locked."""

    file: UserFile
    draft: FileDraft
    session_id: UUID | None
    is_new_version: bool


def apply_after_effects(write: Write) -> None:
    """Apply the side effects of the file's type. Call it in the write's transaction.

    A file that was restored under a second name, as its own path was in use, has none.
    """
    file_type = write.draft.file_type
    effect = AFTER_EFFECTS.get(file_type)
    is_own_path = type_of_path(write.file.path) == file_type
    if effect is not None and is_own_path and file_type in EFFECTIVE[write.draft.occasion]:
        effect(write)


def _fill_day_plan(write: Write) -> None:
    plan, _ = DayPlan.of(write.file.user_id).select_for_update().get_or_create(date=write.draft.path.day)
    attributes = write.draft.attributes
    if attributes.intention is not None or "intention" in write.draft.cleared:
        plan.intention = attributes.intention or ""
    if "priorities" in write.draft.cleared:
        plan.priorities = []
    elif attributes.priorities is not None:
        done = {priority["text"] for priority in plan.priorities if priority["is_done"]}
        plan.priorities = [{"text": text, "is_done": text in done} for text in attributes.priorities]
    plan.file = write.file
    plan.save()


def _fold_captures(write: Write) -> None:
    """Fold the captures that the log names. Raises `FileMoved` if another log took one in."""
    day, ids = write.draft.path.day, write.draft.capture_ids
    is_free = Q(folded_on=None) | Q(folded_on=day)
    # In a fixed order, so that two logs can't deadlock.
    named = Capture.of(write.file.user_id).filter(pk__in=ids)
    locked = named.filter(is_free).select_for_update()
    if len(locked.order_by("pk").values_list("pk", flat=True)) != len(ids):
        raise FileMoved
    named.update(folded_on=day)


def _rate_domain(write: Write) -> None:
    rating = write.draft.attributes.updated_rating
    if rating is None or not write.is_new_version:
        return
    PulseRating.of(write.file.user_id).create(
        domain=write.draft.path.stem.rpartition("/")[2],
        rating=rating,
        session_id=write.session_id,
        rated_at=write.draft.now,
    )


def _keep_prompt(write: Write) -> None:
    prompt, is_created = (
        ReflectionPrompt.of(write.file.user_id)
        .select_for_update()
        .get_or_create(file=write.file, defaults={"text": write.draft.body})
    )
    if not is_created and prompt.text != write.draft.body:
        prompt.text = write.draft.body
        if write.draft.occasion != "edited":
            prompt.answered_at = prompt.put_away_at = None
        prompt.save(update_fields=["text", "answered_at", "put_away_at"])


def _keep_capture(write: Write) -> None:
    Capture.of(write.file.user_id).get_or_create(file=write.file, defaults={"captured_at": write.draft.now})


def _move_checkin(write: Write) -> None:
    profile, _ = Profile.of(write.file.user_id).select_for_update().get_or_create()
    today = local_day(write.draft.now, write.draft.timezone)
    profile.next_checkin_on = next_weekday(today, profile.checkin_weekday)
    profile.save(update_fields=["next_checkin_on"])


AFTER_EFFECTS: dict[FileType, Callable[[Write], None]] = {
    FileType.DAY_PLAN: _fill_day_plan,
    FileType.DAILY_LOG: _fold_captures,
    FileType.DOMAIN: _rate_domain,
    FileType.REFLECTION_PROMPT: _keep_prompt,
    FileType.CAPTURE: _keep_capture,
    FileType.CHECK_IN: _move_checkin,
}

EFFECTIVE: Mapping[Occasion, frozenset[FileType]] = {
    "written": frozenset(AFTER_EFFECTS),
    "edited": frozenset({FileType.DAY_PLAN, FileType.DOMAIN, FileType.REFLECTION_PROMPT}),
    "restored": frozenset({FileType.DAY_PLAN, FileType.REFLECTION_PROMPT}),
    # Ratings are imported by themselves, and logs and check-ins of the past change nothing now.
    "imported": frozenset({FileType.DAY_PLAN, FileType.REFLECTION_PROMPT, FileType.CAPTURE}),
}


def _has_plan(user_id: int, draft: FileDraft) -> bool:
    plan = DayPlan.of(user_id).filter(date=draft.path.day).first()
    return plan is not None and plan.says_something


OUTLASTING: Mapping[FileType, Callable[[int, FileDraft], bool]] = {
    FileType.DAY_PLAN: _has_plan,
    FileType.DAILY_LOG: lambda user_id, draft: bool(
        read_captures_of_log(user_id=user_id, day=draft.path.day)
    ),
    FileType.DOMAIN: lambda _, draft: draft.attributes.updated_rating is not None,
    FileType.REFLECTION_PROMPT: lambda *_: False,
    FileType.CAPTURE: lambda *_: False,
    FileType.CHECK_IN: lambda *_: True,
}
"""Whether the effects of a user's new file would stay when the file is deleted again, by type."""


def outlasts_file(user_id: int, draft: FileDraft) -> bool:
    """Return whether a new file would change something that deleting it doesn't take back."""
    outlasts = OUTLASTING.get(draft.file_type)
    return outlasts is not None and outlasts(user_id, draft)
