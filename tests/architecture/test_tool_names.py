"""A tool is named in `coaching/tools` alone: what it means to other packages, it brings along itself.

Skills and the practice model, which stand for people and for the model, name tools as they like. So does the
parser of old replies, whose blocks stand for calls. Migrations stay as they were written.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from coaching.tools import TOOL_NAMES
from tests.architecture.parsing import parse
from tests.sage.processes import PROJECT

PACKAGES = ("coaching", "sage", "sessions_app")
NAMES_TOOLS = tuple(
    PROJECT / "coaching" / name for name in ("tools", "practice", "legacy_text", "migrations")
)
NAMED = re.compile(rf"\b({'|'.join(TOOL_NAMES)})\b")


def python_files() -> Iterator[Path]:
    for package in PACKAGES:
        for path in (PROJECT / package).rglob("*.py"):
            if not any(path.is_relative_to(folder) for folder in NAMES_TOOLS):
                yield path


def literals_in(source: str) -> Iterator[ast.Constant]:
    """Yield the text literals, without those that stand for themselves: docstrings."""
    tree = parse(source)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node


@pytest.mark.slow
def test_no_text_outside_the_tools_names_one() -> None:
    found = [
        f"{path.relative_to(PROJECT)}:{literal.lineno}: {name[0]}"
        for path in python_files()
        if NAMED.search(text := path.read_text())
        for literal in literals_in(text)
        if (name := NAMED.search(str(literal.value)))
    ]
    assert not found, "\n".join(found)


def test_no_page_names_a_tool() -> None:
    paths = [*(PROJECT / "templates").rglob("*.html"), *(PROJECT / "static").rglob("*.[jc]s*")]
    assert len(paths) > 50
    assert not [path for path in paths if NAMED.search(path.read_text())]
