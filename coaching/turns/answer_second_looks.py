"""Second looks at the words with which a question was answered: due with the answer, claimed, ended.

A look that is to be taken is stored with the answer, whose process takes it. If that dies meanwhile, another
one does.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from coaching.life.capture_verdicts import CLAIMED_FOR, MAX_CLAIMED, TAKEN_WITHIN
from coaching.model_client.patience import look_delay
from coaching.safety.danger import Danger
from sessions_app.models import ToolCallRecord, ToolCallState
from sessions_app.queries import Query, parameter, prepared


def note_in(value: object) -> str:
    """Return a person's own words in an answer, empty for a tap."""
    note = value.get("note") if isinstance(value, Mapping) else None
    return note.strip() if isinstance(note, str) else ""


def look_due_at(value: object, danger: Danger | None, *, now: datetime) -> datetime | None:
    """Return from when others may take the look at an answer; None where it needs none.

    Clear danger needs no look. Until then it is claimed by the process that stores the answer.
    """
    is_clear = danger is not None and danger.level == "immediate"
    needs_look = settings.SAGE_SAFETY_MODEL and note_in(value) and not is_clear
    return now + CLAIMED_FOR + look_delay() if needs_look else None


def _is_look_due(now: Any, *, since: Any) -> Q:
    return Q(
        state=ToolCallState.ANSWERED,
        turn__is_withdrawn=False,
        look_due_at__lte=now,
        finished_at__gt=since,
    )


@prepared
def _due_answer_look() -> QuerySet[Any, Any]:
    due = _is_look_due(parameter("now"), since=parameter("since"))
    return ToolCallRecord.unscoped.filter(due).values_list("pk")[:1]


def due_answer_look(*, now: datetime) -> Query:
    """Return a query that finds a row if `claim_answer_looks` would claim something."""
    return _due_answer_look(now=now, since=now - TAKEN_WITHIN)


@transaction.atomic
def claim_answer_looks(*, now: datetime) -> Sequence[int]:
    """Claim the looks at answers that processes have lost: the newest, some at a time. Returns the calls."""
    if not settings.SAGE_SAFETY_MODEL:
        return []
    due = ToolCallRecord.unscoped.filter(_is_look_due(now, since=now - TAKEN_WITHIN))
    due = due.select_for_update(of=("self",), no_key=True, skip_locked=True).order_by("-look_due_at", "-pk")
    claimed = list(due[:MAX_CLAIMED])
    for call in claimed:
        call.look_due_at = now + CLAIMED_FOR + look_delay()
        call.save(update_fields=["look_due_at"])
    return [call.pk for call in claimed]
