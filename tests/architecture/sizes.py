"""Finds modules and functions that are longer than `CONTRIBUTING.md` allows."""

import ast
from collections.abc import Iterator

MAX_MODULE_LINES = 300
MAX_FUNCTION_LINES = 40
REASON = "Over 300 lines, because "
"""So begins the sentence of a module's docstring that says why it is longer."""


def faults_in(source: str, tree: ast.Module) -> Iterator[str]:
    """Yield what is too long in a module, and a reason that it needs no more."""
    lines = source.count("\n")
    has_reason = gives_reason(ast.get_docstring(tree) or "")
    if lines > MAX_MODULE_LINES and not has_reason:
        yield f"{lines} lines, and no sentence “{REASON}…”"
    if lines <= MAX_MODULE_LINES and has_reason:
        yield f"{lines} lines need no “{REASON}…”"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = length_of(node)
            if length > MAX_FUNCTION_LINES:
                yield f"{node.name} has {length} lines"


def gives_reason(docstring: str) -> bool:
    """Return whether one of a docstring's sentences gives the reason."""
    before, found, after = " ".join(docstring.split()).partition(REASON)
    reason, stop, _ = after.partition(".")
    return bool(found and stop and reason.strip()) and (before == "" or before.endswith(". "))


def length_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return a function's lines from `def` on, without its decorators and its docstring."""
    last = function.end_lineno or function.lineno
    documented = 0
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        documented = (first.end_lineno or first.lineno) - first.lineno + 1
    return last - function.lineno + 1 - documented
