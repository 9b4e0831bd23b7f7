"""Finds the person that a command names by username, email address or id."""

from django.contrib.auth.models import User
from django.core.management import CommandError


def user_named(name: str) -> User:
    """Return the person. Raises `CommandError` if nobody matches, or several people."""
    if "\x00" in name or name.encode("utf-8", "replace").decode() != name:
        raise CommandError("This is nobody's name: it has characters that no name has.")
    found = User.objects.filter(username=name) or User.objects.filter(email__iexact=name)
    if not found and name.isascii() and name.isdigit() and len(name) < 18:
        found = User.objects.filter(pk=int(name))
    if len(found) > 1:
        numbers = ", ".join(str(user.pk) for user in found)
        raise CommandError(f"{name} is the address of several people; use an id: {numbers}.")
    if not found:
        raise CommandError(f"There is nobody called {name}.")
    return found[0]
