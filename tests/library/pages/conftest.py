"""Fixtures for tests of the library's pages."""

import pytest
from django.contrib.auth.models import User

from coaching.library.clients import create_client, create_project
from coaching.models import Client, ClientType, Project
from tests.pages.conftest import exchange, storage

__all__ = ["exchange", "storage"]


@pytest.fixture
def mill(user: User) -> Client:
    """A client of the person."""
    return create_client(user_id=user.pk, name="Mill Ltd", client_type=ClientType.COMPANY)


@pytest.fixture
def purchase(mill: Client) -> Project:
    """A project of that client."""
    return create_project(user_id=mill.user_id, client_id=mill.pk, name="Purchase")
