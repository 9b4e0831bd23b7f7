"""The safety card for a capture or a written answer: on the page that follows, and stored with neither.

Captures have no conversation that could keep the card.
"""

from django.http import HttpRequest

from coaching.models import Profile
from coaching.people.help_lines import country_of, read_offer
from coaching.safety.card import METADATA_KEY, Card, kept_danger, metadata_of_danger
from coaching.safety.danger import Danger

KEY = "capture"


def capture_card(profile: Profile, danger: Danger | None) -> Card | None:
    """Build the card with the help lines of the person's country; None without danger."""
    if danger is None:
        return None
    offer = read_offer(country_of(profile), topic=danger.topic)
    return Card(key=KEY, session_id="", danger=danger, offer=offer)


def leave_card(request: HttpRequest, danger: Danger | None) -> None:
    """Leave the card in the sign-in session for the page after a redirect: an address would be logged."""
    request.session.update(metadata_of_danger(danger))


def take_card(request: HttpRequest, profile: Profile) -> Card | None:
    """Return the card that was left, once."""
    if METADATA_KEY not in request.session:
        return None
    return capture_card(profile, kept_danger({METADATA_KEY: request.session.pop(METADATA_KEY)}))
