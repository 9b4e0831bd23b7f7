"""What stays of turns that were withdrawn: their files, and what else their calls did."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.utils.translation import gettext

from coaching.models import UserFileVersion
from coaching.transcript.calls import MarkItem, QuestionItem, ShownCall, calls_by_round
from coaching.transcript.step_chips import StepItem
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
    return tuple(paths), _effects_of(done)


def _effects_of(records: Iterable[ToolCallRecord]) -> tuple[str, ...]:
    """Return a phrase for each effect of a turn's calls, which are in order, without duplicates."""
    shown = calls_by_round(records, is_waiting=False)
    words = (_effect_of(call) for calls in shown.values() for call in calls)
    return tuple(dict.fromkeys(filter(None, words)))


def _effect_of(call: ShownCall) -> str:
    match call:
        case StepItem(is_undone=False):
            return gettext("Your next step “%(title)s” is noted.") % {"title": call.title}
        case MarkItem():
            return call.text
        case QuestionItem(outcome="accepted", can_undo=True):
            return call.done
        case QuestionItem(kind="pulse") if any(rating.new for rating in call.ratings):
            return gettext("Your ratings are saved.")
        case _:
            return ""
