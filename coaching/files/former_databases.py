"""Databases that a restore has replaced: each stays for a week, and so do the objects that it names."""

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import connection

KEPT = timedelta(days=7)
FORMER_SECRET = "secret_key.former"  # noqa: S105 - the name of a file
"""The secret key that the last of them needs, in the data folder."""
_FORMAT = "%Y%m%dT%H%M%S"


def former_name(name: str, now: datetime) -> str:
    """Return the name that a database gets when it is replaced."""
    return f"{_start(name)}{now.astimezone(UTC):{_FORMAT}}"


def drop_former_databases(*, now: datetime) -> int:
    """Drop those that were replaced a week ago; return how many are left. Outside a transaction."""
    start, left = _start(str(connection.settings_dict["NAME"])), 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [start])
        for (name,) in cursor.fetchall():
            try:
                replaced_at = datetime.strptime(name.removeprefix(start), _FORMAT).replace(tzinfo=UTC)
            except ValueError:  # somebody else's
                continue
            if now - replaced_at > KEPT:
                cursor.execute(f"DROP DATABASE {connection.ops.quote_name(name)}")
            else:
                left += 1
    if not left:
        (settings.SAGE_DATA_DIR / FORMER_SECRET).unlink(missing_ok=True)
    return left


def _start(name: str) -> str:
    return f"{name}_before_"
