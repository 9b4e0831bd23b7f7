"""What reminders of conversations say: fixed sentences, nothing that a person wrote.

`steps` has the words of next steps. In the days after danger they ask for nothing, and no sentence says why:
others may see them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from coaching.care.reading import read_care
from coaching.models import Profile, ReminderKind
from sessions_app.models import SessionKind

Words = str | Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderWords:
    """What a reminder says."""

    title: Words
    text: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationWords(ReminderWords):
    """A kind's sentences, and the kind of conversation that it is about."""

    session_kind: SessionKind


WORDS: Mapping[str, ConversationWords] = {
    ReminderKind.DAY: ConversationWords(
        title=_("Time to plan your day"),
        text=_("Take a few minutes to choose what matters today."),
        session_kind=SessionKind.OPEN_DAY,
    ),
    ReminderKind.EVENING: ConversationWords(
        title=_("Time to close your day"),
        text=_("Look back on how it went, then let it go."),
        session_kind=SessionKind.CLOSE_DAY,
    ),
    ReminderKind.CHECK_IN: ConversationWords(
        title=_("Time for your weekly check-in"),
        text=_("Look back on your week and see what’s next."),
        session_kind=SessionKind.WEEKLY_CHECKIN,
    ),
}
_QUIET_TITLE = _("Sage is here")
_QUIET_TEXT = _("Write whenever you like, about whatever you like.")


def words_for(profile: Profile, kind: str, *, now: datetime) -> ConversationWords:
    """Return what a reminder of a conversation says at `now` (aware). Sync ORM code."""
    if not read_care(user_id=profile.user_id, now=now, zone=profile.zone).holds_offers:
        return WORDS[kind]
    return ConversationWords(title=_QUIET_TITLE, text=_QUIET_TEXT, session_kind=SessionKind.OPEN_CONVERSATION)
