"""What `pg_restore` says of a server before PostgreSQL 17 is told from what is really wrong."""

from sage.backups.databases import is_old_server_only

SAID = """\
pg_restore: error: could not execute query: ERROR:  unrecognized configuration parameter "transaction_timeout"
Command was: SET transaction_timeout = 0;
pg_restore: warning: errors ignored on restore: 1"""
OTHER = """
pg_restore: error: could not execute query: ERROR:  type "vector" does not exist
Command was: CREATE TABLE x (y vector);
"""


def test_the_setting_that_older_servers_lack_is_no_failure() -> None:
    assert is_old_server_only(SAID)


def test_any_other_error_is_one() -> None:
    first, second, last = SAID.splitlines()
    assert not is_old_server_only("")
    assert not is_old_server_only(f"{first}\n{second}{OTHER}{last.replace('1', '2')}")
    assert not is_old_server_only(OTHER.strip())
    assert not is_old_server_only(SAID.replace("transaction_timeout", "other"))
    assert not is_old_server_only(f"{first}\n{second}\npg_restore: error: connection to server was lost")
