"""Takes back what a call has written after the user's yes."""

import uuid

from django.db import transaction
from django.utils.translation import gettext_noop as _

from coaching.library import effects
from coaching.models import LibraryEffect
from sessions_app.errors import Refused
from sessions_app.models import CallState
from sessions_app.pending_calls import UNDONE, locked_call_of
from sessions_app.selectors import accessible_session

NOTHING_WRITTEN = _("There’s nothing to undo here.")
GONE = _("It’s already gone, so there’s nothing to undo.")


@transaction.atomic
def undo_write(*, user_id: int, session_id: uuid.UUID, tool_use_id: object) -> None:
    """Undo the write of an answered call, unless that was done elsewhere, and note it with the call.

    Raises `Refused` with a sentence, and `Session.DoesNotExist`.
    """
    session = accessible_session(user_id=user_id, session_id=session_id, is_locked=True)
    call = locked_call_of(session, tool_use_id)
    value = call.value if call and call.state == CallState.ANSWERED else None
    effect_id = value.get("effect") if isinstance(value, dict) else None
    if call is None or not isinstance(effect_id, int):
        raise Refused(NOTHING_WRITTEN)
    effect = LibraryEffect.of(user_id).filter(id=effect_id).first()
    if effect is None:
        raise Refused(GONE)
    if effect.undone_at is None:
        effects.undo(user_id=user_id, effect_id=effect_id)
    call.metadata[UNDONE] = True
    call.save(update_fields=["metadata"])
