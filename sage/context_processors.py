"""Template context of every page."""

from django.conf import settings
from django.http import HttpRequest


def installation(_request: HttpRequest) -> dict[str, object]:
    """Return whether the practice model answers, whether sign-up is open, and whether mail comes in."""
    return {
        "is_practice_model": settings.IS_PRACTICE_MODEL,
        "is_signup_open": settings.SAGE_SIGNUP == "open",
        "has_inbox": settings.SAGE_INBOX is not None,
    }
