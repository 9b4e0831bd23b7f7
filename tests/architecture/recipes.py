"""The recipes of docs/recipes: their blocks, changes and tables, applied to the project's files in memory."""

import ast
import re
from collections.abc import Mapping

from tests.architecture.parsing import parse
from tests.sage.processes import PROJECT

RECIPES = PROJECT / "docs" / "recipes"
BLOCK = re.compile(
    r"```(python|markdown|html|diff)\n(?:# |<!-- )(\S+\.\w+)(?: -->)?\n(.*?)^```", re.DOTALL | re.MULTILINE
)
ROW = re.compile(r"^\| `([^`]+)` \| `?([^|`]+)`? \| `([^`]+)` \|$", re.MULTILINE)
COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)


def read_recipes() -> str:
    return "".join(page.read_text() for page in sorted(RECIPES.glob("*.md")))


def commands_of(recipes: str) -> list[str]:
    return "".join(COMMANDS.findall(recipes)).splitlines()


def applied(recipes: str) -> Mapping[str, str]:
    """Return the files that recipes write or change, by path, with their new texts.

    Fails for a change or a row whose place isn't there.
    """
    blocks, rows = BLOCK.findall(recipes), ROW.findall(recipes)
    assert len(blocks) == len(re.findall(r"^```(?!sh$)\w", recipes, re.MULTILINE))
    assert len(rows) == recipes.count("\n| `")
    files: dict[str, str] = {}
    for kind, name, text in blocks:
        files[name] = _changed(_text_of(name, files), text, name) if kind == "diff" else text
    for name, place, added in rows:
        files[name] = _with(_text_of(name, files), place, added)
    return files


def _text_of(name: str, files: Mapping[str, str]) -> str:
    return files[name] if name in files else (PROJECT / name).read_text()


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
