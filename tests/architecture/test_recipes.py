"""The recipes of docs/recipes, applied unchanged to a copy of the project, work."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.architecture.parsing import parse
from tests.sage.processes import PROJECT, blank_environment

COPIED = ("coaching", "sage", "sessions_app", "skills", "static", "templates", "tests")
BLOCK = re.compile(r"```(?:python|markdown)\n(?:# |<!-- )(\S+\.\w+)(?: -->)?\n(.*?)```", re.DOTALL)
ROW = re.compile(r"^\| `([^`]+)` \| `?([^|`]+)`? \| `([^`]+)` \|$", re.MULTILINE)
COMMANDS = (
    ("manage.py", "makemigrations", "-v0"),
    ("manage.py", "sync_skills", "--check"),
    ("-m", "pytest", "-n0", "-q", "tests/tools/test_contract.py", "tests/skills",
     "tests/files/test_permissions.py", "tests/files/test_paths.py",
     "tests/pages/test_why.py::test_every_section_has_a_name_for_people"),
)  # fmt: skip


def test_every_recipe_works_as_it_is_written(tmp_path: Path) -> None:
    recipes = "".join(page.read_text() for page in sorted((PROJECT / "docs/recipes").glob("*.md")))
    blocks, rows = BLOCK.findall(recipes), ROW.findall(recipes)
    assert len(blocks) == 3
    assert len(rows) == recipes.count("\n| `")
    _copy(tmp_path)
    for name, text in blocks:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    for name, place, added in rows:
        path = tmp_path / name
        path.write_text(_with(path.read_text(), place, added))
    for command in COMMANDS:
        code, said = _run(tmp_path, *command)
        assert code == 0, said
    assert list((tmp_path / "coaching/migrations").glob("*file_type*"))


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


def _with(text: str, place: str, added: str) -> str:
    """Return a file's text with `added` at the end of a place: imports, a class, a literal, or some text."""
    if place not in text and "[" not in place and place != "imports":
        raise AssertionError(f"{place} isn't there")
    if " " in place:
        return text.replace(place, f"{place} {added}", 1)
    lines = text.splitlines(keepends=True)
    tree = parse(text)
    if place == "imports":
        last = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)][-1]
        return "".join([*lines[: last.end_lineno], added + "\n", *lines[last.end_lineno or 0 :]])
    found = _node(tree, place)
    assert found.end_lineno
    assert found.end_col_offset
    if isinstance(found, ast.ClassDef):
        return "".join([*lines[: found.end_lineno], f"    {added}\n", *lines[found.end_lineno :]])
    at = sum(len(line.encode()) for line in lines[: found.end_lineno - 1]) + found.end_col_offset - 1
    head, tail = text.encode()[:at].decode(), text.encode()[at:].decode()
    comma = "" if head.rstrip().endswith(",") else ","
    return f"{head.rstrip()}{comma} {added},\n{tail}"


def _node(tree: ast.Module, place: str) -> ast.ClassDef | ast.expr:
    """Find a class, or the literal assigned to a name or to one of its keys."""
    name, _, key = place.rstrip("]").partition("[")
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
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
