"""Takes or restores a backup, and kills itself just before or after a step of it.

python -m tests.backups.killed backup|restore FILE before|after MODULE.FUNCTION
python -m tests.backups.killed start
"""

import importlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

STEPS = {
    "backup": (
        "taking._describe", "taking.list_objects", "taking.add_objects", "taking._note",
    ),
    "restore": (
        "restoring._make_database", "restoring._load_rows", "restoring._prepare", "restoring.encrypt_anew",
        "restoring.put_object", "restoring._switch", "restoring.use_next_secret",
    ),
}  # fmt: skip


def killed(function: Callable[..., Any], when: str) -> Callable[..., Any]:
    def run(*args: Any, **options: Any) -> Any:
        if when == "after":
            function(*args, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    return run


def main(what: str, file: str = "", when: str = "", step: str = "") -> None:
    """Do it to its end without a step. `start` does what each command does that starts Sage."""
    django.setup()
    if what == "start":
        importlib.import_module("sage.restored_secret").finish_restore()
        return
    taking, restoring, contents = (
        importlib.import_module(f"sage.backups.{name}") for name in ("taking", "restoring", "contents")
    )
    if step:
        module_name, _, name = step.partition(".")
        module = importlib.import_module(f"sage.backups.{module_name}")
        setattr(module, name, killed(getattr(module, name), when))
    if what == "backup":
        taking.take_backup(Path(file))
    else:
        restoring.restore(Path(file), contents.examine(Path(file)))


if __name__ == "__main__":
    main(*sys.argv[1:])
