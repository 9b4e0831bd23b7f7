"""People who speak German."""

import pytest
from django.contrib.auth.models import User
from django.utils.translation import gettext, override

from coaching.models import Profile


def translated(text: str, code: str) -> str:
    """Return a text of ours in another language; it must have been translated."""
    with override(code):
        shown = gettext(text)
    assert shown != text, f"{text} isn’t translated to {code}"
    return shown


def speaks(user: User, code: str) -> User:
    """Let somebody choose a language."""
    Profile.unscoped.update_or_create(user=user, defaults={"language": code})
    return user


@pytest.fixture
def german(user: User) -> User:
    """The person, who has chosen German."""
    return speaks(user, "de")
