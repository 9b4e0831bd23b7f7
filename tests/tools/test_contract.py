"""The contract that every tool keeps: one run each, on a user who has something already."""

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.engine.tools import ToolResult
from coaching.tools import CHAT_TOOLS
from coaching.tools.context import ToolContext
from tests.tools.committing_context import CommittingContext

# A new tool without a row here fails.
INPUTS: dict[str, dict[str, Any]] = {
    "save_file": {
        "file_type": "domain",
        "file_name": "career",
        "content": "# Career\n\nBusy, and fine.",
        "attributes": {"status": "good", "updated_rating": 4},
    },
    "read_file": {"path": "life-map/_overview.md"},
}


def test_every_tool_has_an_input_to_be_tried_with() -> None:
    assert set(INPUTS) == set(CHAT_TOOLS.names())


def test_the_order_is_fixed_and_the_definitions_are_the_same_bytes_each_time() -> None:
    assert CHAT_TOOLS.names() == ("save_file", "read_file")
    assert json.dumps(CHAT_TOOLS.definitions()) == json.dumps(CHAT_TOOLS.definitions())


@pytest.mark.parametrize("name", CHAT_TOOLS.names())
def test_a_definition_is_fit_for_the_api(name: str) -> None:
    tool = CHAT_TOOLS.get(name)
    assert tool is not None
    definition = tool.definition()
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", definition["name"])
    assert len(definition["description"]) > 150
    schema = definition["input_schema"]
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    json.dumps(definition).encode("ascii")
    assert len(json.dumps(definition)) < 12_000


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", CHAT_TOOLS.names())
async def test_a_tool_runs_once_and_answers(name: str, disk_storage: object, user: User) -> None:
    seed = CHAT_TOOLS.get("save_file")
    assert seed is not None
    context: ToolContext = CommittingContext(user_id=user.pk)
    await seed.run(context, seed.parse('{"file_type": "overview", "content": "Seed"}'))
    tool = CHAT_TOOLS.get(name)
    assert tool is not None
    given = tool.parse(json.dumps(INPUTS[name]))
    result = await tool.run(CommittingContext(user_id=user.pk, tool_use_id="toolu_2"), given)
    assert isinstance(result, ToolResult)
    assert not result.is_error
    assert result.content
    assert tool.kind in {"instant", "lifecycle", "interactive", "confirm"}
    key = tool.conflict_key(given)
    assert key is None or isinstance(key, str)
