"""What stays of turns that were withdrawn: their files, and what else their calls did."""

from collections.abc import Sequence
from uuid import UUID

from coaching.models import UserFileVersion
from coaching.transcript.effects import effects_of
from sessions_app.models import ToolCallRecord


def read_kept(turn_ids: Sequence[UUID]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what stays of these turns' effects: the paths of files, and words for the rest."""
    calls = ToolCallRecord.unscoped.filter(turn_id__in=turn_ids, is_error=False).select_related("turn")
    done = list(calls.defer("turn__prefix").order_by("turn__started_at", "round_number", "position"))
    if not done:
        return (), ()
    versions = UserFileVersion.unscoped.filter(
        session_id__in={call.turn.session_id for call in done},
        tool_use_id__in={call.tool_use_id for call in done},
    )
    paths = versions.order_by("file__path").values_list("file__path", flat=True).distinct()
    return tuple(paths), effects_of(done)
