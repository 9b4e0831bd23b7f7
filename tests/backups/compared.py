"""What a database and its files hold, by SQL and hashing of this module's own."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from psycopg import sql

from sage.backups.databases import connect

DERIVED = ("coaching_recallvector",)
CHANGED = {
    "allauth_idp_oidc_client", "allauth_idp_oidc_token", "coaching_backup", "coaching_departurekey",
    "coaching_programtoken", "coaching_pushdevice", "django_content_type",
    "django_session", "mfa_authenticator", "procrastinate_workers", "sessions_app_runnerprocess",
}  # fmt: skip
"""Tables that a restore or a backup changes; the names of models are completed by a migration."""

_HASH = "SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, ',' ORDER BY t::text)), '') FROM {} AS t"


def rows_of(database: str, *, snapshot: str = "") -> Mapping[str, str]:
    """Return a hash over all rows of each table that a restore leaves as it was, now or in a snapshot."""
    with connect(database) as session:
        if snapshot:
            session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            session.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot)))
        tables = [
            name
            for (name,) in session.execute(
                "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition "
                "AND relnamespace = 'public'::regnamespace ORDER BY relname"
            ).fetchall()
            if name not in CHANGED and not name.startswith(DERIVED)
        ]
        found = {}
        for name in tables:
            row = session.execute(sql.SQL(_HASH).format(sql.Identifier(name))).fetchone()
            assert row is not None
            found[name] = row[0]
        return found


def files_of(folder: Path) -> Mapping[str, str]:
    """Return the hash of each object."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("users/*/*"))
    }
