"""New Debian roots and commands in them, for the steps of deploy/ and docs/installing.md."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from sage.postgres_account import SYSTEM_PATH
from tests.sage.processes import PROJECT

SUITE = "bookworm"
COPIED = (
    "LICENSE", "NOTICE", "coaching", "deploy", "docs", "locale", "manage.py", "pyproject.toml",
    "requirements.lock", "sage", "sessions_app", "skills", "static", "templates",
)  # fmt: skip


def make_root(folder: Path, packages: Sequence[str]) -> None:
    """Install Debian's smallest system and `packages` into a new folder, with this machine's name servers."""
    command = [
        "mmdebstrap",
        "--quiet",
        "--variant=minbase",
        f"--include={','.join(packages)}",
        SUITE,
        str(folder),
    ]
    subprocess.run(command, check=True)
    shutil.copy("/etc/resolv.conf", folder / "etc" / "resolv.conf")
    if certificates := os.environ.get("PIP_CERT"):
        place = folder / certificates.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(certificates, place)


def copy_project(place: Path, names: Sequence[str] = COPIED) -> None:
    """Copy what a release has, without compiled files, readable by all."""
    place.mkdir(parents=True, exist_ok=True)
    for name in names:
        source, copy = PROJECT / name, place / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
        else:
            shutil.copy2(source, copy)
    subprocess.run(["chmod", "--recursive", "a+rX,go-w", place], check=True)


def run_in(root: Path, script: str, *, environment: Mapping[str, str] | None = None) -> None:
    """Run a script in a root, with processes and mounts of its own, which end with it. Raises if it fails."""
    mounts = 'mount --bind "$1" "$1"; mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"'
    around = f'{mounts}; exec /usr/sbin/chroot "$@"'
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    own = {"PATH": SYSTEM_PATH, "DEBIAN_FRONTEND": "noninteractive", **pip, **(environment or {})}
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-ec", around, "sh"]
    command += [str(root), "/bin/sh", "-euc", script]
    subprocess.run(command, env=own, check=True, stdin=subprocess.DEVNULL)
