"""The languages of people and of the model.

Pages, frames, mails and notifications are in the person's language: the profile's, otherwise the browser's.
Requests to the model and the results of its tools are always English, whoever caused them.
"""

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from django.utils.translation import get_language_from_request, override

from coaching.models import Profile

MODEL_LANGUAGE = "en"


def language_of(user: User | AnonymousUser) -> str:
    """Return the language that a person has chosen; empty if none, or one that isn't offered any more.

    Reads nothing for a user whose profile was loaded along, as at sign-in and for each request.
    """
    if not isinstance(user, User):
        return ""
    try:
        language = user.profile.language
    except Profile.DoesNotExist:
        return ""
    return language if language in dict(settings.LANGUAGES) else ""


def browser_language(accepted: str) -> str:
    """Return the language for a browser's `Accept-Language`; English if it accepts none of ours."""
    request = HttpRequest()
    request.META["HTTP_ACCEPT_LANGUAGE"] = accepted
    return get_language_from_request(request)


def in_language_of(user: User) -> override:
    """Return a block in a person's language, for what they get outside of their requests."""
    return override(language_of(user) or settings.LANGUAGE_CODE)


def in_model_language() -> override:
    """Return a block in which nothing is translated, for all that a model reads."""
    return override(MODEL_LANGUAGE)
