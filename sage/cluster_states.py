"""Clusters that an upgrade has left, or that another PostgreSQL has made, and that no start touches."""

import os
import pwd
from pathlib import Path

from coaching.files.former_clusters import FORMER_CLUSTERS, UPGRADED, version_of
from sage.env import StartError
from sage.postgres_programs import FORMER_VERSION, POSTGRES_VERSION


def refuse_missing_cluster(present: Path) -> None:
    """Refuse to make an empty cluster where others are: an upgrade was interrupted, or they were renamed."""
    for other in [*sorted(present.parent.glob(FORMER_CLUSTERS)), present.with_name(UPGRADED)]:
        if other.exists():
            raise StartError(
                f"{present} is missing, but {other.name} is beside it: run `manage.py upgrade_database`, or "
                "move that folder away, too, to begin with an empty one."
            )


def refuse_other_version(present: Path, version: int) -> None:
    """Refuse a cluster that this version's PostgreSQL can't read."""
    found = version_of(present)
    if found == version:
        return
    if found == FORMER_VERSION:
        raise StartError(
            f"{present} was made by PostgreSQL {found}, this is {POSTGRES_VERSION}: run "
            "`manage.py upgrade_database`, which makes a backup first."
        )
    raise StartError(
        f"{present} was made by PostgreSQL {found}, this is {POSTGRES_VERSION}: start the "
        "version of Sage that made it, or set DATABASE_URL."
    )


def refuse_other_owner(present: Path, account: pwd.struct_passwd | None) -> None:
    """Refuse a cluster that the server's user doesn't own: PostgreSQL would refuse it and log nothing.

    `account` is that user, None if it is our own. A folder copied from another machine has its numbers.
    """
    owner = present.stat().st_uid
    if owner == (account.pw_uid if account else os.geteuid()):
        return
    user = account.pw_name if account else str(os.geteuid())
    raise StartError(f"{present} belongs to another user than {user}: chown --recursive {user} {present}")
