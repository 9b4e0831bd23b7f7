"""Talks with the scripted coach."""

from typing import Any

import orjson
from anthropic import AsyncAnthropic

from coaching.practice.script import Reply, Text
from tests.practice.conftest import SAVE_FILE, assistant, request_body, result, user

JOB = "I've been feeling stuck in my job and I don't know if I should leave."

SLEEP = "My boss never listens. I'm tired all the time and I sleep badly since we moved."


class Talk:
    """A conversation with the coach through the SDK; saves succeed unless `failure` is set."""

    def __init__(self, client: AsyncAnthropic, *tools: Any) -> None:
        self.client = client
        self.body = request_body(tools=list(tools or [SAVE_FILE]), thinking={"type": "between_tools"})
        self.body["messages"] = []
        self.calls: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.failure = ""
        self.files: dict[str, str] = {}

    async def say(self, words: str) -> str:
        """Say something, run the calls, and return the coach's words."""
        self.calls, self.notes = [], []
        self.body["messages"].append(user(words))
        while True:
            message = await self.client.messages.create(**self.body)
            blocks = [block.model_dump(mode="json", exclude_none=True) for block in message.content]
            self.body["messages"].append(assistant(*blocks))
            self.notes += [block["thinking"] for block in blocks if block["type"] == "thinking"]
            calls = [block for block in blocks if block["type"] == "tool_use"]
            if not calls:
                return "\n".join(block["text"] for block in blocks if block["type"] == "text")
            self.calls += calls
            self.body["messages"].append(user(*map(self._run, calls)))

    def _run(self, block: dict[str, Any]) -> dict[str, Any]:
        values = block["input"]
        if block["name"] == "read_file":
            if values["path"] not in self.files:
                return result(block["id"], "There is no such file.", is_error=True)
            return result(
                block["id"],
                f'<file path="{values["path"]}" version="1">\n{self.files[values["path"]]}</file>',
            )
        if self.failure:
            return result(block["id"], self.failure, is_error=True)
        path = f"life-map/{values['file_name']}.md" if "file_name" in values else "sage/context.md"
        self.files[path] = values["content"]
        answer = {"success": True, "path": path, "bytes": len(values["content"]), "version": 1}
        return result(block["id"], orjson.dumps(answer).decode())


def words_of(reply: Reply) -> str:
    return "\n".join(block.text for block in reply.blocks if isinstance(block, Text))
