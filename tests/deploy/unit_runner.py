"""Starts a unit's command as systemd would: for `tests.deploy.debian`, in a root without a running systemd.

Runs under Debian's Python with its package python3-seccomp, in a mount namespace of its own. It applies the
unit's user, capabilities, system calls, address families, read-only file system, /proc, /tmp and limits; not
PrivateUsers, PrivateDevices, RestrictNamespaces and what has no effect on a program like Sage.
"""

import ctypes
import errno
import os
import pwd
import re
import resource
import shlex
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

CALLS = Path("/usr/local/lib/sage-calls")
UNITS = Path("/etc/systemd/system")
_BOUNDING_DROP, _NO_NEW_PRIVILEGES, _MEMORY = 24, 38, 65


def main(name: str) -> None:
    """Become the unit's command."""
    template, _, instance = name.partition("@")
    unit = UNITS / (f"{template}@.service" if instance else f"{name}.service")
    settings = dict(re.findall(r"^(\w+)=(.*)$", unit.read_text(), re.MULTILINE))
    command = shlex.split(settings["ExecStart"].replace("%i", instance).replace("$$", "$"))
    state = f"/var/lib/{settings['StateDirectory']}"
    processes = f"subset={settings['ProcSubset']},hidepid={settings['ProtectProc']}"
    if settings["ProtectSystem"] == "strict":
        for mount in (
            f"--bind {state} {state}",
            "--options remount,bind,ro /",
            "--types tmpfs tmpfs /tmp",
            f"--types proc --options {processes} proc /proc",
        ):
            subprocess.run(["mount", *mount.split()], check=True)
    account = pwd.getpwnam(settings["User"])
    libc = ctypes.CDLL(None, use_errno=True)
    if settings["CapabilityBoundingSet"] == "":
        for capability in range(41):
            libc.prctl(_BOUNDING_DROP, capability, 0, 0, 0)
    os.initgroups(account.pw_name, account.pw_gid)
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)
    os.umask(int(settings["UMask"], 8))
    # Not every machine lets root raise it.
    files = min(int(settings["LimitNOFILE"]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    os.chdir(settings["WorkingDirectory"])
    if settings["NoNewPrivileges"] == "yes":
        libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if settings["MemoryDenyWriteExecute"] == "yes" and libc.prctl(_MEMORY, 1, 0, 0, 0):
        sys.exit("this kernel doesn't know MemoryDenyWriteExecute")
    name, value = settings["Environment"].split("=")
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", name: value}
    _restrict_calls(settings["RestrictAddressFamilies"].split())
    os.execve(command[0], command, environment)


def _restrict_calls(families: list[str]) -> None:
    seccomp: Any = import_module("seccomp")  # of Debian's Python

    rules = seccomp.SyscallFilter(defaction=seccomp.ERRNO(errno.EPERM))
    for call in CALLS.read_text().split():
        try:
            if call != "socket":
                rules.add_rule(seccomp.ALLOW, call)
        except RuntimeError:  # of another processor
            continue
    for family in families:
        rules.add_rule(seccomp.ALLOW, "socket", seccomp.Arg(0, seccomp.EQ, getattr(socket, family)))
    rules.load()


main(sys.argv[1])
