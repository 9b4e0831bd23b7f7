"""MCP's own inspector by its command line: over HTTP with a token, and over standard streams.

npm installs it (`tests/mcp/inspector`) in the long form, or if SAGE_TEST_REQUIRE names it. Otherwise these
tests run where that has happened before.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.models import ActionItem, ActionState, Capture
from coaching.tools import PROGRAM_TOOLS
from sessions_app.database import in_database
from tests import npm
from tests.conftest import MakeUser
from tests.groups import is_required, require
from tests.live_sage import LiveSage, url_of_test_database
from tests.mcp.lives import fill, token_of
from tests.sage.processes import PROJECT
from tests.thoroughness import IS_LONG

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

LISTS = Path(__file__).parent / "inspector"
NEED = "inspector"
SECRET = "quartz"
SECONDS = 60
"""For a process of the inspector, which takes one when nothing else runs."""
NO_ACCESS, TOOL_FAILED = 3, 5
"""What the inspector exits with."""

Call = Callable[..., Coroutine[Any, Any, tuple[int, Any]]]


@pytest.fixture(scope="module")
def inspector() -> Path:
    """The program, which Node.js runs."""
    require(NEED, shutil.which("npm") is not None, "npm, which comes with Node.js")
    is_wanted = IS_LONG or is_required(NEED) or npm.installed_at(LISTS, name=NEED).exists()
    require(NEED, is_wanted, "MCP's inspector, which SAGE_TEST_LONG=1 installs")
    try:
        return npm.install(LISTS, name=NEED) / "node_modules" / ".bin" / "mcp-inspector"
    except subprocess.CalledProcessError as error:
        require(NEED, False, f"packages that npm couldn't install: {error.stderr}")
        raise


@pytest.fixture
def run(inspector: Path, tmp_path: Path) -> Call:
    """Run the inspector in a home folder of its own; return its exit code and what it printed."""
    environment = {**os.environ, "HOME": str(tmp_path)}

    async def run_it(*words: str) -> tuple[int, Any]:
        process = await asyncio.create_subprocess_exec(
            "node",
            str(inspector),
            "--cli",
            "--quiet",
            *words,
            cwd=PROJECT,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            printed, errors = await asyncio.wait_for(process.communicate(), SECONDS)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode is not None
        return process.returncode, json.loads(printed or errors.splitlines()[-1])

    return run_it


@pytest.fixture
def ada(make_user: MakeUser) -> User:
    return make_user("ada")


async def use_all(run: Call, start: tuple[str, ...], user: User) -> None:
    """List, read, search, capture and suggest, each in a process of its own."""

    async def text_of(tool: str, argument: str) -> str:
        call = ("--method", "tools/call", "--tool-name", tool, "--tool-arg", argument)
        code, result = await run(*start, *call)
        assert code == 0, result
        return str(result["content"][0]["text"])

    async with asyncio.TaskGroup() as group:
        listing = group.create_task(run(*start, "--method", "tools/list", "--strict"))
        read = group.create_task(text_of("read_file", "path=life-map/career.md"))
        found = group.create_task(text_of("recall_context", "query=When does the lease end?"))
        kept = group.create_task(text_of("keep_capture", "text=From the inspector"))
        suggested = group.create_task(text_of("create_action_item", "title=Sell the house"))
    code, listed = listing.result()
    assert code == 0, "every client can read the tools' schemas"
    assert {tool["name"] for tool in listed["tools"]} == PROGRAM_TOOLS.keys()
    assert SECRET in read.result()
    assert SECRET in found.result()
    assert json.loads(kept.result())["kept"] is True
    item = await in_database(ActionItem.of(user.pk).get, id=json.loads(suggested.result())["id"])
    assert (item.title, item.state) == ("Sell the house", ActionState.PROPOSED)
    assert await in_database(Capture.of(user.pk).count) == 1


async def test_it_uses_sage_over_http_with_a_token(live_sage: LiveSage, ada: User, run: Call) -> None:
    await in_database(fill, ada, SECRET)
    token = await in_database(token_of, ada, "capture", "read", "write")
    address = (f"{live_sage.origin}/mcp", "--transport", "http")
    start = (*address, "--header", f"Authorization: Bearer {token}")
    await use_all(run, start, ada)
    missing = ("--tool-name", "read_file", "--tool-arg", "path=nowhere.md")
    code, result = await run(*start, "--method", "tools/call", *missing)
    assert (code, result["isError"]) == (TOOL_FAILED, True)
    code, result = await run(*address, "--stored-auth-only", "--method", "tools/list")
    assert (code, result["error"]["code"]) == (NO_ACCESS, "auth_required")


async def test_it_uses_sage_over_standard_streams(ada: User, run: Call) -> None:
    await in_database(fill, ada, SECRET)
    variables = {"DATABASE_URL": url_of_test_database(), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    given = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
    await use_all(run, (*given, sys.executable, "manage.py", "mcp", "--user", "ada"), ada)
