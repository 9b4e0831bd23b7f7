"""A run of the pure tests, as a developer starts it."""

import subprocess
import sys

import pytest

from tests.sage.processes import PROJECT, blank_environment

PROGRAM = """
import os, signal, sys
from pathlib import Path

import pytest


class Watch:
    def __init__(self):
        self.processes = set()

    def pytest_collection_finish(self, session):
        from tests.forked_run import FORKS

        session.config.stash[FORKS] = 2  # on a single core, too

    def pytest_runtest_call(self, item):
        assert item is not item.session.items[0], "broken on purpose"
        if item in (item.session.items[1], item.session.items[-1]):
            os.kill(os.getpid(), signal.SIGKILL)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        report.user_properties.append(("process", os.getpid()))
        return report

    def pytest_runtest_logreport(self, report):
        self.processes |= {process for _, process in report.user_properties}

    def pytest_sessionfinish(self, session):
        print("others:", len(session.items) - 3)
        print("has a server:", (Path(os.environ["SAGE_TEST_FOLDER"]) / "postgres").exists())
        print("tests:", sorted(name for name in sys.modules if name.startswith("tests.sessions_app.test_")))
        print("ran in forks:", bool(self.processes) and os.getpid() not in self.processes)


arguments = ["-q", "-p", "no:cacheprovider", "-m", "pure", "tests/sessions_app"]
sys.exit(pytest.main(arguments, plugins=[Watch()]))
"""


@pytest.fixture(scope="module")
def done() -> subprocess.CompletedProcess[str]:
    """The run, which has ended."""
    environment = {key: value for key, value in blank_environment().items() if not key.startswith("PYTEST")}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_pure_run_starts_no_server_imports_no_other_tests_and_runs_in_forks(
    done: subprocess.CompletedProcess[str],
) -> None:
    assert done.returncode == 1, done.stdout + done.stderr
    assert "AssertionError: broken on purpose" in done.stdout
    assert "has a server: False" in done.stdout
    assert "ran in forks: True" in done.stdout
    names = [f"tests.sessions_app.test_{name}" for name in ("english", "money", "refusals")]
    assert f"tests: {names}" in done.stdout


def test_a_fork_that_crashes_fails_its_test_and_another_one_runs_the_rest(
    done: subprocess.CompletedProcess[str],
) -> None:
    assert "the process of the test ended with -9" in done.stdout, done.stdout + done.stderr
    _, _, others = done.stdout.partition("others: ")
    assert f"3 failed, {int(others.split()[0])} passed" in done.stdout
