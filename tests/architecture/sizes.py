"""Finds modules and functions that are longer than `CONTRIBUTING.md` allows."""

import ast
from collections import deque
from collections.abc import Iterator

MAX_MODULE_LINES = 300
MAX_FUNCTION_LINES = 40
REASON = "Over 300 lines, because "
"""So begins the sentence of a module's docstring that says why it is longer."""
STATEMENTS = ("body", "handlers", "orelse", "finalbody", "cases")
"""The fields of a statement that hold others."""


def faults_in(source: str, tree: ast.Module) -> Iterator[str]:
    """Yield what is too long in a module, and a reason that it needs no more."""
    lines = source.count("\n")
    has_reason = gives_reason(ast.get_docstring(tree) or "")
    if lines > MAX_MODULE_LINES and not has_reason:
        yield f"{lines} lines, and no sentence “{REASON}…”"
    if lines <= MAX_MODULE_LINES and has_reason:
        yield f"{lines} lines need no “{REASON}…”"
    for function in _functions(tree):
        length = length_of(function)
        if length > MAX_FUNCTION_LINES:
            yield f"{function.name} has {length} lines"


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield functions, outer ones first. Expressions, most of a tree, hold none and aren't walked."""
    waiting: deque[ast.AST] = deque([tree])
    while waiting:
        node = waiting.popleft()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        for field in STATEMENTS:
            waiting.extend(getattr(node, field, ()))


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
