"""Auto-approval: kinds of proposals that the user accepts without being asked."""

from collections.abc import Collection

from django.utils.translation import gettext_noop

from coaching.models import AutoApproval, EntryType
from sessions_app.errors import Refused

ACTION_ITEM = "action_item"
KINDS: Collection[str] = (*EntryType.values, ACTION_ITEM)


def is_auto_approved(*, user_id: int, kind: str) -> bool:
    """Say whether proposals of this kind are accepted by themselves."""
    return AutoApproval.of(user_id).filter(kind=kind).exists()


def auto_approvals(user_id: int) -> frozenset[str]:
    """Return the kinds that the user accepts without being asked."""
    return frozenset(AutoApproval.of(user_id).values_list("kind", flat=True))


def set_auto_approval(*, user_id: int, kind: str, is_given: bool) -> None:
    """Approve a kind from now on, or no longer; proposals made before stay as they are. Raises `Refused`."""
    if kind not in KINDS:
        raise Refused(gettext_noop("That kind of entry doesn’t exist."))
    if is_given:
        AutoApproval.of(user_id).get_or_create(user_id=user_id, kind=kind)
    else:
        AutoApproval.of(user_id).filter(kind=kind).delete()
