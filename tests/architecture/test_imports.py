"""The import contracts of pyproject.toml, checked by import-linter."""

import subprocess
import sys

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
