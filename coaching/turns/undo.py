"""Takes back what a call has written: after the user's yes, or unasked after texts of others."""

import uuid
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from coaching.files.organising import delete_file
from coaching.library import effects
from coaching.library.decisions import TOO_LATE, UNDO_HOURS
from coaching.library.documents import undoing
from coaching.library.effects import CHANGED_SINCE
from coaching.models import LibraryEffect, UserFileVersion
from coaching.tools.decisions import Decision
from coaching.tools.tainted import Ruling
from sessions_app.errors import Refused
from sessions_app.models import ToolCallRecord, ToolCallState
from sessions_app.pending_calls import UNDONE, locked_call_of
from sessions_app.selectors import accessible_session
from sessions_app.session_events import StepTold, append

NOTHING_WRITTEN = _("There’s nothing to undo here.")
GONE = _("It’s already gone, so there’s nothing to undo.")


@transaction.atomic
def undo_write(*, user_id: int, session_id: uuid.UUID, tool_use_id: object) -> None:
    """Undo the write of an answered call, unless that was done elsewhere, and note it with the call.

    Raises `Refused` with a sentence, and `Session.DoesNotExist`.
    """
    session = accessible_session(user_id=user_id, session_id=session_id, is_locked=True)
    call = locked_call_of(session, tool_use_id)
    if call is not None and (version := _written_unasked(user_id, call)):
        if not call.metadata.get(UNDONE):
            _delete_new_file(user_id, version)
            call.metadata[UNDONE] = True
            call.save(update_fields=["metadata"])
        return
    if call is not None and (written := _step_written(user_id, call)):
        if not call.metadata.get(UNDONE):
            _undo_step(written, now=timezone.now())
            call.metadata[UNDONE] = True
            call.save(update_fields=["metadata"])
            told = StepTold(
                step_id=written.action_item_id or 0, tool_use_id=call.tool_use_id, is_changed=True
            )
            append(session, told)
        return
    value = call.value if call and call.state == ToolCallState.ANSWERED else None
    effect_id = value.get("effect") if isinstance(value, dict) else None
    if call is None or not isinstance(effect_id, int):
        raise Refused(NOTHING_WRITTEN)
    effect = LibraryEffect.of(user_id).filter(id=effect_id).first()
    if effect is None:
        raise Refused(GONE)
    if effect.undone_at is None:
        undoing.undo_effect(user_id=user_id, effect_id=effect_id)
    call.metadata[UNDONE] = True
    call.save(update_fields=["metadata"])


def _step_written(user_id: int, call: ToolCallRecord) -> LibraryEffect | None:
    """Return what a call did to a next step without asking; None for any other call."""
    if Decision.of(call.metadata) is None or call.state != ToolCallState.FINISHED or call.is_error:
        return None
    effects_of_call = LibraryEffect.of(user_id).filter(tool_use_id=call.tool_use_id)
    near = effects_of_call.filter(created_at__gte=call.created_at, action_item__isnull=False)
    return near.order_by("id").first()


def _undo_step(effect: LibraryEffect, *, now: datetime) -> None:
    """Undo a change of a step within a day. Raises `Refused`."""
    if effect.undone_at is not None:
        return
    if now - effect.created_at > timedelta(hours=UNDO_HOURS):
        raise Refused(TOO_LATE)
    effects.undo(user_id=effect.user_id, effect_id=effect.pk)


def _written_unasked(user_id: int, call: ToolCallRecord) -> UserFileVersion | None:
    """Return the version that a call wrote after texts of others without asking; None for any other call."""
    ruling = Ruling.of(call.metadata)
    if ruling is None or ruling.is_held or call.state != ToolCallState.FINISHED or call.is_error:
        return None
    versions = UserFileVersion.of(user_id) | UserFileVersion.deleted_of(user_id)
    written = versions.filter(session_id=call.turn.session_id, tool_use_id=call.tool_use_id)
    return written.select_related("file").order_by("-pk").first()


def _delete_new_file(user_id: int, version: UserFileVersion) -> None:
    """Delete a file that has no other version; it can be restored like any deleted file. Raises `Refused`."""
    file = version.file
    if file.deleted_at is not None:
        raise Refused(GONE)
    if version.number != 1 or file.version_number != 1:
        raise Refused(CHANGED_SINCE)
    delete_file(user_id=user_id, path=file.path, now=timezone.now())
