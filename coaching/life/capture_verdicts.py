"""What was noticed of a capture's words: stored by version, and shown once where they were written."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from coaching.models import CaptureVerdict, FileType, UserFileVersion
from coaching.people.help_lines import count_card
from coaching.safety.danger import Danger
from sessions_app.verdicts import NewVerdict, is_more_acute

SHOWN_WITHIN = timedelta(days=1)
"""A card that no page has shown by then isn't shown any more."""
LOOKED_WITHIN = timedelta(seconds=10)
"""A look that takes longer was lost."""


def note_capture(*, user_id: int, file_id: int, version: int, danger: Danger | None) -> None:
    """Store what the rules made of a capture's new version, whose card the next page shows.

    Nothing is stored of calm words unless a look follows or an earlier version had a verdict. Other files
    have none.
    """
    versions = UserFileVersion.of(user_id).filter(file=file_id, file__file_type=FileType.CAPTURE)
    found = versions.filter(number=version).values_list("pk", flat=True).first()
    if found is None:
        return
    is_known = CaptureVerdict.of(user_id).filter(version__file=file_id).exists()
    if danger is None and not settings.SAGE_SAFETY_MODEL and not is_known:
        return
    values: dict[str, object] = {}
    if danger is not None:
        values = {"level": danger.level, "by_rules": danger.level, "is_shown": True}
        values |= {"about": danger.about, "topic": danger.topic}
    CaptureVerdict.unscoped.get_or_create(version_id=found, defaults=values)


def pending_look(*, user_id: int, now: datetime) -> int | None:
    """Return the version of the newest capture that a look is still to be taken at, or whose look may end.

    Clear danger needs none.
    """
    if not settings.SAGE_SAFETY_MODEL:
        return None
    rows = CaptureVerdict.of(user_id).filter(looked="", created_at__gt=now - LOOKED_WITHIN)
    waiting = rows.exclude(level="immediate").order_by("-created_at", "-pk")
    return waiting.values_list("version", flat=True).first()


@transaction.atomic
def raise_verdict(version_id: int, new: NewVerdict, *, now: datetime) -> None:
    """Store how a look at a capture ended. A card that it makes, or makes more acute, waits to be shown."""
    rows = CaptureVerdict.unscoped.select_for_update(of=("self",), no_key=True).filter(version=version_id)
    row = rows.first()
    if row is None or row.looked:
        return
    row.looked, row.model, row.milliseconds = new.looked, new.model, new.milliseconds
    row.usage_id = new.usage_id
    if is_more_acute(new.level, row.level):
        if row.level == "none":
            count_card(new.level, now=now)
        row.level, row.about, row.topic, row.is_shown = new.level, new.about, new.topic, False
    row.save()


def take_unshown(*, user_id: int, now: datetime) -> CaptureVerdict | None:
    """Return the newest verdict whose card no page has shown, once: of two pages at once, one gets it."""
    rows = CaptureVerdict.of(user_id).in_force().filter(is_shown=False, created_at__gt=now - SHOWN_WITHIN)
    waiting = list(rows.exclude(level="none").order_by("-created_at"))
    if not waiting:
        return None
    taken = CaptureVerdict.of(user_id).filter(pk__in=[row.pk for row in waiting], is_shown=False)
    return waiting[0] if taken.update(is_shown=True) else None
