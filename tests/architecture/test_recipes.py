"""The recipes of docs/recipes, applied unchanged to a copy of the project, work."""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.architecture.parsing import parse
from tests.groups import require
from tests.sage.processes import PROJECT, blank_environment

RECIPES = PROJECT / "docs" / "recipes"
COPIED = ("coaching", "docs", "locale", "sage", "sessions_app", "skills", "static", "templates", "tests")
BLOCK = re.compile(
    r"```(python|markdown|html|diff)\n(?:# |<!-- )(\S+\.\w+)(?: -->)?\n(.*?)^```", re.DOTALL | re.MULTILINE
)
ROW = re.compile(r"^\| `([^`]+)` \| `?([^|`]+)`? \| `([^`]+)` \|$", re.MULTILINE)
COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_every_recipe_works_as_it_is_written(tmp_path: Path) -> None:
    require("gettext", bool(shutil.which("msgfmt")), "GNU gettext")
    _copy(tmp_path)
    recipes = "".join(page.read_text() for page in sorted(RECIPES.glob("*.md")))
    _apply(recipes, tmp_path)
    commands = "".join(COMMANDS.findall(recipes)).splitlines()
    for command in _together(commands):
        code, said = _run(tmp_path, *command)
        assert code == 0, said


def _apply(recipes: str, folder: Path) -> None:
    """Write and change the files of all recipes."""
    blocks, rows = BLOCK.findall(recipes), ROW.findall(recipes)
    assert len(blocks) == len(re.findall(r"^```(?!sh$)\w", recipes, re.MULTILINE))
    assert len(rows) == recipes.count("\n| `")
    for kind, name, text in blocks:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(_changed(path.read_text(), text, name) if kind == "diff" else text)
    for name, place, added in rows:
        path = folder / name
        path.write_text(_with(path.read_text(), place, added))


def _together(commands: Sequence[str]) -> list[list[str]]:
    """Return the arguments of Python that do the same as commands: each once, and all tests in one run."""
    found: list[list[str]] = []
    tests: list[str] = []
    for command in commands:
        start, *arguments = shlex.split(command.removeprefix("uv run "))
        if start == "pytest":
            tests += arguments
        elif ["manage.py", *arguments] not in found:
            assert start == "manage.py", command
            found.append(["manage.py", *arguments])
    return [*sorted(found, key=_before_others), ["-m", "pytest", "-n0", "-q", *dict.fromkeys(tests)]]


def _before_others(command: list[str]) -> int:
    """Order commands: all recipes are applied at once, so catalogues are compiled once all are written."""
    return ["makemigrations", "sync_skills", "makemessages", "compilemessages"].index(command[1])


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


def _changed(text: str, change: str, name: str) -> str:
    """Return a file's text with a change: lines to add, to remove, and lines around them."""
    lines = [(line[:1], line[1:]) for line in change.splitlines()]
    old = "".join(f"{line}\n" for sign, line in lines if sign != "+")
    new = "".join(f"{line}\n" for sign, line in lines if sign != "-")
    assert text.count(old) == 1, f"in {name}, {text.count(old)} places are:\n{old}"
    return text.replace(old, new)


def _with(text: str, place: str, added: str) -> str:
    """Return a file's text with `added` at the end of a place: imports, a class, a literal, or some text."""
    lines = text.splitlines(keepends=True)
    if place == "imports":
        last = [node for node in parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)][-1]
        return "".join([*lines[: last.end_lineno], added + "\n", *lines[last.end_lineno or 0 :]])
    if " " in place and not place.endswith(" import"):
        assert place in text, f"{place} isn't there"
        return text.replace(place, f"{place} {added}", 1)
    found = _node(parse(text), place)
    assert found.end_lineno
    assert found.end_col_offset
    if isinstance(found, ast.ClassDef):
        return "".join([*lines[: found.end_lineno], f"    {added}\n", *lines[found.end_lineno :]])
    at = sum(len(line.encode()) for line in lines[: found.end_lineno - 1]) + found.end_col_offset - 1
    head, tail = text.encode()[:at].decode(), text.encode()[at:].decode()
    comma = "" if head.rstrip().endswith(",") else ","
    return f"{head.rstrip()}{comma} {added},\n{tail}"


def _node(tree: ast.Module, place: str) -> ast.ClassDef | ast.ImportFrom | ast.expr:
    """Find a class, an import of several names, or the literal assigned to a name or to one of its keys."""
    name, _, key = place.rstrip("]").partition("[")
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom) and f"from {node.module} import" == name:
            return node
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if ast.unparse(target) != name:
            continue
        value = node.value.args[-1] if isinstance(node.value, ast.Call) else node.value
        if not key:
            return value
        assert isinstance(value, ast.Dict)
        keys = [ast.unparse(item) for item in value.keys if item]
        return value.values[keys.index(key)]
    raise AssertionError(f"{place} isn't there")
