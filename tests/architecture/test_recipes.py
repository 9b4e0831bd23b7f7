"""The recipes of docs/recipes, applied unchanged to a copy of the project, work."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.architecture.recipes import applied, commands_of, read_recipes
from tests.groups import require, require_group
from tests.sage.processes import PROJECT, blank_environment

RUN_COMMANDS = """
import json, sys
import django
from django.core.management import call_command

django.setup()
for command in json.loads(sys.argv[1]):
    call_command(*command)
"""
COPIED = ("coaching", "docs", "locale", "sage", "sessions_app", "skills", "static", "templates", "tests")


@pytest.mark.timeout(1_200)  # hundreds of tests in one
def test_every_recipe_works_as_it_is_written(tmp_path: Path) -> None:
    require("gettext", bool(shutil.which("msgfmt")), "GNU gettext")
    require_group("checks")
    _copy(tmp_path)
    recipes = read_recipes()
    for name, text in applied(recipes).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for fix in (["check", "--fix", "--exit-zero", "-q"], ["format", "-q"], ["check", "-q"]):
        code, said = _run(tmp_path, "-m", "ruff", *fix, ".")
        assert code == 0, said
    commands, tests = _together(commands_of(recipes))
    for arguments in (["-c", RUN_COMMANDS, json.dumps(commands)], ["-m", "pytest", "-n0", "-q", *tests]):
        code, said = _run(tmp_path, *arguments)
        assert code == 0, said


def _together(commands: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    """Return the commands of `manage.py`, each once, and all tests."""
    found: list[list[str]] = []
    tests: list[str] = []
    for command in commands:
        start, *arguments = shlex.split(command.removeprefix("uv run "))
        if start == "pytest":
            tests += arguments
        elif arguments not in found:
            assert start == "manage.py", command
            found.append(arguments)
    return sorted(found, key=_before_others), list(dict.fromkeys(tests))


def _before_others(command: list[str]) -> int:
    """Order commands: all recipes are applied at once, so catalogues are compiled once all are written."""
    return ["makemigrations", "sync_skills", "makemessages", "compilemessages"].index(command[0])


def _copy(target: Path) -> None:
    # With its bytecode: compiling everything again takes longer than the tests. Other workers write some now.
    half_written = shutil.ignore_patterns("*.pyc.*")
    for name in COPIED:
        shutil.copytree(PROJECT / name, target / name, ignore=half_written)
    for name in ("manage.py", "pyproject.toml"):
        shutil.copy(PROJECT / name, target / name)


def _run(folder: Path, *arguments: str) -> tuple[int, str]:
    environment = {key: value for key, value in blank_environment().items() if not key.startswith("PYTEST")}
    # The copy's tests start their own database, as on a new machine.
    environment |= {"SAGE_DATA_DIR": str(folder / "data"), "DATABASE_URL": os.environ["DATABASE_URL"]}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr
