"""No child process of Sage inherits its environment, which contains the keys."""

import ast
from pathlib import Path

import pytest

from tests.architecture.parsing import parse
from tests.sage.processes import PROJECT

MODULES = {"subprocess", "asyncio", "os"}
STARTERS = {"run", "Popen", "call", "check_call", "check_output", "create_subprocess_exec"}
FORKS = PROJECT / "coaching/sandbox/template.py"
"""It was started with a minimal environment."""
FORBIDDEN = {"system", "popen", "fork", "posix_spawn", "create_subprocess_shell", "ProcessPoolExecutor"}


def _calls(path: Path) -> list[tuple[str, ast.Call]]:
    text = path.read_text()
    if not any(f"{module}." in text for module in MODULES):
        return []
    return [
        (node.func.attr, node)
        for node in ast.walk(parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if isinstance(node.func.value, ast.Name) and node.func.value.id in MODULES
    ]


@pytest.mark.slow
def test_every_process_is_given_an_environment_of_its_own() -> None:
    files = [path for name in ("sage", "coaching", "sessions_app") for path in (PROJECT / name).rglob("*.py")]
    calls = [(path, name, call) for path in files for name, call in _calls(path)]
    started = [
        (path, call)
        for path, name, call in calls
        if name in STARTERS and not (name == "run" and ast.unparse(call.func) == "asyncio.run")
    ]
    assert len(started) >= 3
    for path, call in started:
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        assert given.get("env") in {"child_environment()", "worker_environment()"}, f"{path}:{call.lineno}"
    forbidden = [(path, name, call.lineno) for path, name, call in calls if name in FORBIDDEN]
    assert [found for found in forbidden if found[:2] != (FORKS, "fork")] == []
