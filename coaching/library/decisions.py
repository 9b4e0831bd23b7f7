"""What a person does with knowledge entries and next steps: accept, edit, dismiss, restore, delete, undo.

Each change has an audit row, with which `undo` takes it back. What becomes of a step that was accepted is in
`resolutions`. Another user's row looks missing.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_noop

from coaching.library.documents.locks import locked_document
from coaching.library.drafts import draft_of
from coaching.library.effects import CHANGED_SINCE, UNDONE_ALREADY, change, keep_keys
from coaching.library.effects import undo as undo_effect
from coaching.library.kinds import ACTION, ENTRY, Kind, Model, Row, locked
from coaching.models import ActionItem, KnowledgeEntry, LibraryEffect, MadeBy
from coaching.people.own_changes import own_changes
from sessions_app.errors import OutOfDate, Refused

UNDO_HOURS = 24
TOO_LATE = gettext_noop("This was more than a day ago. You can still edit the step.")
NOTHING_TO_UNDO = gettext_noop("There’s nothing to undo here.")


@transaction.atomic
def accept(*, user_id: int, model: Model, row_id: int) -> LibraryEffect | None:
    """Accept a proposal; None if it was accepted before. Raises `Refused` and the model's `DoesNotExist`."""
    row, kind = locked(user_id, model, row_id)
    if row.state == kind.dismissed["state"]:
        raise Refused(kind.gone)
    return _change(row, kind, state=kind.accepted) if row.state == kind.proposed else None


@transaction.atomic
def accept_shown(
    *,
    user_id: int,
    document_id: int,
    entry_ids: Collection[int],
    action_ids: Collection[int],
    seen_at: datetime,
) -> int:
    """Accept the proposals from a document that were shown; return how many still wait as they were shown.

    `seen_at` is the newest of their times of change. Raises `Document.DoesNotExist`.
    """
    locked_document(user_id, document_id)
    count = 0
    for kind, ids in ((ENTRY, entry_ids), (ACTION, action_ids)):
        rows = kind.model.of(user_id).filter(document_id=document_id, id__in=ids, state=kind.proposed)
        shown = rows.filter(updated_at__lte=seen_at).select_for_update().order_by("id")
        count += len([_change(row, kind, state=kind.accepted) for row in shown])
    return count


@transaction.atomic
def edit(
    *,
    user_id: int,
    model: Model,
    row_id: int,
    changes: Mapping[str, Any],
    seen: Mapping[str, Any] | None = None,
    tool_use_id: str = "",
    program: str = "",
) -> LibraryEffect | None:
    """Change what a row says; with the values that were `seen`, only what differs from them.

    Raises `EditConflict`, `Refused` and the model's `DoesNotExist`.
    """
    row, kind = locked(user_id, model, row_id)
    if row.state == kind.dismissed["state"]:
        raise Refused(kind.gone)
    present = {name: getattr(row, name) for name in changes}
    changes = own_changes(changes, seen=seen, present=present, stored=_as_stored(row, changes))
    values = draft_of(row).edited(changes).values()
    by: dict[str, Any] = {"made_by": MadeBy.USER, "tool_use_id": tool_use_id, "program": program}
    return change(row, kind=kind.changed, values=values, **by)


def _as_stored(row: Row, changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return changes as the row would have them; as they are where it can't have them."""
    try:
        values = draft_of(row).edited(changes).values()
    except Refused:
        return changes
    return {name: values.get(name, value) for name, value in changes.items()}


@transaction.atomic
def dismiss(*, user_id: int, model: Model, row_id: int) -> LibraryEffect | None:
    """Dismiss a proposal: it isn't listed, found or proposed again. None if it was dismissed before.

    Raises `OutOfDate` for what was accepted.
    """
    row, kind = locked(user_id, model, row_id)
    if row.state not in (kind.proposed, kind.dismissed["state"]):
        raise OutOfDate(kind.kept)
    return _change(row, kind, **kind.dismissed)


@transaction.atomic
def restore(*, user_id: int, model: Model, row_id: int) -> LibraryEffect | None:
    """Bring back a row that was dismissed, or whose adding was undone: as a suggestion if it was one.

    None for a row that is there.
    """
    row, kind = locked(user_id, model, row_id)
    if row.state != kind.dismissed["state"]:
        return None
    effects = LibraryEffect.of(user_id).filter(**about(row))
    was = next((before for effect in effects if (before := _state_before(effect, row.state))), None)
    return _change(row, kind, state=kind.proposed if was == kind.proposed else kind.accepted)


def _state_before(effect: LibraryEffect, dismissed: str) -> str | None:
    """Return the state that a row had before an effect, or its undoing, dismissed it."""
    if effect.undone_at is not None:
        return None if effect.before else effect.after.get("state")
    return effect.before.get("state") if effect.after.get("state") == dismissed else None


@transaction.atomic
def delete(*, user_id: int, model: Model, row_id: int) -> None:
    """Delete a row with its audit rows."""
    row, kind = locked(user_id, model, row_id)
    if kind is ACTION:
        keep_keys(ActionItem.of(user_id).filter(id=row_id))
    row.delete()


DECISIONS: Mapping[str, Callable[..., object]] = {
    "accept": accept,
    "dismiss": dismiss,
    "restore": restore,
    "delete": delete,
}
"""What a person can do with a row besides editing it, by the words of forms."""


@transaction.atomic
def undo(
    *,
    user_id: int,
    model: Model,
    row_id: int,
    now: datetime,
    effect_id: int | None = None,
    tool_use_id: str = "",
) -> LibraryEffect:
    """Undo a row's newest change, or that of a call, for a day.

    Raises `OutOfDate` if the newest change isn't `effect_id`, `Refused` and `DoesNotExist`.
    """
    row = model.of(user_id).only("id").get(id=row_id)
    effects = LibraryEffect.of(user_id).filter(**about(row))
    if tool_use_id:
        effects = effects.filter(tool_use_id=tool_use_id)
    newest = effects.filter(undone_at=None).first()
    if effect_id is not None and (newest is None or newest.pk != effect_id):
        is_undone = effects.filter(id=effect_id).exclude(undone_at=None).exists()
        raise OutOfDate(UNDONE_ALREADY if is_undone else CHANGED_SINCE)
    if newest is None:
        raise Refused(NOTHING_TO_UNDO)
    if now - newest.created_at > timedelta(hours=UNDO_HOURS):
        raise Refused(TOO_LATE)
    return undo_effect(user_id=user_id, effect_id=newest.pk)


def about(row: Row) -> Mapping[str, Any]:
    """Return the condition for the audit rows of a row."""
    return {"entry": row} if isinstance(row, KnowledgeEntry) else {"action_item": row}


def _change(row: Row, kind: Kind, **values: Any) -> LibraryEffect | None:
    return change(row, kind=kind.changed, made_by=MadeBy.USER, values=values)
