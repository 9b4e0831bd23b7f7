"""Somebody who lets programs in."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from tests.browsers import confirmed_browser_of


@pytest.fixture(autouse=True)
def unhurried(settings: Settings) -> None:
    """Let tests register as many programs as they need from one address."""
    settings.IDP_OIDC_RATE_LIMITS = False


@pytest.fixture
def browser(user: User) -> Client:
    """The person's browser, which checks the tokens of forms."""
    return confirmed_browser_of(user)
