"""What a page says while the model reads."""

from django.utils.translation import gettext, ngettext

MINUTE = 60
SECONDS_STEP = 10
MOST_SECONDS = 50
"""From then on minutes are near enough."""


def reading_words(seconds: int | None) -> str:
    """Return that the model reads, and about how long that will take, if somebody knows."""
    if seconds is None:
        return gettext("Sage’s model is reading")
    if seconds <= MOST_SECONDS:
        number = max(SECONDS_STEP, round(seconds / SECONDS_STEP) * SECONDS_STEP)
        return gettext("Sage’s model is reading, about %(number)s seconds") % {"number": number}
    minutes = max(1, round(seconds / MINUTE))
    words = ngettext(
        "Sage’s model is reading, about a minute",
        "Sage’s model is reading, about %(number)s minutes",
        minutes,
    )
    return words % {"number": minutes}
