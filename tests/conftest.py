"""Fixtures that every room uses: people, and where optional servers are found."""

import os
from collections.abc import Callable
from itertools import count

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.test import TransactionTestCase

from tests.emptying import empty_database
from tests.live_sage import live_sage, practice

# Imported here and nowhere else: each place that imports them would start a web process of its own on the
# worker's one database, and each process that is alone takes over what it finds running.
__all__ = ["live_sage", "practice"]

TransactionTestCase._fixture_teardown = empty_database  # type: ignore[attr-defined]

PASSWORD = "correct-horse-battery-staple"

MakeUser = Callable[..., User]


@pytest.fixture
def make_user(transactional_db_or_db: None) -> MakeUser:
    """Make people with distinct names; the password of all is `PASSWORD`."""
    numbers = count(1)

    def make(username: str = "", **fields: object) -> User:
        name = username or f"person{next(numbers)}"
        return get_user_model().objects.create_user(
            username=name, email=f"{name}@example.org", password=PASSWORD, **fields
        )

    return make


@pytest.fixture
def transactional_db_or_db(request: pytest.FixtureRequest) -> None:
    """Open the database the way that the test's own mark asks for; plainly without a mark."""
    marker = request.node.get_closest_marker("django_db")
    if marker is None:
        request.getfixturevalue("db")


@pytest.fixture
def user(make_user: MakeUser) -> User:
    """A person."""
    return make_user("ada")


@pytest.fixture
def other_user(make_user: MakeUser) -> User:
    """Somebody else, who must never see what is the person's."""
    return make_user("grace")


@pytest.fixture
def operator(make_user: MakeUser) -> User:
    """Staff with all rights."""
    return make_user("olive", is_staff=True, is_superuser=True)


def require(server: str, is_there: bool) -> None:
    """Skip the test where a server is missing, or fail it where SAGE_TEST_REQUIRE names the server."""
    if is_there:
        return
    if server in os.environ.get("SAGE_TEST_REQUIRE", "").split(","):
        pytest.fail(f"{server} is required by SAGE_TEST_REQUIRE and is not here")
    pytest.skip(f"{server} is not here")
