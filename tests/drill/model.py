"""The drill's model in a process of its own: the practice model, whose answers to people are known words.

`[d17]` in a message is its key. The answer is `d17w0 d17w1 …`, in two rounds around a saved file if the
message says `[d17 save]`. All other requests (titles, briefs, second looks, documents) are answered as usual.
"""

import argparse
import asyncio
import re
from collections.abc import Sequence
from typing import Any

from coaching.practice.api.exchange import last_user_text
from coaching.practice.coach.tour import answer as coach
from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from tests.faults.planned_model import rounds_before

FIRST_WORD_SECONDS = 0.4
TOKENS_PER_SECOND = 50.0
WORDS = 60
WORDS_BEFORE_SAVE = 10
_KEY = re.compile(r"\[(d\d+)( save)?\]")


def words_of(key: str) -> list[str]:
    """Return the words of the whole answer to the message with that key."""
    return [f"{key}w{number}" for number in range(WORDS)]


def said_with(key: str, *, is_saving: bool) -> str:
    """Return a message that gets the answer of that key."""
    return f"[{key}{' save' if is_saving else ''}] This week was full, and I want to plan the next one."


def answer(body: dict[str, Any]) -> Reply:
    """Return the known words if the newest message of a conversation has a key."""
    found = _KEY.findall(last_user_text(body)) if body.get("tools") else []
    if not found:
        return coach(body)
    key, save = found[-1]
    words = words_of(key)
    if not save:
        return Reply.of(" ".join(words))
    if rounds_before(body):
        return Reply.of(" ".join(words[WORDS_BEFORE_SAVE:]))
    values = {"file_type": "domain", "file_name": "career", "content": f"# Career\n\nSaid in {key}."}
    return Reply.of(" ".join(words[:WORDS_BEFORE_SAVE]), ToolUse("save_file", values))


async def serve(port: int) -> None:
    """Serve until the process is ended."""
    options = {"tokens_per_second": TOKENS_PER_SECOND, "first_token_seconds": FIRST_WORD_SECONDS}
    async with PracticeServer(port=port, answer=answer, **options):
        await asyncio.Event().wait()


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the port and serve."""
    parser = argparse.ArgumentParser(prog="python -m tests.drill.model")
    parser.add_argument("--port", type=int, required=True)
    asyncio.run(serve(parser.parse_args(arguments).port))


if __name__ == "__main__":
    main()
