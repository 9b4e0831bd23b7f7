"""Who a command means: people are named by their username, their address, or their number."""

from django.contrib.auth.models import User
from django.core.management import CommandError


def user_named(name: str) -> User:
    """Return the person. Raises `CommandError` where nobody, or more than one, is called so."""
    found = User.objects.filter(username=name) or User.objects.filter(email__iexact=name)
    if not found and name.isascii() and name.isdigit() and len(name) < 18:
        found = User.objects.filter(pk=int(name))
    if len(found) > 1:
        numbers = ", ".join(str(user.pk) for user in found)
        raise CommandError(f"{name} is the address of several people; take a number: {numbers}.")
    if not found:
        raise CommandError(f"There is nobody called {name}.")
    return found[0]
