"""Fixtures for all tests: people, their browser and conversation, and optional servers."""

import gc
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client, TransactionTestCase

from coaching.models import Profile, TimezoneSource
from sage.backups.databases import close_connections
from sage.garbage import collect_as_usual
from sessions_app.models import Session
from tests.embedded_database import name_of_migrated
from tests.emptying import empty_database
from tests.live_sage import SHARED, live_sage, practice, shared_sage
from tests.stored_turns import open_conversation
from tests.thoroughness import DAY, DAY_VARIABLE, load_profile
from tests.tiers import tier_of

# Fixtures are imported only here.
__all__ = ["live_sage", "practice", "shared_sage"]

TransactionTestCase._fixture_teardown = empty_database  # type: ignore[attr-defined]

# The slowest files, in this order: start them first.
LONGEST = (
    "local/test_local_model.py",
    "backups/test_backup_restore.py",
    "sage/test_database_upgrade.py",
    "backups/test_killed.py",
    "browser/test_accessibility.py",
    "architecture/test_recipes.py",
    "faults/test_two_processes.py",
    "faults/test_one_process.py",
    "sage/test_up.py",
    "browser/test_week.py",
    "faults/test_database.py",
    "library/extractors/test_hostile_files.py",
    "faults/test_briefs.py",
    "faults/test_upstream.py",
    "jobs/test_worker.py",
    "sage/test_telemetry.py",
    "sage/test_squashed.py",
    "library/pipeline/test_many_documents.py",
    "practice/test_sense.py",
    "library/pipeline/test_turns_taken.py",
    "requests/test_every_view.py",
    "requests/test_limits.py",
    "sage/test_embedded_postgres.py",
    "personal_data/test_removal.py",
    "faults/test_documents.py",
    "pages/test_markdown.py",
    "sockets/test_tenants.py",
    "context/test_long_session.py",
    "files/test_storage_faults.py",
    "sage/test_no_store.py",
    "legacy/test_killed_import.py",
    "legacy/test_import_reader.py",
)
TESTS = Path(__file__).parent
WANTS_SAGE = pytest.StashKey[frozenset[Path]]()

PASSWORD = "correct-horse-battery-staple"

MakeUser = Callable[..., User]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of single tests."""
    parser.addoption("--newcomer-pictures", metavar="FOLDER", help="keep pictures of a newcomer's first hour")
    parser.addoption("--pictures", metavar="FOLDER", help="keep pictures of the states of pages")
    parser.addoption("--newcomer-transcript", metavar="FILE", help="write the newcomer's talk to a file")


def pytest_configure() -> None:
    """Before the tests are imported, set how many examples property tests try."""
    load_profile()


def pytest_report_header() -> str:
    """Say how to try today's samples another day."""
    return f"samples of the day: {DAY_VARIABLE}={DAY}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the slowest files first, then pure ones, while the database is migrated, then those that share a
    web process.
    """
    config.stash[WANTS_SAGE] = wants = frozenset(item.path for item in items if wants_sage(item))
    longest = {TESTS / name: place for place, name in enumerate(LONGEST)}

    def place(item: pytest.Item) -> tuple[int, bool, bool]:
        return longest.get(item.path, len(LONGEST)), tier_of(item.path) != "pure", item.path not in wants

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """Exclude everything loaded so far from garbage collection."""
    gc.freeze()  # first: a collection would take two seconds, and hardly anything is garbage
    collect_as_usual()


def wants_sage(item: pytest.Item) -> bool:
    """Whether a test talks to the shared web process."""
    return "live_sage" in getattr(item, "fixturenames", ())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Stop the web process before a file that doesn't use it."""
    if item.path not in item.config.stash[WANTS_SAGE]:
        SHARED.stop()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Under xdist, copy a migrated database instead of running all migrations in each worker."""
    # A pool that was opened before would go on using the database that the new one takes the place of.
    close_connections()
    if template := name_of_migrated():
        connection.settings_dict["TEST"] |= {"TEMPLATE": template, "MIGRATE": False}


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
def in_germany(user: User) -> User:
    """The person, in a time zone of Germany."""
    Profile.unscoped.create(user=user, timezone="Europe/Berlin", timezone_source=TimezoneSource.USER)
    return user


@pytest.fixture
def other_user(make_user: MakeUser) -> User:
    """Somebody else, who must never see the person's data."""
    return make_user("grace")


@pytest.fixture
def operator(make_user: MakeUser) -> User:
    """Staff with all rights."""
    return make_user("olive", is_staff=True, is_superuser=True)


@pytest.fixture
def session(user: User) -> Session:
    """An open conversation of the person."""
    return open_conversation(user)


@pytest.fixture
def signed_in(client: Client, user: User) -> Client:
    """The person's browser."""
    client.force_login(user)
    return client
