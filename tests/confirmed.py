"""Browsers whose person confirmed a moment ago that it is them."""

from typing import Any

from allauth.account.internal.flows.login import record_authentication
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.test import AsyncClient, Client


def sign_in_confirmed(client: Client | AsyncClient, user: User) -> None:
    """Sign somebody in as if they had just given their password again."""
    client.force_login(user)
    request: Any = HttpRequest()
    request.session = client.session
    record_authentication(request, user, "password", reauthenticated=True)
    request.session.save()
