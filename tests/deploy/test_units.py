"""deploy/systemd: units that allow no more than Sage needs, and its own sandbox all of its layers."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.groups import require
from tests.sage.processes import PROJECT

UNITS = {path.name: path for path in sorted((PROJECT / "deploy" / "systemd").glob("*.service"))}
EXPOSURE = 30
"""The highest that `systemd-analyze security` may find, in tenths: it calls 1.1 to 4.9 “OK”."""
SYSTEM_UNITS = Path("/usr/lib/systemd/system")
DROPS_RIGHTS = {"landlock_create_ruleset", "landlock_restrict_self", "seccomp"}
"""Calls by which `coaching.sandbox.rights` drops rights; systemd 252 has them in none of its groups."""


def settings_of(unit: Path) -> Mapping[str, Sequence[str]]:
    """Return the settings of a unit's [Service], which may be given several times."""
    _, _, service = unit.read_text().partition("[Service]\n")
    service, _, _ = service.partition("\n[Install]")
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(\w+)=(.*)$", service, re.MULTILINE):
        found.setdefault(name, []).append(value)
    return found


def test_both_units_are_hardened_in_the_same_way_and_run_as_the_same_user() -> None:
    assert set(UNITS) == {"sage-web@.service", "sage-worker.service"}
    web, worker = (dict(settings_of(unit)) for unit in UNITS.values())
    assert web.pop("ExecStart") != worker.pop("ExecStart")
    assert web == worker
    assert web["User"] == ["sage"]


@pytest.mark.parametrize("name", UNITS)
def test_each_layer_of_the_sandbox_stays_possible(name: str) -> None:
    """A call that is missing here would leave a layer out: `/readyz` would say `partial`."""
    settings = settings_of(UNITS[name])
    (calls,) = settings["SystemCallFilter"]
    assert {"@system-service", *DROPS_RIGHTS} == set(calls.split())  # with capset, prctl and setrlimit
    assert settings["SystemCallErrorNumber"] == ["EPERM"]
    assert "AF_NETLINK" in settings["RestrictAddressFamilies"][0]


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_a_process_that_runs_stays_with_its_version_when_another_one_is_current(
    tmp_path: Path, name: str
) -> None:
    """What it starts later, it starts by `sys.executable` and in its environment."""
    venv = tmp_path / "0.1.0" / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (tmp_path / "0.1.0" / "manage.py").write_text(
        "import sys; print(sys.executable, sys.prefix, sys.argv[1])"
    )
    (tmp_path / "current").symlink_to("0.1.0")
    settings = settings_of(UNITS[name])
    assert settings["WorkingDirectory"] == ["/opt/sage/current"]
    (start,) = settings["ExecStart"]
    command = shlex.split(start.replace("%i", "8001").replace("$$", "$"))
    told = subprocess.run(command, cwd=tmp_path / "current", capture_output=True, text=True, check=True)
    assert told.stdout.split()[:2] == [str(venv / "bin" / "python"), str(venv)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A file system with both units, the system's, and the programs that ours start."""
    require("deploy", shutil.which("systemd-analyze") is not None, "Debian's package systemd")
    units = tmp_path / "etc" / "systemd" / "system"
    units.mkdir(parents=True)
    shutil.copytree(SYSTEM_UNITS, tmp_path / SYSTEM_UNITS.relative_to("/"), symlinks=True)
    for name, unit in UNITS.items():
        shutil.copy(unit, units / name.replace("@", "@8001"))
    shell = tmp_path / "bin" / "sh"
    shell.parent.mkdir()
    shell.write_text("")
    shell.chmod(0o755)
    return tmp_path


def analysed(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        ["systemd-analyze", "--no-pager", *arguments], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_systemd_accepts_the_units_and_finds_them_little_exposed(root: Path, name: str) -> None:
    unit = str(root / "etc" / "systemd" / "system" / name.replace("@", "@8001"))
    # It also ends with 0 if it doesn't know a setting, but says so.
    assert analysed("verify", "--man=no", f"--root={root}", unit) == (0, "")
    code, table = analysed("security", "--offline=yes", f"--threshold={EXPOSURE}", unit)
    assert code == 0, table
