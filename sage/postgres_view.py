"""Runs a program as another user who sees some folders below private ones, without changing any folder.

A script of its own, started by `postgres_account`: where folders are private, it gets a mount namespace, so
nothing outside changes. There an empty folder that can be passed takes the place of each private one, with
only the needed folders in it. Imports nothing of Sage: it runs before rights are dropped.
"""

import ctypes
import json
import os
import sys
from pathlib import Path

CLONE_NEWNS = 0x20000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
NO_VIEW = 125
"""The exit code where the system refuses a namespace."""


def main() -> None:
    """Read the private folders, the folders to show and the user; then become the program."""
    wanted = json.loads(sys.argv[1])
    try:
        # Most containers refuse namespaces even to root.
        if wanted["private"]:
            show(wanted["private"], wanted["shown"])
    except OSError as error:
        sys.stderr.write(f"no private view of folders: {error.strerror}\n")
        sys.exit(NO_VIEW)
    os.setgroups([])
    os.setgid(wanted["group"])
    os.setuid(wanted["user"])
    os.chdir(wanted["folder"])
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - the caller's own program


def show(private: list[str], shown: list[str]) -> None:
    """Cover the private folders in a namespace of this process, and put the shown ones back into them."""
    libc = ctypes.CDLL(None, use_errno=True)
    _checked(libc.unshare(CLONE_NEWNS))
    _mount(libc, "none", "/", None, MS_REC | MS_PRIVATE, None)
    opened = {folder: os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC) for folder in shown}
    for folder in private:
        _mount(libc, "tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0711,size=64k")
    for folder, descriptor in opened.items():
        os.umask(0o066)
        Path(folder).mkdir(parents=True, exist_ok=True)
        _mount(libc, f"/proc/self/fd/{descriptor}", folder, None, MS_BIND | MS_REC, None)
    os.umask(0o077)


def _mount(
    libc: ctypes.CDLL, source: str, target: str, kind: str | None, flags: int, options: str | None
) -> None:
    texts = [text.encode() if text is not None else None for text in (source, target, kind, options)]
    _checked(libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]))


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    main()
