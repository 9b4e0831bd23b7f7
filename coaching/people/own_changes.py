"""What an edit changes of what its author saw, where the row may have changed since."""

from collections.abc import Collection, Mapping
from typing import Any

from django.utils.translation import gettext_noop

from sessions_app.errors import OutOfDate

CHANGED_MEANWHILE = gettext_noop("This was changed meanwhile, so nothing was saved yet.")


class EditConflict(OutOfDate):
    """An edit changes fields that have changed since its author saw them; nothing was changed."""

    def __init__(self, fields: Collection[str]) -> None:
        super().__init__(CHANGED_MEANWHILE)
        self.fields = fields


def own_changes(
    given: Mapping[str, Any],
    *,
    seen: Mapping[str, Any] | None,
    present: Mapping[str, Any],
    stored: Mapping[str, Any] | None = None,
) -> Mapping[str, Any]:
    """Return those of the `given` values that differ from what was `seen`; all of them without that.

    `present` are the values of the locked row, and `stored` the given ones as a row has them, where that
    differs: what an edit that arrives twice has stored isn't somebody else's. Raises `EditConflict`.
    """
    if seen is None:
        return given
    own = {name: value for name, value in given.items() if not _is_same(value, seen[name])}
    changed = {name for name in own if not _is_same(present[name], seen[name])}
    as_stored = {**given, **(stored or {})}
    both = [name for name in own if name in changed and not _is_same(present[name], as_stored[name])]
    if both:
        raise EditConflict(both)
    return own


def _is_same(one: Any, other: Any) -> bool:
    return bool(_plain(one) == _plain(other))


def _plain(value: Any) -> Any:
    """Return a text as forms compare it: browsers send other line breaks, and forms strip both ends."""
    return value.replace("\r\n", "\n").strip() if isinstance(value, str) else value
