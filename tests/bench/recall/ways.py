"""The ways in which a search is asked for, from the question to the answer's text."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

from coaching.tools.recall_context import RECALL_CONTEXT
from sessions_app.models import Session
from tests.sage.processes import PROJECT
from tests.tools.committing_context import CommittingContext

HITS = 10

Ask = Callable[[int, str], int]
"""Asks a user's history and returns how many hits there are."""


@contextmanager
def lines_of_a_command() -> Iterator[Ask]:
    """Ask `manage.py recall --stdin`, a line for each question."""
    command = [sys.executable, "manage.py", "recall", "--stdin"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=PROJECT, env=os.environ, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        source, sink = process.stdout, process.stdin

        def ask(user_id: int, question: str) -> int:
            sink.write(json.dumps({"user": user_id, "query": question, "limit": HITS}) + "\n")
            sink.flush()
            return len(json.loads(source.readline()))

        yield ask
        sink.close()


@contextmanager
def tool_calls() -> Iterator[Ask]:
    """Run the tool `recall_context` in a conversation that has just begun."""
    sessions: dict[int, Session] = {}
    with asyncio.Runner() as runner:

        def ask(user_id: int, question: str) -> int:
            if user_id not in sessions:
                sessions[user_id] = Session.of(user_id).create()
            return runner.run(_call(user_id, sessions[user_id].id, question))

        yield ask


async def _call(user_id: int, session_id: UUID, question: str) -> int:
    context = CommittingContext(user_id=user_id, session_id=session_id)
    given = RECALL_CONTEXT.parse(json.dumps({"query": question, "limit": HITS}))
    result = await RECALL_CONTEXT.run(context, given)
    return len(json.loads(result.content)["hits"])
