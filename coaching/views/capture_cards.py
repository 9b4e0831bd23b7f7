"""The safety card for a capture or a written answer, on the page that follows, and the second look at them.

Captures have no conversation that could keep the card: it is shown once. Where a look sees danger, the page
that was written on fetches the card; without a script, the next page with captures has it.
"""

from django.http import HttpRequest
from django.utils import timezone

from coaching.files.safety_plans import read_card_plan
from coaching.life import capture_verdicts
from coaching.life.capture_verdicts import note_capture, take_unshown
from coaching.live.runner import get_runner
from coaching.models import Profile
from coaching.people.accounts import user_id_of
from coaching.people.danger_scans import danger_in_now
from coaching.people.help_lines import count_card, country_of, read_offer
from coaching.safety.card import METADATA_KEY, Card, danger_of, kept_danger, metadata_of_danger
from coaching.safety.danger import Danger

KEY = "capture"


def capture_card(profile: Profile, danger: Danger | None) -> Card | None:
    """Build the card with the help lines of the person's country; None without danger."""
    if danger is None:
        return None
    offer = read_offer(country_of(profile), topic=danger.topic)
    plan = read_card_plan(user_id=profile.user_id) if danger.about == "self" else None
    return Card(key=KEY, session_id="", danger=danger, offer=offer, plan=plan)


def leave_card(request: HttpRequest, danger: Danger | None) -> None:
    """Leave the card in the sign-in session for the page after a redirect: an address would be logged."""
    request.session.update(metadata_of_danger(danger))


def take_card(request: HttpRequest, profile: Profile) -> Card | None:
    """Return, once, the card that was left, or one that a second look has made since."""
    if METADATA_KEY in request.session:
        return capture_card(profile, kept_danger({METADATA_KEY: request.session.pop(METADATA_KEY)}))
    return take_late_card(profile)


def take_late_card(profile: Profile) -> Card | None:
    """Return, once, the card that a second look has made."""
    row = take_unshown(user_id=profile.user_id, now=timezone.now())
    if row is None:
        return None
    return capture_card(profile, danger_of(row.level, row.about, row.topic))


def note_edit(request: HttpRequest, *, file_id: int, version: int, text: str) -> None:
    """Check the words of a capture that were just saved in Files; leave the card for its page."""
    leave_card(request, note_words(user_id=user_id_of(request), file_id=file_id, version=version, text=text))


def note_words(*, user_id: int, file_id: int, version: int, text: str) -> Danger | None:
    """Check the words of a capture that were just saved; return the danger in them."""
    danger = danger_in_now(text, user_id=user_id)
    note_capture(user_id=user_id, file_id=file_id, version=version, danger=danger)
    if danger is not None:
        count_card(danger.level, now=timezone.now())
    begin_look(user_id)
    return danger


def begin_look(user_id: int) -> None:
    """Begin the look at the capture that was just stored, in a page's thread, outside transactions."""
    get_runner().second_looks.begin_captures(user_id)


def is_look_pending(user_id: int) -> bool:
    """Return whether a look at a capture that was just stored may still make a card."""
    return capture_verdicts.is_look_pending(user_id=user_id, now=timezone.now())
