"""Replaces the superuser role that Sage connects with by an ordinary one.

The role that creates a cluster is its superuser and can't be demoted. So it is renamed and may no longer sign
in, and a new role gets its name and its tables. Older data folders are converted at their next start.
"""

from typing import Any

from psycopg import Connection, sql

ADMIN = "sage_admin"
_RENAMING = sql.Identifier("sage_renaming")

# In any order: the owner of a table owns its indexes, row type and serial sequences, but not its partitions.
_OWNED = """
    SELECT format('ALTER SCHEMA %%I', nspname) FROM pg_namespace
    WHERE nspowner = %(owner)s AND nspname !~ '^pg_' AND nspname NOT IN ('information_schema', 'public')
  UNION ALL
    SELECT format('ALTER %%s %%s', CASE relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW'
        WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'c' THEN 'TYPE' ELSE 'TABLE' END, oid::regclass)
    FROM pg_class WHERE relowner = %(owner)s AND relkind IN ('r', 'p', 'v', 'm', 'S', 'c') AND oid >= 16384
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = pg_class.oid AND d.classid = 'pg_class'::regclass
        AND (d.deptype = 'e'
            OR relkind = 'S' AND d.deptype IN ('a', 'i') AND d.refclassid = 'pg_class'::regclass))
  UNION ALL
    SELECT format('ALTER TYPE %%s', oid::regtype) FROM pg_type
    WHERE typowner = %(owner)s AND typtype IN ('d', 'e', 'r') AND oid >= 16384
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = pg_type.oid AND d.classid = 'pg_type'::regclass
        AND d.deptype = 'e')
  UNION ALL
    SELECT format('ALTER ROUTINE %%s', oid::regprocedure) FROM pg_proc
    WHERE proowner = %(owner)s AND oid >= 16384
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = pg_proc.oid AND d.classid = 'pg_proc'::regclass
        AND d.deptype IN ('e', 'i'))
"""


def is_superuser(connection: Connection[Any]) -> bool:
    row = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
    return bool(row and row[0])


def make_ordinary(connection: Connection[Any], *, role: str, database: str, password: str) -> None:
    """Replace the connection's superuser by an ordinary role of that name, in one transaction."""
    name, admin = sql.Identifier(role), sql.Identifier(ADMIN)
    with connection.transaction():
        row = connection.execute("SELECT current_user::regrole::oid").fetchone()
        assert row is not None
        # A role can't rename itself.
        for statement in (
            "CREATE ROLE {renaming} SUPERUSER",
            "SET SESSION AUTHORIZATION {renaming}",
            "ALTER ROLE {name} RENAME TO {admin}",
            "RESET SESSION AUTHORIZATION",
            "DROP ROLE {renaming}",
            "ALTER ROLE {admin} NOLOGIN PASSWORD NULL",
            "CREATE ROLE {name} LOGIN CREATEDB PASSWORD {password}",
            "ALTER DATABASE {database} OWNER TO {name}",
        ):
            connection.execute(
                sql.SQL(statement).format(
                    renaming=_RENAMING,
                    name=name,
                    admin=admin,
                    database=sql.Identifier(database),
                    password=sql.Literal(password),
                )
            )
        for (statement,) in connection.execute(_OWNED, {"owner": row[0]}).fetchall():
            connection.execute(sql.SQL(statement + " OWNER TO {}").format(name))
