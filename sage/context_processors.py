"""What every page knows of this installation."""

from django.conf import settings
from django.http import HttpRequest


def installation(_request: HttpRequest) -> dict[str, object]:
    """Tell the templates whether the practice model answers and whether people may sign up."""
    return {
        "is_practice_model": settings.IS_PRACTICE_MODEL,
        "is_signup_open": settings.SAGE_SIGNUP == "open",
    }
