"""Effects: what was changed in the library and by whom, and how one click undoes it.

An effect holds the fields that it changed, before and after, and can be undone as long as they still
have the values that it gave them. Undoing dismisses a row that it made instead of deleting
it, so that the same document doesn't propose it again.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import Case, Exists, Field, OuterRef, Q, QuerySet, When
from django.utils import timezone
from django.utils.translation import gettext_noop

from coaching.library.moves import moving
from coaching.models import (
    UNFINISHED_STATES,
    ActionItem,
    ActionOrigin,
    ActionState,
    Client,
    Document,
    DocumentCorrection,
    DocumentState,
    EffectKind,
    EntryState,
    KnowledgeEntry,
    LibraryEffect,
    MadeBy,
    Project,
    StepChange,
)
from sessions_app.errors import Refused

Changeable = Document | KnowledgeEntry | ActionItem

MAX_EFFECTS = 20_000
"""Of each person. The oldest go over it, so the audit of a person's changes reaches as far back."""
COUNTED_EVERY = 100
"""Counting takes milliseconds, so it is done after about every hundredth effect of all people."""

UNDONE_ALREADY = gettext_noop("This has already been undone.")
CHANGED_SINCE = gettext_noop("This has changed since then, so it can’t be undone. You can still edit it.")
PLACE_GONE = gettext_noop("The client or project it belonged to no longer exists, so it can’t be moved back.")
FILING_UNDONE = gettext_noop("You undid the filing. Choose a type and a folder.")

_PLACE = frozenset({"client_id", "project_id"})
_FOUND_LATER = frozenset({"key_facts", "dropped_facts", "facts_found_at"})
"""What a job finds in a document after it was filed, which doesn't keep the filing from being undone."""
_MADE_FIELDS: Mapping[type[Changeable], Collection[str]] = {
    KnowledgeEntry: (
        "client_id", "project_id", "title", "content", "entry_type", "key_points", "tags", "quote", "page",
        "state",
    ),
    ActionItem: (
        "client_id", "project_id", "title", "description", "due_date", "due_time", "due_words", "repeats",
        "priority", "owner", "quote", "message_number", "page", "state",
    ),
}  # fmt: skip
_MADE_KINDS: Mapping[type[Changeable], EffectKind] = {
    KnowledgeEntry: EffectKind.KNOWLEDGE_CREATED,
    ActionItem: EffectKind.ACTION_CREATED,
}


def record_created(
    row: KnowledgeEntry | ActionItem, *, made_by: MadeBy, tool_use_id: str = "", program: str = ""
) -> LibraryEffect:
    after = _values_of(row, _MADE_FIELDS[type(row)])
    how = {"made_by": made_by, "tool_use_id": tool_use_id, "program": program}
    return _record(row, _MADE_KINDS[type(row)], {}, after, **how)


@transaction.atomic
def change(
    row: Changeable,
    *,
    kind: EffectKind,
    made_by: MadeBy,
    values: Mapping[str, Any],
    tool_use_id: str = "",
    program: str = "",
) -> LibraryEffect | None:
    """Change fields of a row that the caller has locked, and record that; None if they have these values.

    A document takes what was made from it along to another client or project. `program` is the name of the
    program that did it for the person.
    """
    before = _values_of(row, values)
    for name, value in values.items():
        setattr(row, name, value)
    changed = [name for name, value in _values_of(row, values).items() if value != before[name]]
    if not changed:
        return None
    _save(row, changed)
    before = {name: before[name] for name in changed}
    after = _values_of(row, changed)
    how = {"made_by": made_by, "tool_use_id": tool_use_id, "program": program}
    return _record(row, kind, before, after, **how)


def keep_keys(steps: QuerySet[ActionItem]) -> None:
    """Keep the keys of programs' requests whose steps are being deleted, without a word of them."""
    for step in steps.filter(origin=ActionOrigin.PROGRAM).exclude(origin_key=""):
        LibraryEffect.of(step.user_id).create(
            kind=EffectKind.ACTION_CREATED,
            made_by=MadeBy.USER,
            tool_use_id=step.origin_key,
            undone_at=timezone.now(),
        )


def is_deleted(*, user_id: int, key: str) -> bool:
    """Return whether the step that a program's request with this key has made was deleted."""
    kept = LibraryEffect.of(user_id).filter(kind=EffectKind.ACTION_CREATED, action_item=None)
    return bool(key) and kept.filter(tool_use_id=key).exists()


def undo(*, user_id: int, effect_id: int) -> LibraryEffect:
    """Undo one effect. Raises `Refused` with a sentence, and `LibraryEffect.DoesNotExist`.

    What is to be read anew then, `library.documents.undoing` queues.
    """
    with moving(Document.of(user_id).filter(effects=effect_id)):
        row = _locked_row(LibraryEffect.of(user_id).get(id=effect_id))
        effect = LibraryEffect.of(user_id).select_for_update().get(id=effect_id)
        if effect.undone_at is not None:
            raise Refused(UNDONE_ALREADY)
        is_made = not effect.before
        watched = set(effect.after) - (_PLACE if is_made else frozenset())
        watched = watched & {"key_facts"} if effect.kind == EffectKind.FACTS_FOUND else watched - _FOUND_LATER
        if any(value != effect.after[name] for name, value in _values_of(row, watched).items()):
            raise Refused(CHANGED_SINCE)
        if is_made:
            row.state = ActionState.DISMISSED if isinstance(row, ActionItem) else EntryState.DISMISSED
            _save(row, ["state"])
        else:
            _restore(row, effect)
            StepChange.of(user_id).filter(effect=effect).delete()
        effect.undone_at = timezone.now()
        effect.save(update_fields=["undone_at"])
        return effect


def _locked_row(effect: LibraryEffect) -> Changeable:
    if effect.document_id is not None:
        document = Document.of(effect.user_id).select_for_update().get(id=effect.document_id)
        _lock_place_before(effect)
        return document
    _lock_place_before(effect)
    if effect.entry_id is not None:
        return KnowledgeEntry.of(effect.user_id).select_for_update().get(id=effect.entry_id)
    return ActionItem.of(effect.user_id).select_for_update().get(id=effect.action_item_id or 0)


def _lock_place_before(effect: LibraryEffect) -> None:
    """Keep the place to which an effect's row may go back from being deleted meanwhile."""
    for model, name in ((Client, "client_id"), (Project, "project_id")):
        if place_id := effect.before.get(name):
            model.of(effect.user_id).select_for_update(no_key=True).filter(id=place_id).first()


def _restore(row: Changeable, effect: LibraryEffect) -> None:
    if isinstance(row, Document) and effect.kind == EffectKind.CORRECTED:
        corrections = DocumentCorrection.of(effect.user_id).filter(document=row, to_type=row.file_type)
        if (newest := corrections.first()) is not None:
            newest.delete()
    for name, value in effect.before.items():
        kept = row._meta.get_field(name)
        setattr(row, name, kept.to_python(value) if isinstance(kept, Field) else value)
    if not _place_exists(row):
        raise Refused(PLACE_GONE)
    changed = list(effect.before)
    if isinstance(row, Document) and row.state in UNFINISHED_STATES:
        row.state, row.reason = DocumentState.REVIEW, FILING_UNDONE
        changed += ["state", "reason"]
    if isinstance(row, Document) and effect.kind in (EffectKind.FILED, EffectKind.CORRECTED):
        row.facts_found_at = None  # the facts that it has now are others than those of its type
        changed += ["facts_found_at"]
    _save(row, changed)


def _place_exists(row: Changeable) -> bool:
    if not Client.of(row.user_id).filter(id=row.client_id).exists():
        return False
    if row.project_id is None:
        return True
    return Project.of(row.user_id).filter(id=row.project_id, client_id=row.client_id).exists()


def _save(row: Changeable, changed: Collection[str]) -> None:
    row.save(update_fields={*changed, "updated_at"})
    if isinstance(row, Document) and _PLACE & set(changed):
        place = {"client_id": row.client_id, "project_id": row.project_id}
        for made in (KnowledgeEntry, ActionItem):
            made.of(row.user_id).filter(document=row).update(**place)


def _record(
    row: Changeable,
    kind: EffectKind,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    **how: Any,
) -> LibraryEffect:
    effect = LibraryEffect.of(row.user_id).create(
        kind=kind,
        document=row if isinstance(row, Document) else None,
        entry=row if isinstance(row, KnowledgeEntry) else None,
        action_item=row if isinstance(row, ActionItem) else None,
        before=before,
        after=after,
        **how,
    )
    if effect.pk % COUNTED_EVERY == 0:
        _delete_excess(row.user_id)
    return effect


def _delete_excess(user_id: int) -> None:
    """Delete the oldest effects over the limit, those first that are undone or followed by another one."""
    excess = LibraryEffect.of(user_id).count() - MAX_EFFECTS
    if excess <= 0:
        return
    same_row = Q(document=OuterRef("document")) | Q(entry=OuterRef("entry"))
    same_row |= Q(action_item=OuterRef("action_item"))
    later = LibraryEffect.of(user_id).filter(same_row, id__gt=OuterRef("id"))
    is_past = Q(undone_at__isnull=False) | Exists(later)
    rows = LibraryEffect.of(user_id).annotate(is_past=Case(When(is_past, then=0), default=1))
    oldest = list(rows.order_by("is_past", "id").values_list("id", flat=True)[:excess])
    effects = LibraryEffect.of(user_id)
    free = effects.select_for_update(skip_locked=True).filter(id__in=oldest).values_list("id", flat=True)
    effects.filter(id__in=list(free)).delete()


def _values_of(row: Changeable, names: Collection[str] | Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of a row as they are stored in JSON."""
    values = {name: getattr(row, name) for name in names}
    plain: dict[str, Any] = json.loads(json.dumps(values, cls=DjangoJSONEncoder))
    return plain
