"""Django's `createsuperuser`, whose address counts as confirmed."""

from typing import Any

from allauth.account.models import EmailAddress
from django.contrib.auth.management.commands import createsuperuser
from django.contrib.auth.models import User
from django.db.models import Max


class Command(createsuperuser.Command):
    """Django's command. Who has a shell at the server needn't open a link.

    With a mail server that doesn't work, nobody could, and no operator would reach the admin to see why.
    """

    def handle(self, *args: Any, **options: Any) -> None:
        last = User.objects.aggregate(last=Max("pk"))["last"] or 0
        super().handle(*args, **options)
        for user in User.objects.filter(pk__gt=last, is_superuser=True).exclude(email=""):
            self._confirm(user)

    def _confirm(self, user: User) -> None:
        email = user.email.lower()
        if EmailAddress.objects.filter(email=email, verified=True).exclude(user=user).exists():
            self.stderr.write(f"{email} belongs to another account, so sign in as {user.get_username()}.")
            User.objects.filter(pk=user.pk).update(email="")
            return
        EmailAddress.objects.create(user=user, email=email, verified=True, primary=True)
