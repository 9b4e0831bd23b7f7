"""How pages name a program."""

from django.utils.translation import gettext


def program_in_words(name: str) -> str:
    """Return who wrote or changed something: a program that acted for the person."""
    return gettext("“%(name)s”, one of your programs") % {"name": name}
