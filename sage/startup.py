"""Checks and preparation before a web process opens its port; an error is one line that says what to do."""

import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection, transaction

from sage.data_folder import advice
from sage.env import StartError
from sage.health import ask_cache
from sage.local_model import running_model
from sage.schema import check_connection
from sage.static_files import collect_static_files
from sessions_app.database import NO_TIME_LIMITS, no_time_limits
from sessions_app.lock_spaces import DatabaseLock
from sessions_app.redis_errors import redis_errors

DEMO_NAME = "demo"
DEMO_EMAIL = "demo@sage.local"
# Without characters that look alike.
PASSWORD_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # noqa: S105 - an alphabet, no password
MIGRATION_LOCK = DatabaseLock.MIGRATION.value


def check_services() -> None:
    """Check that database and cache answer. Raises `StartError`."""
    check_connection()
    try:
        ask_cache()
    except _cache_errors():
        raise StartError("Redis can't be reached: start it, correct REDIS_URL, or unset it.") from None


def check_model_server() -> None:
    """Check that a model file is served: only `up` does that. Raises `StartError`."""
    if settings.SAGE_MODEL_FILE and running_model(settings.SAGE_DATA_DIR) is None:
        raise StartError(
            "SAGE_MODEL_FILE is served by `manage.py up`, which doesn't run: start it first, or run "
            "llama-server and name it in ANTHROPIC_BASE_URL."
        )


def _cache_errors() -> tuple[type[Exception], ...]:
    return (*redis_errors(), OSError)


def prepare_database() -> None:
    """Migrate the database and load skills and help lines, one process at a time."""
    call_command("migrate", interactive=False, verbosity=0)
    call_command("sync_skills", verbosity=0)
    call_command("sync_help_lines", verbosity=0)


def environment_warnings() -> list[str]:
    """Return what an operator should know of the variables before Sage starts."""
    warning = readable_env_file(settings.BASE_DIR / ".env")
    return [*settings.UNKNOWN_NAMES, *([warning] if warning else [])]


def readable_env_file(path: Path) -> str | None:
    """Return a warning if other users of this machine can read the `.env` file."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    if not mode & stat.S_IROTH:
        return None
    return f"Other users of this machine can read {path} and the keys in it: chmod 600 {path}"


def prepare_static_files() -> None:
    """Collect the static files. Raises `StartError`."""
    try:
        collect_static_files()
    except OSError as error:
        raise StartError(
            f"{settings.STATIC_ROOT} can't be written ({error.strerror}): {advice(error)}"
        ) from None


def make_demo_account() -> str | None:
    """Create the demo account if there are no users, and return its password; otherwise None."""
    users = get_user_model().objects
    with transaction.atomic():
        if users.exists():
            return None
        password = "-".join("".join(secrets.choice(PASSWORD_LETTERS) for _ in range(4)) for _ in range(4))
        user = users.create_user(DEMO_NAME, DEMO_EMAIL, password, first_name="Demo")
        EmailAddress.objects.create(user=user, email=DEMO_EMAIL, verified=True, primary=True)
    return password


@contextmanager
def migration_lock() -> Iterator[None]:
    """Hold the migration lock, because concurrent migrations fail half-way; lift all time limits."""
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as session, no_time_limits():
        session.execute(NO_TIME_LIMITS)
        session.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
        yield
