"""The kinds of conversation that a page offers, and which of them is due."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from coaching.care.reading import read_care
from coaching.models import Profile
from coaching.skills.facts import build_life_facts
from coaching.skills.signals import Called, call_skills
from coaching.transcript.names import ARC_WORDS
from sessions_app.models import SessionKind

_REASONS: Mapping[str, str | Promise] = {
    SessionKind.OPEN_DAY: _("It’s morning, and today has no plan yet."),
    SessionKind.CLOSE_DAY: _("It’s evening, and today has a plan but no log."),
    SessionKind.WEEKLY_CHECKIN: _("The weekly check-in is due."),
    SessionKind.LIFE_MAPPING: _("You don’t have a life map yet."),
}
"""Why a kind is due. The signals have sentences of their own, which models read."""
_BEGUN = _("Your life map isn’t complete yet.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """A kind of conversation to start. `is_due`: a signal suggests it, for the `reason`."""

    kind: str
    label: str
    invitation: str
    is_due: bool
    reason: str


def starters_for(profile: Profile) -> Sequence[Starter]:
    """Return the arcs in order, with the one that the signals suggest marked."""
    now = timezone.now()
    care = read_care(user_id=profile.user_id, now=now, zone=profile.zone)
    facts = build_life_facts(user_id=profile.user_id, now=now, holds_offers=care.holds_offers)
    return starters_of(call_skills(facts), is_map_begun=facts.is_map_begun)


def starters_of(called: Called, *, is_map_begun: bool) -> Sequence[Starter]:
    """Return the arcs in order, with the suggested one marked."""
    return [
        Starter(
            kind=kind,
            label=str(SessionKind(kind).label),
            invitation=gettext(words.invitation),
            is_due=kind == called.arc,
            reason=str(_BEGUN if is_map_begun and kind == SessionKind.LIFE_MAPPING else _REASONS[kind]),
        )
        for kind, words in ARC_WORDS.items()
    ]
