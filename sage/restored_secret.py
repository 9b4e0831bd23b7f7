"""The secret key that belongs to a restored database, and is put into place once the databases are swapped.

The new database's comment has a hash of it: if a restore is killed between both, the next start finishes it.
"""

import hashlib
from typing import Any

import psycopg
import structlog
from django.conf import settings
from django.db import connection
from psycopg import sql

from sage.data_folder import use_next_secret

logger = structlog.get_logger(__name__)


def mark_database(session: psycopg.Connection[Any], secret: str) -> None:
    """Note in a new database which secret key it needs. The role must own the database."""
    comment = sql.SQL("COMMENT ON DATABASE {} IS {}")
    session.execute(comment.format(sql.Identifier(session.info.dbname), sql.Literal(_mark_of(secret))))


def finish_restore() -> bool:
    """Put the waiting key into place, for this process, too, if the database is the one that needs it.

    One that waits without such a database belongs to a restore that was killed earlier: nothing has changed.
    """
    if settings.ENVIRONMENT.secret_key or not settings.SECRET_KEY_FALLBACKS:
        return False
    (secret,) = settings.SECRET_KEY_FALLBACKS
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = current_database()"
        )
        row = cursor.fetchone()
    if not row or row[0] != _mark_of(secret):
        return False
    use_next_secret(settings.SAGE_DATA_DIR)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = secret, []
    logger.warning("restore_finished")
    return True


def _mark_of(secret: str) -> str:
    digest = hashlib.sha256(b"sage.restored_secret " + secret.encode()).hexdigest()
    return f"Restored by Sage; hash of its secret key: {digest}"
