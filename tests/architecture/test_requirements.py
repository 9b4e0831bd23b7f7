"""The hashed requirements are those of pyproject.toml, and name no registry."""

import re
import shutil
import subprocess
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.sage.processes import PROJECT

LOCK = PROJECT / "requirements.lock"
EXPORT = ("export", "--quiet", "--no-header", "--no-dev", "--no-emit-project", "--format", "requirements-txt")


def _pinned() -> dict[str, str]:
    lines = LOCK.read_text().splitlines()
    found = [re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^ ;]+)", line) for line in lines]
    return {canonicalize_name(match[1]): match[2] for match in found if match}


def test_every_dependency_is_pinned_to_a_version_that_fits() -> None:
    pinned = _pinned()
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    for line in project["dependencies"]:
        requirement = Requirement(line)
        version = pinned[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{line} is pinned to {version}"


def test_every_pin_has_a_hash_and_no_line_names_a_registry() -> None:
    text = LOCK.read_text()
    entries = re.split(r"\n(?=[A-Za-z0-9])", text)
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text


def test_the_lock_is_what_uv_would_write() -> None:
    uv = shutil.which("uv")
    if uv is None or not (PROJECT / "uv.lock").exists():
        pytest.skip("uv has locked nothing here")
    done = subprocess.run([uv, *EXPORT], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == LOCK.read_text(), f"write it anew: uv {' '.join(EXPORT)} > requirements.lock"
