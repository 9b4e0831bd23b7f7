"""Standing yeses: kinds of writes that the user accepts without being asked."""

from collections.abc import Collection

from django.utils.translation import gettext_noop

from coaching.models import EntryType, StandingYes
from sessions_app.errors import Refused

ACTION_ITEM = "action_item"
KINDS: Collection[str] = (*EntryType.values, ACTION_ITEM)


def has_standing_yes(*, user_id: int, kind: str) -> bool:
    """Say whether proposals of this kind are accepted by themselves."""
    return StandingYes.of(user_id).filter(kind=kind).exists()


def standing_yeses(user_id: int) -> frozenset[str]:
    """Return the kinds that the user accepts without being asked."""
    return frozenset(StandingYes.of(user_id).values_list("kind", flat=True))


def set_standing_yes(*, user_id: int, kind: str, is_given: bool) -> None:
    """Give or take back the yes for a kind; proposals made before stay as they are. Raises `Refused`."""
    if kind not in KINDS:
        raise Refused(gettext_noop("There’s no such kind of entry."))
    if is_given:
        StandingYes.of(user_id).get_or_create(user_id=user_id, kind=kind)
    else:
        StandingYes.of(user_id).filter(kind=kind).delete()
