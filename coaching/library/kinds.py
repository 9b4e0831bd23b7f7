"""What differs between the two kinds of rows that are proposed: knowledge entries and next steps."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop

from coaching.library.auto_approval import ACTION_ITEM, is_auto_approved
from coaching.models import ActionItem, ActionState, EffectKind, EntryState, KnowledgeEntry

Row = KnowledgeEntry | ActionItem
Model = type[KnowledgeEntry] | type[ActionItem]

NOT_OPEN = gettext_noop("This step was dismissed. If it still needs to be done, restore it on its page.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
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


ENTRY = Kind(
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
ACTION = Kind(
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


def locked(user_id: int, model: Model, row_id: int) -> tuple[Row, Kind]:
    """Lock and return a row of the user's, with its kind. Raises the model's `DoesNotExist`."""
    kind = ENTRY if model is KnowledgeEntry else ACTION
    return kind.model.of(user_id).select_for_update().get(id=row_id), kind
