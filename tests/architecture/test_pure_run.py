"""A run of the pure tests, as a developer starts it."""

import subprocess
import sys

from tests.sage.processes import PROJECT, blank_environment

PROGRAM = """
import os, sys
from pathlib import Path

import pytest


class Watch:
    def pytest_sessionfinish(self):
        print("has a server:", (Path(os.environ["SAGE_TEST_FOLDER"]) / "postgres").exists())
        print("tests:", sorted(name for name in sys.modules if name.startswith("tests.sessions_app.test_")))


arguments = ["-n0", "-q", "-p", "no:cacheprovider", "-m", "pure", "tests/sessions_app"]
sys.exit(pytest.main(arguments, plugins=[Watch()]))
"""


def test_a_pure_run_starts_no_server_and_imports_no_other_tests() -> None:
    environment = {key: value for key, value in blank_environment().items() if not key.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "has a server: False" in done.stdout
    names = [f"tests.sessions_app.test_{name}" for name in ("english", "money", "refusals")]
    assert f"tests: {names}" in done.stdout
