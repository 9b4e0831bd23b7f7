"""What reminders say: fixed sentences, nothing that a person wrote."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from coaching.models import ReminderKind
from sessions_app.models import SessionKind

Words = str | Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderWords:
    """A kind's sentences, and the kind of conversation that it is about."""

    title: Words
    text: Words
    session_kind: SessionKind


WORDS: Mapping[str, ReminderWords] = {
    ReminderKind.DAY: ReminderWords(
        title=_("Time to plan your day"),
        text=_("Take a few minutes to choose what matters today."),
        session_kind=SessionKind.OPEN_DAY,
    ),
    ReminderKind.EVENING: ReminderWords(
        title=_("Time to close your day"),
        text=_("Look back on how it went, then let it go."),
        session_kind=SessionKind.CLOSE_DAY,
    ),
    ReminderKind.CHECK_IN: ReminderWords(
        title=_("Time for your weekly check-in"),
        text=_("Look back on your week and see what’s next."),
        session_kind=SessionKind.WEEKLY_CHECKIN,
    ),
}
