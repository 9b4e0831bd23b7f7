"""The kinds of conversation that a page offers, and which of them is due."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from coaching.models import Profile
from coaching.skills.facts import build_life_facts
from coaching.skills.signals import Called, call_skills
from coaching.transcript.names import ARC_WORDS
from sessions_app.models import SessionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """A kind of conversation to start. `is_due`: a signal suggests it."""

    kind: str
    label: str
    invitation: str
    is_due: bool


def starters_for(profile: Profile) -> Sequence[Starter]:
    """Return the arcs in order, with the one that the signals suggest marked."""
    return starters_of(call_skills(build_life_facts(user_id=profile.user_id, now=timezone.now())))


def starters_of(called: Called) -> Sequence[Starter]:
    """Return the arcs in order, with the suggested one marked."""
    return [
        Starter(
            kind=kind,
            label=str(SessionKind(kind).label),
            invitation=words.invitation,
            is_due=kind == called.arc,
        )
        for kind, words in ARC_WORDS.items()
    ]
