"""The system user for PostgreSQL when Sage runs as root, which PostgreSQL refuses.

That user needs access to its cluster and its programs, which may be in private folders. No mode of a folder
above them changes: access control lists grant passage where that doesn't show in the mode, and otherwise the
server runs in a mount namespace, where it sees its own folders only (`postgres_view`). Where the system
supports neither, Sage refuses to start and names the folder.
"""

import json
import os
import pwd
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coaching.sandbox.environment import worker_environment
from sage.env import StartError

SYSTEM_USER = "sage-postgres"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Folders of system programs; a plain `su` leaves the `sbin` folders out of PATH."""

VIEW_SCRIPT = Path(__file__).with_name("postgres_view.py")

READ, PASS = 4, 1

_ACCESS_LIST = "system.posix_acl_access"
# linux/posix_acl_xattr.h: a version, then entries of tag, rights and id, sorted by tag and id.
_VERSION = struct.pack("<I", 2)
_ENTRY = struct.Struct("<HHI")
_OWNER, _USER, _GROUP, _NAMED_GROUP, _MASK, _OTHERS = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_NO_ID = 0xFFFFFFFF


def system_account(name: str = SYSTEM_USER) -> pwd.struct_passwd | None:
    """As root, return the server's user, created on first use; otherwise None. Raises `StartError`."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(name)
    except KeyError:
        pass
    command = ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin"]
    try:
        subprocess.run([*command, name], check=True, capture_output=True, env=child_environment())
        return pwd.getpwnam(name)
    except (OSError, subprocess.CalledProcessError, KeyError):
        raise StartError(
            f"PostgreSQL doesn't run as root and the user {name} can't be made: "
            "start Sage as another user, or set DATABASE_URL."
        ) from None


def child_environment() -> dict[str, str]:
    """Return the environment for system programs and the server: no keys, passwords or PG variables."""
    return {"PATH": SYSTEM_PATH, **worker_environment()}


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How the server's user reaches its folders: below `private` ones it sees only those that are `shown`."""

    account: pwd.struct_passwd
    private: Sequence[Path] = ()
    shown: Sequence[Path] = ()

    def command(self, program: Path, *arguments: str, folder: Path = Path("/")) -> list[str]:
        """Return a command that root runs: the program as the server's user, with this current folder."""
        wanted = {
            "private": [str(path) for path in self.private],
            "shown": [str(path) for path in self.shown],
            "user": self.account.pw_uid,
            "group": self.account.pw_gid,
            "folder": str(folder),
        }
        return [sys.executable, "-I", "-S", str(VIEW_SCRIPT), json.dumps(wanted), str(program), *arguments]


def grant_access(account: pwd.struct_passwd, data_dir: Path, *programs: Path) -> View:
    """Let the user reach its clusters in `data_dir` and run these programs. Raises `StartError`.

    Modes of other folders stay as they are. An access list shows in a mode unless its group may pass anyway;
    a folder whose mode would change is left alone, and the user gets a view of what is below it.
    """
    os.chown(data_dir, -1, account.pw_gid)
    data_dir.chmod(stat.S_IMODE(data_dir.stat().st_mode) | stat.S_IXGRP)
    installed = [program.parent.parent for program in programs]
    libraries = dict.fromkeys(each.parent.with_name(f"{each.parent.name}.libs") for each in installed)
    shown = [data_dir, *installed, *libraries]
    private = list(dict.fromkeys(each for path in shown if path.is_dir() for each in _pass_to(account, path)))
    outer = [each for each in private if not any(other in each.parents for other in private)]
    view = View(account=account)
    if outer:
        spellings = dict.fromkeys(each for path in shown if path.is_dir() for each in (path, path.resolve()))
        below = [each for each in spellings if any(folder in each.parents for folder in outer)]
        view = View(account=account, private=outer, shown=below)
        _check_view(view)
    for program, folder in zip(programs, installed, strict=True):
        if not _runs(view, program):
            _grant_all_below(account, folder)
    return view


def _grant_all_below(account: pwd.struct_passwd, folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            _grant(account, path, READ | (PASS if path.stat().st_mode & stat.S_IXUSR else 0))


def _pass_to(account: pwd.struct_passwd, folder: Path) -> Iterator[Path]:
    """Let the user pass to `folder`, without listing what is above it; yield the folders that stay closed."""
    if _can_pass(account, folder):
        return
    for path in (folder, folder.resolve()):
        for parent in reversed(path.parents):
            if _can_pass(account, parent):
                continue
            if stat.S_IMODE(parent.stat().st_mode) & stat.S_IXGRP:
                _grant(account, parent, PASS)
            if not _can_pass(account, parent):
                yield parent
                break


def _check_view(view: View) -> None:
    done = subprocess.run(
        view.command(Path("/bin/sh"), "-c", ":"), env=child_environment(), capture_output=True, check=False
    )
    if done.returncode != 0:
        raise _closed(view.private[0])


def _runs(view: View, program: Path) -> bool:
    command = view.command(Path("/bin/sh"), "-c", 'test -x "$1"', "sh", str(program))
    return subprocess.run(command, env=child_environment(), check=False).returncode == 0


def _can_pass(account: pwd.struct_passwd, path: Path) -> bool:
    """Test as that user whether a folder can be entered or a file executed."""
    done = subprocess.run(
        ["/bin/sh", "-c", 'test -x "$1"', "sh", str(path)],
        user=account.pw_uid,
        group=account.pw_gid,
        extra_groups=[],
        env=child_environment(),
        cwd="/",
        check=False,
    )
    return done.returncode == 0


def _grant(account: pwd.struct_passwd, path: Path, rights: int) -> None:
    try:
        entries = dict(_entries_of(path))
        mask = entries.get((_MASK, _NO_ID), 7)
        # Keep masked rights masked when the mask grows.
        for key in entries:
            if key[0] in (_USER, _GROUP, _NAMED_GROUP):
                entries[key] &= mask
        entries[_USER, account.pw_uid] = entries.get((_USER, account.pw_uid), 0) | rights
        entries[_MASK, _NO_ID] = 0
        for (tag, _), given in entries.items():
            if tag in (_USER, _GROUP, _NAMED_GROUP):
                entries[_MASK, _NO_ID] |= given
        packed = b"".join(_ENTRY.pack(tag, entries[tag, number], number) for tag, number in sorted(entries))
        os.setxattr(path, _ACCESS_LIST, _VERSION + packed)
    except OSError:
        raise _closed(path) from None


def _entries_of(path: Path) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield (tag, id) and rights of a path's access list, or those of its mode if it has none."""
    if _ACCESS_LIST in os.listxattr(path):
        for tag, rights, number in _ENTRY.iter_unpack(os.getxattr(path, _ACCESS_LIST)[len(_VERSION) :]):
            yield (tag, number), rights
        return
    mode = path.stat().st_mode
    for tag, shift in ((_OWNER, 6), (_GROUP, 3), (_OTHERS, 0)):
        yield (tag, _NO_ID), mode >> shift & 7


def _closed(folder: Path) -> StartError:
    return StartError(
        f"PostgreSQL runs as the user {SYSTEM_USER}, who may not pass {folder}, and Sage doesn't change that "
        "folder: keep Sage in another folder, start it as another user, or set DATABASE_URL."
    )
