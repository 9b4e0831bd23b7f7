"""The life of knowledge entries and next steps: proposed, accepted, edited, dismissed, restored, deleted.

Both live by the same rules, and each change has an audit row, with which `undo` takes it back. What becomes
of a step that was accepted is in `resolutions`. Another user's row, client, project or document looks
missing. The module is longer than others, because all of it goes by one table of both kinds.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, overload

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_noop

from coaching.library.auto_approval import ACTION_ITEM, is_auto_approved
from coaching.library.documents.locks import locked_document
from coaching.library.drafts import NewAction, NewEntry, draft_of
from coaching.library.effects import (
    CHANGED_SINCE,
    UNDONE_ALREADY,
    change,
    is_deleted,
    keep_keys,
    record_created,
)
from coaching.library.effects import undo as undo_effect
from coaching.library.places import check_room, lock_additions, locked_place
from coaching.models import (
    ActionItem,
    ActionOrigin,
    ActionState,
    EffectKind,
    EntryState,
    KnowledgeEntry,
    LibraryEffect,
    MadeBy,
)
from coaching.people.own_changes import own_changes
from coaching.people.profile_changes import offer_library
from sessions_app.errors import OutOfDate, Refused

Draft = NewEntry | NewAction
Row = KnowledgeEntry | ActionItem
Model = type[KnowledgeEntry] | type[ActionItem]

NOT_OPEN = gettext_noop("This step was dismissed. If it still needs to be done, restore it on its page.")
UNDO_HOURS = 24
TOO_LATE = gettext_noop("This was more than a day ago. You can still edit the step.")
MAX_SUGGESTIONS = 100
"""Of programs, of each kind, that wait for the user's yes."""
TOO_MANY_SUGGESTIONS = gettext_noop(
    "%(most)s suggestions of programs wait already. Accept or dismiss some of them first."
)
NOTHING_TO_UNDO = gettext_noop("There’s nothing to undo here.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """What is different between entries and next steps.

    `text` is the field that says more than the title. The fields of `as_given` are taken from a yes even
    where they are empty.
    """

    model: Model
    proposed: str
    accepted: str
    dismissed: Mapping[str, Any]
    changed: EffectKind
    text: str
    as_given: Collection[str]
    full: str
    gone: str
    kept: str

    def is_auto_approved(self, user_id: int, values: Mapping[str, Any]) -> bool:
        return is_auto_approved(user_id=user_id, kind=values.get("entry_type", ACTION_ITEM))


ENTRY = _Kind(
    model=KnowledgeEntry,
    proposed=EntryState.PROPOSED,
    accepted=EntryState.ACCEPTED,
    dismissed={"state": EntryState.DISMISSED},
    changed=EffectKind.KNOWLEDGE_CHANGED,
    text="content",
    as_given=(),
    full=gettext_noop("You can have up to %(most)s knowledge entries. Delete some that you no longer need."),
    gone=gettext_noop("This was dismissed. Restore it first."),
    kept=gettext_noop(
        "You’ve already accepted this, so it wasn’t dismissed. You can still edit or delete it."
    ),
)
ACTION = _Kind(
    model=ActionItem,
    proposed=ActionState.PROPOSED,
    accepted=ActionState.OPEN,
    dismissed={"state": ActionState.DISMISSED, "done_at": None},
    changed=EffectKind.ACTION_CHANGED,
    text="description",
    as_given=("due_date",),
    full=gettext_noop("You can have up to %(most)s next steps. Delete some that you no longer need."),
    gone=NOT_OPEN,
    kept=gettext_noop(
        "You’ve already accepted this step, so it wasn’t dismissed. You can still drop or delete it."
    ),
)


@overload
def propose(
    *,
    user_id: int,
    new: NewEntry,
    made_by: MadeBy,
    is_accepted: bool = False,
    tool_use_id: str = "",
    program: str = "",
) -> KnowledgeEntry: ...
@overload
def propose(
    *,
    user_id: int,
    new: NewAction,
    made_by: MadeBy,
    is_accepted: bool = False,
    tool_use_id: str = "",
    program: str = "",
) -> ActionItem: ...
@transaction.atomic
def propose(
    *,
    user_id: int,
    new: Draft,
    made_by: MadeBy,
    is_accepted: bool = False,
    tool_use_id: str = "",
    program: str = "",
) -> Row:
    """Add what a draft says as a proposal, or accepted if the user wants it (`is_accepted`).

    Proposals of an auto-approved kind are accepted, too. A yes to what already waits, of the same client and
    title, accepts that row instead of adding another one; but a `program`, by its name, accepts nothing, and
    what it only suggests always waits. Raises `Refused`, and `DoesNotExist` for a row of a program that the
    user has deleted since it was added with the same `origin_key`.
    """
    kind = ENTRY if isinstance(new, NewEntry) else ACTION
    values = new.values()
    place = locked_place(
        user_id=user_id, client_id=new.client_id, project_id=new.project_id, document_id=new.document_id
    )
    lock_additions(user_id)
    by: dict[str, Any] = {"made_by": made_by, "tool_use_id": tool_use_id, "program": program}
    how: dict[str, Any] = {"kind": kind.changed, **by}
    if present := present_row(user_id=user_id, new=new):
        if present.state == kind.proposed:
            change(present, values=values, **how)
        return present
    if program and is_accepted and is_deleted(user_id=user_id, key=new.origin_key):
        raise kind.model.DoesNotExist
    is_yes = is_accepted and not program
    if is_yes and (waiting := _waiting(kind, user_id, values, place, made_by=made_by)):
        change(waiting, values=_as_accepted(kind, waiting, values, place), **how)
        return waiting
    check_room(kind.model, user_id=user_id, full=kind.full)
    if program and not is_accepted:
        _check_suggestions(kind, user_id)
    is_accepted = is_accepted or (not program and kind.is_auto_approved(user_id, values))
    row = kind.model.of(user_id).create(
        **values,
        **place,
        session_id=new.session_id,
        origin_key=new.origin_key,
        state=kind.accepted if is_accepted else kind.proposed,
        **_origin(new, made_by),
    )
    record_created(row, **by)
    if kind is ENTRY and not new.document_id:
        offer_library(user_id)
    return row


def present_row(*, user_id: int, new: Draft) -> Row | None:
    """Return the row that an earlier reading of the draft's document or sentence has made, locked.

    Without either it is what a program suggested before.
    """
    if not new.origin_key:
        return None
    kind = ENTRY if isinstance(new, NewEntry) else ACTION
    source: dict[str, Any] = {"document_id": new.document_id}
    if not new.document_id:
        source["session_id"] = new.session_id
    rows = kind.model.of(user_id).select_for_update().filter(origin_key=new.origin_key, **source)
    return rows.first()


def _check_suggestions(kind: _Kind, user_id: int) -> None:
    """Raise `Refused` where as many suggestions of programs wait as may."""
    made = {"origin": ActionOrigin.PROGRAM} if kind is ACTION else {"made_by": MadeBy.PROGRAM}
    if kind.model.of(user_id).filter(state=kind.proposed, **made).count() >= MAX_SUGGESTIONS:
        raise Refused(TOO_MANY_SUGGESTIONS, most=MAX_SUGGESTIONS)


_ORIGINS: Mapping[MadeBy, ActionOrigin] = {
    MadeBy.PIPELINE: ActionOrigin.DOCUMENT,
    MadeBy.CHAT: ActionOrigin.CONVERSATION,
    MadeBy.USER: ActionOrigin.PERSON,
    MadeBy.PROGRAM: ActionOrigin.PROGRAM,
}


def _origin(new: Draft, made_by: MadeBy) -> Mapping[str, Any]:
    if isinstance(new, NewAction):
        return {"origin": new.origin or _ORIGINS[made_by]}
    return {"made_by": made_by}


def _waiting(
    kind: _Kind, user_id: int, values: Mapping[str, Any], place: Mapping[str, Any], *, made_by: MadeBy
) -> Row | None:
    """Return the proposal that a yes is about, locked: of this client and title, and no other document.

    What the user wrote by themselves isn't about one that says something else. Nor is a yes in a
    conversation about one from a document that the model never gets, which nobody could have asked about.
    """
    same = Q(client_id=place["client_id"], title__iexact=values["title"], state=kind.proposed)
    if place["document_id"]:
        same &= Q(document_id=place["document_id"]) | Q(document_id=None)
    if made_by == MadeBy.USER and values[kind.text]:
        same &= Q(**{kind.text: values[kind.text]})
    rows = kind.model.of(user_id).filter(same).exclude(document__is_withheld=True)
    return rows.select_for_update(of=("self",)).order_by("id").first()


def _as_accepted(
    kind: _Kind, waiting: Row, values: Mapping[str, Any], place: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the values of a proposal that was accepted as `values` say; what they leave out stays."""
    given = {name: value for name, value in values.items() if value or name in kind.as_given}
    if values["quote"]:
        given["page"] = values["page"]
    edited = draft_of(waiting).edited(given).values()
    moved = {name: place[name] for name in ("project_id", "document_id") if place[name]}
    return {**edited, **moved, "state": kind.accepted}


@transaction.atomic
def accept(*, user_id: int, model: Model, row_id: int) -> LibraryEffect | None:
    """Accept a proposal; None if it was accepted before. Raises `Refused` and the model's `DoesNotExist`."""
    row, kind = _locked(user_id, model, row_id)
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
    row, kind = _locked(user_id, model, row_id)
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
    row, kind = _locked(user_id, model, row_id)
    if row.state not in (kind.proposed, kind.dismissed["state"]):
        raise OutOfDate(kind.kept)
    return _change(row, kind, **kind.dismissed)


@transaction.atomic
def restore(*, user_id: int, model: Model, row_id: int) -> LibraryEffect | None:
    """Bring back a row that was dismissed, or whose adding was undone: as a suggestion if it was one.

    None for a row that is there.
    """
    row, kind = _locked(user_id, model, row_id)
    if row.state != kind.dismissed["state"]:
        return None
    effects = LibraryEffect.of(user_id).filter(**_about(row))
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
    row, kind = _locked(user_id, model, row_id)
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
    effects = LibraryEffect.of(user_id).filter(**_about(row))
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


def _about(row: Row) -> Mapping[str, Any]:
    """Return the condition for the audit rows of a row."""
    return {"entry": row} if isinstance(row, KnowledgeEntry) else {"action_item": row}


def _locked(user_id: int, model: Model, row_id: int) -> tuple[Row, _Kind]:
    kind = ENTRY if model is KnowledgeEntry else ACTION
    return kind.model.of(user_id).select_for_update().get(id=row_id), kind


def _change(row: Row, kind: _Kind, **values: Any) -> LibraryEffect | None:
    return change(row, kind=kind.changed, made_by=MadeBy.USER, values=values)
