"""Runs `manage.py upgrade_database` without syncs, or a swap alone, and kills itself at a point.

python -m tests.sage.killed_upgrade [POINT]
"""

import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import django
from django.core.management import call_command


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Before or after the n-th call of a function, or within it: after a time, or once a share is copied."""

    step: str
    when: str = "after"
    call: int = 1
    seconds: float = 0.0
    share: float = 0.0
    exchanges: bool = True
    """Whether the file system can exchange two names."""


_UPGRADE = "cluster_upgrade.ClusterUpgrade."
_SERVER = "cluster_servers.LoneServer."
POINTS = {
    "before the backup": Point(step=f"{_UPGRADE}_read", when="before"),
    "during the backup": Point(step="backups.taking._describe"),
    "after the backup": Point(step="management.commands.upgrade_database.back_up_rows"),
    "after the rows were counted": Point(step=f"{_SERVER}count_rows"),
    "with an empty new cluster": Point(step=f"{_SERVER}make_empty"),
    "with a superuser that may sign in": Point(step=f"{_SERVER}execute_alone"),
    "during the check": Point(step=f"{_UPGRADE}_pg_upgrade", seconds=1.0),
    "after the check": Point(step=f"{_UPGRADE}_pg_upgrade"),
    "a tenth into the copy": Point(step=f"{_UPGRADE}_pg_upgrade", call=2, share=0.1),
    "three tenths into the copy": Point(step=f"{_UPGRADE}_pg_upgrade", call=2, share=0.3),
    "half into the copy": Point(step=f"{_UPGRADE}_pg_upgrade", call=2, share=0.5),
    "seven tenths into the copy": Point(step=f"{_UPGRADE}_pg_upgrade", call=2, share=0.7),
    "nine tenths into the copy": Point(step=f"{_UPGRADE}_pg_upgrade", call=2, share=0.9),
    "after the copy": Point(step=f"{_UPGRADE}_pg_upgrade", call=2),
    "with an extension updated": Point(step="cluster_upgrade._update_extensions"),
    "with the passwords set": Point(step="cluster_upgrade._set_passwords"),
    "before the checksums": Point(step=f"{_SERVER}run", when="before"),
    "after the new rows were counted": Point(step=f"{_SERVER}count_rows", call=2),
    "before the swap": Point(step="cluster_folders.note_replacement", when="before"),
}
SWAP_POINTS = {
    "just before the exchange": Point(step="cluster_folders.note_replacement"),
    "between exchange and rename": Point(step="cluster_folders._exchange"),
    "after exchange and rename": Point(step="cluster_folders._rename"),
    "before two renames": Point(step="cluster_folders._rename", when="before", exchanges=False),
    "between two renames": Point(step="cluster_folders._rename", exchanges=False),
    "after two renames": Point(step="cluster_folders._rename", call=2, exchanges=False),
}
SWAPPED = ("between exchange and rename", "after exchange and rename", "after two renames")
FINISHED = ("after exchange and rename", "after two renames")


def killed(function: Callable[..., Any], point: Point) -> Callable[..., Any]:
    calls = 0

    def run(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == point.call and (point.share or point.seconds):
            threading.Thread(target=_kill_within, args=(point,), daemon=True).start()
        elif calls == point.call and point.when == "before":
            _kill()
        result = function(*args, **options)
        if calls == point.call:
            _kill()
        return result

    return run


def _kill_within(point: Point) -> None:
    time.sleep(point.seconds)
    present, upgraded = (
        Path(os.environ["SAGE_DATA_DIR"]) / name / "base" for name in ("postgres", "upgraded")
    )
    whole, empty = _size_of(present), _size_of(upgraded)
    while point.share and _size_of(upgraded) < empty + point.share * (whole - empty):
        time.sleep(0.01)
    _kill()


def _size_of(folder: Path) -> int:
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return size


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(name: str = "") -> None:
    """Upgrade, or of the points of the swap, do only that."""
    point = (POINTS | SWAP_POINTS).get(name)
    if name not in SWAP_POINTS:
        django.setup()
    if point:
        kill_at(point)
    if name in SWAP_POINTS:
        importlib.import_module("sage.cluster_folders").ClusterFolders(
            Path(os.environ["SAGE_DATA_DIR"])
        ).swap()
    else:
        upgrade = importlib.import_module("sage.cluster_upgrade").ClusterUpgrade
        upgrade.__init__.__kwdefaults__["is_lasting"] = False
        call_command("upgrade_database")


def kill_at(point: Point) -> None:
    """Have this process kill itself there."""
    path, _, function = point.step.rpartition(".")
    module, _, name = path.rpartition(".")
    owner: Any
    if name[0].isupper():
        owner = getattr(importlib.import_module(f"sage.{module}"), name)
    else:
        owner = importlib.import_module(f"sage.{path}")
    setattr(owner, function, killed(getattr(owner, function), point))
    if not point.exchanges:
        folders: Any = importlib.import_module("sage.cluster_folders")
        folders._exchange = lambda *_: False


if __name__ == "__main__":
    main(*sys.argv[1:])
