"""The import contracts of pyproject.toml, checked by import-linter."""

import subprocess
import sys
import tomllib

from tests.groups import require_group
from tests.sage.processes import PROJECT


def test_every_import_keeps_the_contracts() -> None:
    require_group("checks")
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_two_contracts_place_the_same_parts_of_the_library() -> None:
    """Only the outer one knows what is between them, and only the inner one is exhaustive."""
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    contracts = {each["id"]: each for each in settings["tool"]["importlinter"]["contracts"]}
    outer, inner = (
        [part for layer in contracts[name]["layers"] for part in layer.split(" | ")]
        for name in ("coaching", "library")
    )
    parts = [part.removeprefix("library.") for part in outer if part.startswith("library.")]
    assert parts == inner
