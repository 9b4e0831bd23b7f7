"""What the calls of a withdrawn turn did and what stays: in words, besides the files that they wrote."""

from collections.abc import Iterable

from django.utils.translation import gettext

from coaching.transcript.calls import MarkItem, QuestionItem, ShownCall, calls_by_round
from coaching.transcript.step_chips import StepItem
from sessions_app.models import ToolCallRecord


def effects_of(records: Iterable[ToolCallRecord]) -> tuple[str, ...]:
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
