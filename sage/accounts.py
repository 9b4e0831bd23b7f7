"""How allauth behaves here. It decides who may sign up, and nothing else."""

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Opens or closes signing up, as `SAGE_SIGNUP` says."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Say whether a stranger may make an account."""
        return bool(settings.SAGE_SIGNUP == "open")
