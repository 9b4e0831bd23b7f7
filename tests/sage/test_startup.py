"""Checks before a port opens."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from allauth.account.models import EmailAddress
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from pytest_django import Settings

from sage.env import StartError, read_environment
from sage.schema import check_migrations, newer_database_warning, unknown_migrations
from sage.startup import check_services, make_demo_account, migration_lock, readable_env_file
from sage.web_process import close_signup_off_loopback
from tests.live_sage import free_port, start_web_process, stop_web_process, url_of_test_database
from tests.sage.processes import PROJECT, finished


def test_a_database_that_is_not_there_is_one_line_that_names_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
    monkeypatch.setitem(connection.settings_dict, "PORT", "1")
    with pytest.raises(StartError, match="correct DATABASE_URL, or unset DATABASE_URL") as refused:
        check_services()
    assert "\n" not in str(refused.value)
    assert connection.settings_dict["PASSWORD"] not in str(refused.value)


@pytest.mark.django_db
def test_a_redis_that_is_not_there_is_one_line_that_names_its_variable(settings: Settings) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "sage.shared_cache.SharedCache",
            "LOCATION": "redis://:hunter2@127.0.0.1:1/0",
        }
    }
    with pytest.raises(StartError, match="correct REDIS_URL, or unset it") as refused:
        check_services()
    assert "\n" not in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_keys_that_others_can_read_are_warned_of(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    assert readable_env_file(path) is None
    path.write_text("ANTHROPIC_API_KEY=secret")
    path.chmod(0o644)
    warning = readable_env_file(path)
    assert warning
    assert f"chmod 600 {path}" in warning
    assert "secret" not in warning
    path.chmod(0o640)
    assert readable_env_file(path) is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("app", "migration", "emptied"),
    [
        ("coaching", "zero", "coaching"),
        ("sessions_app", "zero", "coaching, sessions_app"),
        ("auth", "zero", "coaching, sessions_app"),
        ("contenttypes", "zero", "coaching, sessions_app"),
        ("coaching", "0001_initial", "coaching"),
    ],
)
def test_everybodys_data_is_deleted_by_no_migration_without_a_yes(
    app: str, migration: str, emptied: str
) -> None:
    with pytest.raises(CommandError, match=f"would delete all tables of {emptied}"):
        call_command("migrate", app, migration, interactive=False)
    check_migrations()
    call_command("migrate", app, migration, interactive=False, plan=True, verbosity=0)


@pytest.mark.django_db
def test_the_demo_account_is_made_once_and_only_where_nobody_is() -> None:
    password = make_demo_account()
    assert password
    assert re.fullmatch(r"([a-z2-9]{4}-){3}[a-z2-9]{4}", password)
    demo = User.objects.get()
    assert demo.check_password(password)
    assert not demo.is_staff
    assert EmailAddress.objects.get(user=demo).verified
    assert make_demo_account() is None
    assert User.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_migration_waits_for_nobody_when_it_is_alone_and_leaves_the_session_as_it_was() -> None:
    check_migrations()
    with connection.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        before = cursor.fetchone()
    call_command("migrate", interactive=False, verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        assert cursor.fetchone() == before != ("0",)
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
        assert cursor.fetchone() == (0,)


@pytest.mark.django_db(transaction=True)
def test_only_one_process_migrates_at_a_time() -> None:
    with migration_lock(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [0x5A6E])
        assert cursor.fetchone() == (False,)


NEWER = ("coaching", "9998_of_a_later_release"), ("coaching", "9999_of_a_later_release")


@pytest.fixture
def newer_database(transactional_db: None) -> Iterator[None]:
    """Let the database be one that a later version has migrated, until the test ends."""
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, now())", NEWER)
    yield
    with connection.cursor() as cursor:
        cursor.executemany("DELETE FROM django_migrations WHERE (app, name) = (%s, %s)", NEWER)


def test_a_migration_that_was_squashed_again_is_no_newer_one_if_its_last_part_is_known() -> None:
    known, newer = "0001_squashed_0041_has_library", "0001_squashed_9999_of_a_later_release"
    assert unknown_migrations([("coaching", known)]) == ""
    assert unknown_migrations([("coaching", known), ("coaching", newer)]) == f"coaching.{newer}"


@pytest.mark.usefixtures("newer_database")
def test_up_and_migrate_refuse_a_database_that_a_newer_version_has_migrated() -> None:
    environment = {"DATABASE_URL": url_of_test_database()}
    sentence = (
        "a newer version of Sage has migrated the database (coaching.9999_of_a_later_release and 1 more)"
    )
    for command in (("up", "--port", "0"), ("migrate", "coaching", "0001")):
        code, output = finished("manage.py", *command, environment=environment)
        assert code == 1
        assert f"Sage can't start: {sentence}" in output
        assert "Traceback" not in output
    check_migrations()  # nothing was taken back


@pytest.mark.usefixtures("newer_database")
def test_a_web_process_runs_on_a_newer_database_beside_the_new_version_and_warns() -> None:
    sage = start_web_process(practice_port=free_port())
    try:
        assert "This version may run beside the next one during an upgrade" in sage.log.read_text()
        assert urlopen(f"{sage.origin}/readyz").status == 200
    finally:
        stop_web_process(sage)


@pytest.mark.django_db
def test_squashed_migrations_and_those_of_other_apps_are_nothing_newer() -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('gone', '0001_a', now())")
        # A package of a version that was tried, or one that has squashed its migrations.
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('account', '9999_a', now())"
        )
    replaced = MigrationLoader(connection, replace_migrations=False).disk_migrations
    assert ("coaching", "0031_forgotten_words") in replaced
    assert newer_database_warning() is None


def test_the_version_is_the_one_in_pyproject_and_needs_no_settings() -> None:
    version = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["version"]
    assert version == configured.SAGE_VERSION
    unusable = {"SAGE_DATA_DIR": "/dev/null", "DATABASE_URL": "nonsense"}
    for command in ("--version", "version"):
        assert finished("manage.py", command, environment=unusable) == (0, f"Sage {version}\n")


@pytest.mark.parametrize(
    ("host", "chosen", "signup"),
    [
        ("127.0.0.1", "", "open"),
        ("::1", "", "open"),
        ("localhost", "", "open"),
        ("0.0.0.0", "", "closed"),
        ("::", "", "closed"),
        ("192.168.1.5", "", "closed"),
        ("0.0.0.0", "open", "open"),
        ("127.0.0.1", "closed", "closed"),
    ],
)
def test_sign_up_is_closed_where_other_machines_reach_the_address_unless_it_is_said(
    settings: Settings, host: str, chosen: str, signup: str
) -> None:
    settings.ENVIRONMENT = read_environment({"SAGE_SIGNUP": chosen}, settings.BASE_DIR)
    settings.SAGE_SIGNUP = settings.ENVIRONMENT.signup
    close_signup_off_loopback(host)
    assert signup == settings.SAGE_SIGNUP


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("host", "words"), [("0.0.0.0", "Sign-up is closed"), ("127.0.0.1", "Create account")]
)
def test_a_web_process_that_others_reach_makes_nobody_an_account(host: str, words: str) -> None:
    sage = start_web_process(practice_port=free_port(), program=("manage.py", "web", "--host", host))
    try:
        assert words in urlopen(f"{sage.origin}/accounts/signup/").read().decode()
    finally:
        stop_web_process(sage)
