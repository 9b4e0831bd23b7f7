"""No view holds a database connection while it waits: checked in the syntax of everything that serves
requests.
"""

import ast
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from django.contrib import auth
from django.contrib.sessions.backends.base import SessionBase
from django.db.models import Manager, Model, QuerySet

from tests.architecture.parsing import parse

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(
    [
        *(ROOT / "coaching" / "views").glob("*.py"),
        *(ROOT / "coaching" / "library" / "pages").glob("*.py"),
        *(ROOT / "coaching" / "sockets").glob("*.py"),
        *(path for path in (ROOT / "sage").glob("*.py") if path.name != "web_process.py"),
    ]
)
# Each of these queries in the request's thread, which keeps its connection while the view waits.
ASYNC_ORM = {
    name
    for owner in (QuerySet, Manager, Model, SessionBase, auth)
    for name in dir(owner)
    if name.startswith("a") and hasattr(owner, name.removeprefix("a"))
} | {"auser"}
MANAGERS = {"objects", "unscoped"}
THREAD_CALLS = {"sync_to_async", "database_sync_to_async", "async_to_sync"}


def names_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, alias.name) for alias in node.names)


def coroutines_in(tree: ast.AST) -> Iterator[ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef))


def awaited_orm(coroutine: ast.AsyncFunctionDef) -> Iterator[tuple[int, str]]:
    """Yield the async ORM methods that a coroutine awaits, and the managers that it uses."""
    for node in ast.walk(coroutine):
        if isinstance(node, ast.Await | ast.AsyncFor):
            value = node.value if isinstance(node, ast.Await) else node.iter
            yield from ((line, name) for line, name in names_in(value) if name in ASYNC_ORM)
        elif isinstance(node, ast.Attribute) and node.attr in MANAGERS:
            yield node.lineno, node.attr


def test_the_walk_finds_the_names_it_searches_for() -> None:
    assert {"aget", "acreate", "asave", "arefresh_from_db", "auser", "aget_user", "alogin"} <= ASYNC_ORM
    view = parse("async def view(request):\n    await request.auser()\n    Session.objects.get()")
    (coroutine,) = coroutines_in(view)
    assert {name for _, name in awaited_orm(coroutine)} == {"auser", "objects"}


@pytest.mark.slow
def test_no_view_middleware_or_socket_works_in_the_requests_thread_from_async_code() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in MODULES
        for line, name in names_in(parse(path))
        if name in THREAD_CALLS
    ]
    assert found == []


@pytest.mark.slow
def test_no_coroutine_asks_the_orm_itself() -> None:
    coroutines = chain.from_iterable(
        ((path, coroutine) for coroutine in coroutines_in(parse(path))) for path in MODULES
    )
    found = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path, coroutine in coroutines
        for line, name in awaited_orm(coroutine)
    ]
    assert found == []
