"""Why a document waits, is to be reviewed or wasn't read: sentences stored in English, one a line."""

from collections.abc import Iterable

from django.utils.translation import gettext


def join_reasons(sentences: Iterable[str]) -> str:
    """Return sentences as they are stored."""
    return "\n".join(filter(None, sentences))


def shown_reason(reason: str) -> str:
    """Return a stored reason in the language that is active."""
    return " ".join(gettext(sentence) for sentence in reason.splitlines() if sentence)
