"""What was noticed of a capture's words: stored by version, and shown once where they were written.

A look that is to be taken is stored with the words. A process claims it for a few seconds; if it dies
meanwhile, another one does.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from coaching.care.standing import OWN_DAYS
from coaching.model_client.patience import look_delay
from coaching.models import CaptureVerdict, FileType, UserFileVersion
from coaching.people.help_lines import count_card
from coaching.safety.danger import Danger
from sessions_app.queries import Query, parameter, prepared
from sessions_app.verdicts import NewVerdict, is_more_acute

SHOWN_WITHIN = timedelta(days=1)
"""A card that no page has shown by then isn't shown any more."""
CLAIMED_FOR = timedelta(seconds=10)
"""A look that takes longer was lost."""
TAKEN_WITHIN = timedelta(days=max(OWN_DAYS.values()))
"""A look that is lost for longer isn't taken: nothing remembers those words any more."""
MAX_CLAIMED = 20


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
    # Clear danger needs no look.
    is_look_due = bool(settings.SAGE_SAFETY_MODEL) and (danger is None or danger.level != "immediate")
    if danger is None and not is_look_due and not is_known:
        return
    values: dict[str, object] = {"look_due_at": timezone.now() if is_look_due else None}
    if danger is not None:
        values |= {"level": danger.level, "by_rules": danger.level, "is_shown": True}
        values |= {"about": danger.about, "topic": danger.topic}
    CaptureVerdict.unscoped.get_or_create(version_id=found, defaults=values)


def _is_look_due(now: Any, *, since: Any) -> Q:
    return Q(CaptureVerdict.words_stand(), look_due_at__lte=now, created_at__gt=since)


@prepared
def _due_look() -> QuerySet[Any, Any]:
    due = _is_look_due(parameter("now"), since=parameter("since"))
    return CaptureVerdict.unscoped.filter(due).values_list("pk")[:1]


def due_look(*, now: datetime) -> Query:
    """Return a query that finds a row if `claim_looks` would claim something of anybody's."""
    return _due_look(now=now, since=now - TAKEN_WITHIN)


@transaction.atomic
def claim_looks(*, user_id: int | None = None, now: datetime) -> Sequence[int]:
    """Claim the looks that are due at a person's captures, or at anybody's: the newest, some at a time.

    Returns the captures' versions. Their looks are due again for whoever comes after the claim's end.
    """
    if not settings.SAGE_SAFETY_MODEL:
        return []
    rows = CaptureVerdict.unscoped.all() if user_id is None else CaptureVerdict.of(user_id)
    due = rows.filter(_is_look_due(now, since=now - TAKEN_WITHIN))
    due = due.select_for_update(of=("self",), no_key=True, skip_locked=True).order_by("-created_at", "-pk")
    claimed = list(due[:MAX_CLAIMED])
    for row in claimed:
        row.look_due_at = now + CLAIMED_FOR + look_delay()
        row.save(update_fields=["look_due_at"])
    return [row.version_id for row in claimed]


def drop_look(version_id: int) -> None:
    """Take no look at a capture after all: it has no words."""
    CaptureVerdict.unscoped.filter(version=version_id).update(look_due_at=None)


def is_look_pending(*, user_id: int, now: datetime) -> bool:
    """Return whether a look at a capture is being taken, or is about to be."""
    rows = CaptureVerdict.of(user_id).in_force()
    return rows.filter(look_due_at__gt=now - CLAIMED_FOR).exists()


@transaction.atomic
def raise_verdict(version_id: int, new: NewVerdict, *, now: datetime) -> None:
    """Store how a look at a capture ended. A card that it makes, or makes more acute, waits to be shown."""
    rows = CaptureVerdict.unscoped.select_for_update(of=("self",), no_key=True).filter(version=version_id)
    row = rows.first()
    if row is None or row.looked:
        return
    row.looked, row.model, row.milliseconds = new.looked, new.model, new.milliseconds
    row.usage_id, row.look_due_at = new.usage_id, None
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
