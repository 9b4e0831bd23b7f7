"""The contract of every tool: one run each, for a user with some data."""

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.context.budget import count_tokens
from coaching.engine.errors import ToolError
from coaching.engine.messages import canonical_json, shorten_saved
from coaching.files.after_effects import AFTER_EFFECTS, OUTLASTING
from coaching.library.clients import own_client
from coaching.tools import CHAT_TOOLS, TOOLS, waiting
from coaching.tools.presentation import SageTool
from coaching.tools.tainted import TREATMENTS
from coaching.tools.tiers import CHAT
from sessions_app.database import in_database
from sessions_app.models import SessionKind
from sessions_app.services import open_session
from tests.library.rows import make_document
from tests.tools.committing_context import CommittingContext
from tests.tools.finished_calls import store_result

OWN = 1
"""Stands for the id of the client that is the user, or of a document."""

# Every tool, in the order of the prompt; a new one goes to the end.
INPUTS: dict[str, dict[str, Any]] = {
    "save_file": {
        "file_type": "domain",
        "file_name": "career",
        "content": "# Career\n\nBusy, and fine.",
        "attributes": {"status": "good", "updated_rating": 4},
    },
    "read_file": {"path": "life-map/_overview.md"},
    "complete_session": {"type": "session", "summary": "We looked at work."},
    "enter_structured_arc": {"arc": "open_day"},
    "show_options": {
        "prompt": "How was it?",
        "options": [{"label": "Good"}, {"label": "So-so", "value": "ok"}],
    },
    "show_pulse_check": {"context": "How does each area feel?", "domains": ["career", "health"]},
    "load_skill": {"name": "decision-helper"},
    "read_result": {"tool_use_id": "toolu_9", "offset": 6_000},
    "recall_context": {"query": "What did I decide about work?", "since": "2026-01-01", "limit": 3},
    "show_help_lines": {"reason": "concern"},
    "search_knowledge_bank": {"query": "When does my lease end?"},
    "check_duplicate": {"file_name": "lease (2).pdf", "file_type": "lease"},
    "get_client_context": {"client_id": OWN},
    "search_clients": {"query": "me"},
    "list_documents": {"client_id": OWN, "folder": "Leases"},
    "list_action_items": {"status": "open"},
    "create_knowledge_entry": {
        "client_id": OWN,
        "title": "Lease",
        "content": "It ends in March.",
        "key_points": ["Ends in March"],
        "tags": ["lease"],
    },
    "create_action_item": {"title": "Call the landlord", "due_date": "2027-03-01", "priority": "high"},
    "lookup_reference": {"query": "payslip", "tags": ["work"]},
    "list_references": {"category": "health"},
    "resolve_placement": {"file_type": "lease", "category": "leases", "client_type": "company"},
    "classify_document": {"document_id": OWN},
    "summarize_document": {"document_id": OWN},
    "analyze_transcript": {"document_id": OWN},
}
LIBRARY_TOKENS = 2_000
"""What the definitions of the library's tools may take together."""
# The user's answers to interactive tools.
ANSWERS: dict[str, Any] = {
    "show_options": "ok",
    "show_pulse_check": {"ratings": {"health": 4}},
    "create_knowledge_entry": {"accept": True},
    "create_action_item": {"accept": True, "input": {"due_date": "2027-03-02"}},
}


def test_the_definitions_of_the_librarys_tools_are_short() -> None:
    first = CHAT_TOOLS.names().index("search_knowledge_bank")
    library = CHAT_TOOLS.definitions()[first:]
    assert sum(count_tokens(canonical_json(definition)) for definition in library) <= LIBRARY_TOKENS


def test_the_order_is_fixed() -> None:
    assert CHAT_TOOLS.names() == tuple(INPUTS)


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
    written = json.dumps(definition, ensure_ascii=False)
    assert written.isascii()
    assert '"null"' not in written, "what may be left out needs no null"
    assert '"title": "' not in written
    assert len(json.dumps(definition)) < 12_000


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("synced_references")
@pytest.mark.parametrize("name", CHAT_TOOLS.names())
async def test_a_tool_runs_once_and_answers(
    name: str, disk_storage: object, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "WAIT_SECONDS", 0.0)  # no worker runs here
    seed = CHAT_TOOLS.get("save_file")
    assert seed is not None
    session = await in_database(open_session, user_id=user.pk, kind=SessionKind.OPEN_CONVERSATION)
    await seed.run(
        CommittingContext(user_id=user.pk), seed.parse('{"file_type": "overview", "content": "Seed"}')
    )
    await in_database(store_result, session, "Read before. " * 1_000)
    tool = CHAT_TOOLS.get(name)
    assert tool is not None
    own = await in_database(own_client, user.pk)
    document = await in_database(make_document, own, text="Ada: I'll call Ben.")
    ids = {"client_id": own.id, "document_id": document.pk}
    values = {key: ids.get(key, value) for key, value in INPUTS[name].items()}
    given = tool.parse(json.dumps(values))
    context = CommittingContext(user_id=user.pk, session_id=session.id, tool_use_id="toolu_2")
    if tool.answer is None:
        result = await tool.run(context, given)
    else:
        result = (await in_database(tool.answer, context, given, ANSWERS[name])).result
    assert not result.is_error
    assert result.content
    assert (tool.kind in CHAT.waiting_kinds) == (name in ANSWERS)


@pytest.mark.parametrize("tool", TOOLS, ids=CHAT_TOOLS.names())
def test_people_read_what_a_tool_did_and_what_it_asks(tool: SageTool[Any]) -> None:
    shown = tool.presentation
    assert "{" not in shown.once + shown.often.format(count=2) + shown.activity
    asks = tool.kind in CHAT.waiting_kinds or TREATMENTS[tool.name] != "free"
    assert (shown.question(INPUTS[tool.name]).kind != "other") == asks
    odd: list[dict[str, Any]] = [dict.fromkeys(INPUTS[tool.name], value) for value in (None, [{}, 1, None])]
    for broken in [{}, *odd]:
        shown.question(broken)


def test_the_table_says_of_every_tool_what_it_may_do_after_texts_of_others() -> None:
    assert list(TREATMENTS) == [tool.name for tool in TOOLS]
    assert {tool.name for tool in TOOLS if tool.kind in CHAT.waiting_kinds} <= {
        name for name, treatment in TREATMENTS.items() if treatment == "confirm" or name.startswith("show_")
    }
    assert TREATMENTS["show_help_lines"] == "free"
    for tool in TOOLS:
        assert (tool.changes is not None) == (TREATMENTS[tool.name] == "undo")


def test_each_type_of_file_with_effects_says_whether_they_outlast_it() -> None:
    assert set(OUTLASTING) == set(AFTER_EFFECTS)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", [tool.name for tool in TOOLS if tool.kind != "instant"])
async def test_a_tool_that_needs_a_conversation_says_so_where_there_is_none(name: str, user: User) -> None:
    tool = CHAT_TOOLS.get(name)
    assert tool is not None
    with pytest.raises(ToolError, match="conversation"):
        await tool.run(CommittingContext(user_id=user.pk), tool.parse(json.dumps(INPUTS[name])))


def test_the_text_of_a_saved_file_is_not_sent_again() -> None:
    sent = shorten_saved("save_file", INPUTS["save_file"], CHAT_TOOLS.saved_fields, is_error=False)
    assert sent == INPUTS["save_file"] | {"content": "[saved: 25 chars]"}


def test_a_field_that_may_be_left_out_may_also_be_null() -> None:
    """The schema doesn't say so, but models write it all the same."""
    tool = CHAT_TOOLS.get("save_file")
    assert tool is not None
    nothing = {"file_type": "overview", "content": "All", "file_name": None, "attributes": {"status": None}}
    assert tool.parse(json.dumps(nothing)).file_name is None
