"""The folders of the embedded PostgreSQL's clusters, and how long the one before an upgrade stays.

It holds people who are deleted afterwards, and so does the backup that an upgrade begins with: both stay for
a week, like other backups. Their files' times say when the week began. Settings import this, so it mustn't
use them while it is imported.
"""

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog
from django.conf import settings

logger = structlog.get_logger(__name__)

KEPT = timedelta(days=7)
PRESENT = "postgres"
UPGRADED = "upgraded"
"""Where an upgrade builds its cluster. Not longer than the other name: sockets have short paths."""
FORMER_CLUSTERS = "postgres.[0-9]*"
"""Names of an upgrade's former clusters, and of copies that operators have made themselves."""
LOGS = "pg_upgrade_output.d"
"""What a failed pg_upgrade has written: with the database's structure, and what passwords are checked by."""
BACKUP_START = "before-postgres-"
"""Begins the names of backups that upgrades have made."""
_VERSION_FILE = "PG_VERSION"


def version_of(cluster: Path) -> int | None:
    """Return the major version that made a cluster; None if there is none."""
    try:
        return int((cluster / _VERSION_FILE).read_text())
    except (OSError, ValueError):
        return None


def note_replacement(cluster: Path) -> None:
    """Let the week of a cluster begin now. The server never writes the file whose time says so."""
    descriptor = os.open(cluster / _VERSION_FILE, os.O_RDONLY)
    try:
        os.utime(descriptor)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_former_clusters(*, now: datetime, kept: timedelta = KEPT) -> int:
    """Remove clusters that upgrades have left, their logs and backups, after `kept`; return how many.

    What can't be removed is logged and not counted.
    """
    data_dir = settings.SAGE_DATA_DIR
    present = version_of(data_dir / PRESENT) or 0
    clusters = [
        each
        for each in data_dir.glob(FORMER_CLUSTERS)
        if (version := version_of(each) or present) < present
        and each.name == f"{PRESENT}.{version}"  # other names are the operator's own copies
        and _is_older(each / _VERSION_FILE, now - kept)
    ]
    upgraded = data_dir / UPGRADED
    is_left = (version_of(upgraded) or present + 1) <= present
    if is_left and _is_older(upgraded / _VERSION_FILE, now - kept):
        clusters.append(upgraded)
    if (logs := data_dir / LOGS).is_dir() and present and _is_older(logs, now - kept):
        clusters.append(logs)
    backups = [
        path
        for folder in (data_dir / "backups", settings.SAGE_BACKUP_DIR)
        if folder is not None
        for path in (*folder.glob(f"{BACKUP_START}*"), *folder.glob(f".{BACKUP_START}*"))
        if _is_older(path, now - kept)
    ]
    return sum([*map(_remove, clusters), *map(_remove, backups)])


def _is_older(path: Path, moment: datetime) -> bool:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC) <= moment


def _remove(path: Path) -> bool:
    try:
        if path.is_dir():
            # The time goes last: if this is cut off, the next run still knows that the week is over.
            for each in path.iterdir():
                if each.name != _VERSION_FILE:
                    shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError as error:
        logger.warning("former_cluster_not_removed", path=path.name, error=type(error).__name__)
        return False
    return True
