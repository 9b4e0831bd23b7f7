"""Only one import of a person runs at a time, and nobody waits for a process that was killed.

The lock belongs to a database connection of its own, so the database releases it when the process dies.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection
from django.utils.translation import gettext_noop

from sessions_app.errors import Refused
from sessions_app.limits import lock_key
from sessions_app.lock_spaces import LockSpace

BUSY = gettext_noop("Another import of yours is running. Wait until it’s done, then try again.")


@contextmanager
def only_import_of(user_id: int) -> Iterator[None]:
    """Hold the person's lock for the block. Raises `Refused` where another import holds it."""
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as session:
        row = session.execute(
            "SELECT pg_try_advisory_lock(%s, %s)", [LockSpace.IMPORTS.value, lock_key(user_id)]
        ).fetchone()
        if not (row and row[0]):
            raise Refused(BUSY)
        yield
