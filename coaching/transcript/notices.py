"""The sentences that a turn ended with: stored in English, shown in the language that is active."""

import math
import re
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext

HAPPENED = (
    gettext_noop("The model is getting too many requests right now."),
    gettext_noop("The model is overloaded right now."),
    gettext_noop("The model can’t be reached right now."),
)
"""What a sentence says that names the wait which the model's server asks for."""
MAX_COUNTED_DOWN = 120
"""Seconds. Nobody waits in front of a page for longer."""
_SECONDS = {"second": 1, "minute": 60, "hour": 3600}
_WITH_WAIT = re.compile(r"(.+\.) Try again in ([0-9]+) (second|minute|hour)s?\.")


def shown_notice(stored: str) -> str:
    """Return a stored sentence in the language that is active."""
    found = _WITH_WAIT.fullmatch(stored)
    if found is None or found[1] not in HAPPENED:
        return gettext(stored) if stored else ""
    return f"{gettext(found[1])} {_wait(int(found[2]), found[3])}"


def seconds_to_retry(stored: str, *, ended_at: datetime | None) -> int:
    """Return the seconds until a page may try again by itself; 0 where it doesn't, or where they are over."""
    found = _WITH_WAIT.fullmatch(stored)
    if found is None or found[1] not in HAPPENED or ended_at is None:
        return 0
    seconds = int(found[2]) * _SECONDS[found[3]]
    left = seconds - (timezone.now() - ended_at).total_seconds()
    return max(0, math.ceil(left)) if seconds <= MAX_COUNTED_DOWN else 0


def _wait(count: int, unit: str) -> str:
    match unit:
        case "hour":
            words = ngettext("Try again in %(count)s hour.", "Try again in %(count)s hours.", count)
        case "minute":
            words = ngettext("Try again in %(count)s minute.", "Try again in %(count)s minutes.", count)
        case _:
            words = ngettext("Try again in %(count)s second.", "Try again in %(count)s seconds.", count)
    return words % {"count": count}
