"""Texts that a model reads: in English, whatever language is active."""

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import override


def in_english(text: str | Promise) -> str:
    """Return a lazy text, such as the label of a choice, in English."""
    with override(settings.LANGUAGE_CODE):
        return str(text)
