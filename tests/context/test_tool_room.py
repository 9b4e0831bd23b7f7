"""Room for the library's tools: with all definitions at their most, the context has its share of a prompt."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.context.budget import JSON_CHARACTERS, PROMPT_TOKENS, count_json_tokens, count_tokens
from coaching.context.prompt import BuiltPrompt, build_turn
from coaching.context.prompt_tools import PromptTools
from coaching.engine.messages import canonical_json
from coaching.models import Profile
from coaching.tools import CHAT_TOOLS, SKILL_TOOLS, TOOLS
from sessions_app.models import MessageRole, Session, Turn
from tests.context.conftest import put_file, text_blocks
from tests.messages import append_message

NOW = datetime(2026, 11, 18, 8, 0, tzinfo=UTC)
ALL_TOOLS_TOKENS = 5_000
LEAST_CONTEXT_TOKENS = 6_000


class AllTools(PromptTools[Any]):
    """The chat's tools with definitions like the library's, 5,000 tokens in all."""

    def definitions(self) -> list[dict[str, Any]]:
        own = super().definitions()
        library = {"name": "library", "description": "", "input_schema": {"type": "object"}}
        taken = sum(count_json_tokens(canonical_json(definition)) for definition in [*own, library])
        return [*own, library | {"description": "x" * int(JSON_CHARACTERS * (ALL_TOOLS_TOKENS - taken))}]


def built(user: User, tools: PromptTools[Any]) -> BuiltPrompt:
    session = Session.unscoped.create(user=user)
    turn = Turn.unscoped.create(session=session)
    append_message(session=session, turn=turn, role=MessageRole.USER, content="Hello")
    profile = Profile.unscoped.select_related("user").get(user=user)
    return build_turn(session, profile=profile, tools=tools, now=NOW)


def context_tokens(turn: BuiltPrompt) -> int:
    return sum(map(count_tokens, text_blocks({"messages": turn.request.messages})[:-1]))


@pytest.mark.django_db
def test_with_the_librarys_tools_the_context_has_its_share_and_keeps_to_it(person: User) -> None:
    tools = AllTools(
        TOOLS,
        skill_tools=SKILL_TOOLS,
        file_reader=CHAT_TOOLS.file_reader,
        danger_tool=CHAT_TOOLS.danger_tool,
        late_tools=CHAT_TOOLS.late_tools,
    )
    assert ALL_TOOLS_TOKENS - 5 <= tools.tokens <= ALL_TOOLS_TOKENS
    body = "A long day, and much to say about it.\n" * 2_500
    for path in ("sage/context.md", "sage/patterns.md", "life-map/_overview.md", "life-plan/current.md"):
        put_file(person, path, body)
    for day in range(8, 18):
        put_file(person, f"daily-logs/2026-11-{day:02}.md", body)
    turn = built(person, tools)
    frame = tools.tokens + sum(count_tokens(block["text"]) for block in turn.request.system)
    assert PROMPT_TOKENS - frame >= LEAST_CONTEXT_TOKENS
    assert LEAST_CONTEXT_TOKENS / 2 < context_tokens(turn) < PROMPT_TOKENS - frame
