"""Finds the regular expressions of the product in its syntax trees."""

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("coaching", "sage", "sessions_app")
FUNCTIONS = frozenset(
    {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
)
FLAGS = ("re.IGNORECASE", "re.MULTILINE", "re.DOTALL", "re.ASCII", "re.UNICODE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A call of `re`. `name` is what a module calls the pattern, or the call as it is written."""

    module: str
    name: str
    method: str
    pattern: ast.expr
    flags: str

    @property
    def key(self) -> str:
        """What it is listed under."""
        return f"{self.module}: {self.name}"

    def compiled(self, variables: Mapping[str, Any]) -> re.Pattern[Any]:
        """Return the pattern. `variables` are those of the function that makes it."""
        names = vars(importlib.import_module(self.module.removesuffix(".py").replace("/", ".")))
        source = f"re.compile({ast.unparse(self.pattern)}, {self.flags or 0})"
        found: re.Pattern[Any] = eval(source, {**names, **variables, "re": re})
        return found

    @property
    def methods(self) -> frozenset[str]:
        """By which methods it sees text."""
        if self.method != "compile":
            return frozenset({self.method})
        inside, outside = methods_of()
        return inside.get((self.module, self.name), frozenset()) | (
            frozenset() if self.name.startswith("_") else outside.get(self.name, frozenset())
        )


@cache
def sites() -> Sequence[Site]:
    """Return every call of `re` that takes a pattern."""
    return list(_sites())


def _sites() -> Iterator[Site]:
    for path, text in texts().items():
        if "import re\n" not in text:
            continue
        nodes = list(ast.walk(tree_of(path)))
        names = {
            id(node.value): ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            for node in nodes
            if isinstance(node, ast.Assign | ast.AnnAssign)
            and node.value is not None
            and _is_call(node.value)
        }
        for node in nodes:
            if _is_call(node) and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                method = node.func.attr
                yield Site(
                    module=path,
                    name=names.get(id(node), f"re.{method}({ast.unparse(node.args[0])})")
                    if method == "compile"
                    else f"re.{method}({ast.unparse(node.args[0])})",
                    method=method,
                    pattern=node.args[0],
                    flags=_flags_of(node),
                )


def _is_call(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in FUNCTIONS
    )


def _flags_of(node: ast.Call) -> str:
    given = [*node.args[1:], *(keyword.value for keyword in node.keywords if keyword.arg == "flags")]
    found = [ast.unparse(each) for each in given if ast.unparse(each).startswith(FLAGS)]
    return found[0] if found else ""


@cache
def texts() -> Mapping[str, str]:
    """Return the product's modules."""
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if "migrations" not in path.parts
    }


@cache
def tree_of(path: str) -> ast.Module:
    """Return one of them, parsed: only those with a pattern are, when the tests are collected."""
    return ast.parse(texts()[path])


@cache
def methods_of() -> tuple[Mapping[tuple[str, str], frozenset[str]], Mapping[str, frozenset[str]]]:
    """Return by which methods patterns are used: by module and name, and by name in all modules."""
    inside: dict[tuple[str, str], set[str]] = defaultdict(set)
    outside: dict[str, set[str]] = defaultdict(set)
    for path in texts():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS - {"compile"}:
                name = node.value.attr if isinstance(node.value, ast.Attribute) else ast.unparse(node.value)
                inside[path, name].add(node.attr)
                outside[name].add(node.attr)
    return (
        {key: frozenset(found) for key, found in inside.items()},
        {name: frozenset(found) for name, found in outside.items()},
    )
