"""The hashed requirements match pyproject.toml and name no registry."""

import re
import tomllib
from datetime import datetime
from importlib.metadata import PackageNotFoundError, requires, version

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.sage.processes import PROJECT

LOCK = PROJECT / "requirements.lock"
MAX_PACKAGES = 124
"""What `uv run` may install in a new clone, for `up` and the suite. Eleven read documents, seven came with
MCP's SDK and OAuth.
"""


def pinned_versions() -> dict[str, str]:
    """Return the packages of the lock with their versions."""
    lines = LOCK.read_text().splitlines()
    found = [re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^ ;]+)", line) for line in lines]
    return {canonicalize_name(match[1]): match[2] for match in found if match}


def test_every_dependency_is_pinned_to_a_version_that_fits() -> None:
    pinned = pinned_versions()
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


def test_every_installed_direct_requirement_is_the_pinned_one_or_fits() -> None:
    """Installed versions may differ from the pins by a release but must fit pyproject.toml."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    for line in project["dependencies"]:
        requirement = Requirement(line)
        assert requirement.specifier.contains(version(requirement.name)), line


def test_the_resolution_is_dated_and_every_exception_names_a_direct_requirement() -> None:
    """`python -m tests.architecture.resolve` checks that the date is ten days old."""
    read = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    uv = read["tool"]["uv"]
    assert datetime.fromisoformat(uv["exclude-newer"]).tzinfo is not None
    direct = {canonicalize_name(Requirement(line).name) for line in read["project"]["dependencies"]}
    assert set(uv["exclude-newer-package"]) <= direct


@pytest.mark.slow
def test_starting_sage_and_its_suite_installs_few_packages() -> None:
    read = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    assert read["tool"]["uv"]["default-groups"] == ["test"]
    found: set[tuple[str, str]] = set()
    waiting = [Requirement(line) for line in read["project"]["dependencies"]]
    waiting += [Requirement(line) for line in read["dependency-groups"]["test"]]
    while waiting:
        requirement = waiting.pop()
        for extra in ("", *requirement.extras):
            key = (canonicalize_name(requirement.name), extra)
            if key not in found and _applies(requirement):
                found.add(key)
                waiting += [item for item in _requirements_of(requirement.name) if _applies(item, extra)]
    names = {name for name, _ in found}
    assert {"django", "pytest"} <= names
    assert len(names) <= MAX_PACKAGES, sorted(names)


def _applies(requirement: Requirement, extra: str = "") -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _requirements_of(name: str) -> list[Requirement]:
    try:
        return [Requirement(line) for line in requires(name) or []]
    except PackageNotFoundError:  # an extra of another package's
        return []
