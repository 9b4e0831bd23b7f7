"""Checks before a port opens."""

import re
from pathlib import Path
from urllib.request import urlopen

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from pytest_django import Settings

from sage.env import StartError, read_environment
from sage.schema import check_migrations
from sage.startup import check_services, make_demo_account, migration_lock, readable_env_file
from sage.web_process import close_signup_off_loopback
from tests.live_sage import free_port, start_web_process, stop_web_process


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
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
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
