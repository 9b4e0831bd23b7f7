"""Installs programs of npm that only tests need, in the versions of a lock file, outside the project."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

LISTS = ("package.json", "package-lock.json")


def installed_at(lists: Path, *, name: str) -> Path:
    """Return where the packages of a folder's lists are, or would be: once for each content of the lists."""
    content = b"".join((lists / each).read_bytes() for each in LISTS)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / f"sage-{name}"
    return cache / hashlib.sha256(content).hexdigest()[:16]


def install(lists: Path, *, name: str) -> Path:
    """Return a folder with the packages, whose hashes npm has checked.

    Raises `CalledProcessError` if npm can't get them.
    """
    folder = installed_at(lists, name=name)
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        begun = Path(temporary) / "packages"
        begun.mkdir()
        for each in LISTS:
            shutil.copy(lists / each, begun)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, cwd=begun, check=True, capture_output=True, text=True)
        try:
            begun.rename(folder)
        except OSError:
            if not folder.exists():  # Another run was faster.
                raise
    return folder
