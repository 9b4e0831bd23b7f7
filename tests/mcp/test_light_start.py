"""A start imports nothing of the SDK or of the provider: they come with the first request."""

import subprocess
import sys

import pytest

from tests.sage.processes import PROJECT

CHECK = """
import sys, django
SLOW = {"mcp", "mcp_types", "oauthlib", "starlette", "sse_starlette", "jwt"}
django.setup()
import sage.asgi, sage.urls, coaching.management.commands.mcp
print(sorted({name.partition(".")[0] for name in sys.modules} & SLOW))
"""


@pytest.mark.slow
def test_a_web_process_and_the_command_start_without_the_sdk() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHECK], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
