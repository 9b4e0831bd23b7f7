"""The contract of every tool: one run each, for a user with some data."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from pytest_django import Settings

from coaching.context.budget import count_json_tokens, count_tokens
from coaching.context.frame import build_frame
from coaching.engine.errors import ToolError, ToolInputError
from coaching.engine.messages import canonical_json, shorten_saved
from coaching.files.after_effects import AFTER_EFFECTS, OUTLASTING
from coaching.library.clients import own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.models import MadeBy, Profile
from coaching.tools import (
    ALL_TOOLS,
    CHAT_TOOLS,
    COMPACT_TOOLS,
    PIPELINE_TOOLS,
    PROGRAM_TOOLS,
    TOOLS,
    offered_tools,
    waiting,
)
from coaching.tools.decisions import Decision
from coaching.tools.policies import POLICIES
from coaching.tools.presentation import SageTool
from coaching.tools.read_file import READ_FILE
from coaching.tools.save_file import SAVE_FILE
from coaching.tools.show_options import SHOW_OPTIONS
from coaching.tools.tiers import CHAT, PROGRAM
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind
from sessions_app.session_services import open_session
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
    "create_action_item": {
        "title": "Call the landlord",
        "quote": "I'll call the landlord",
        "due_date": "2027-03-01",
        "due_time": "09:30",
        "repeats": "weekly",
    },
    "resolve_action_item": {
        "id": OWN,
        "state": "done",
        "quote": "I called the landlord",
        "outcome": "All settled.",
    },
    "forget_lines": {"words": ["landlord"]},
    "list_action_items": {"status": "open"},
    "search_knowledge_bank": {"query": "When does my lease end?"},
    "check_duplicate": {"file_name": "lease (2).pdf", "file_type": "lease"},
    "get_client_context": {"client_id": OWN},
    "search_clients": {"query": "me"},
    "list_documents": {"client_id": OWN, "folder": "Leases"},
    "create_knowledge_entry": {
        "client_id": OWN,
        "title": "Lease",
        "content": "It ends in March.",
        "key_points": ["Ends in March"],
        "tags": ["lease"],
    },
    "lookup_reference": {"query": "payslip", "tags": ["work"]},
    "list_references": {"category": "health"},
    "resolve_placement": {"file_type": "lease", "category": "leases", "client_type": "company"},
    "classify_document": {"document_id": OWN},
    "summarize_document": {"document_id": OWN},
    "analyze_transcript": {"document_id": OWN},
    "extract_facts": {"document_id": OWN},
    "refile_document": {"document_id": OWN, "file_type": "lease", "folder": "Leases"},
}
LIBRARY_TOKENS = 1_700
"""What the definitions of the library's tools may take together."""
SAVE_FILE_TOKENS = 500
EVERYBODYS_TOKENS = 5_500
"""What the base prompt and the tools may take for a person without documents."""
COMPACT_TOKENS = 2_300
"""The same with a small context, where a server's own count may be up to 3,000."""
# The user's answers to interactive tools.
ANSWERS: dict[str, Any] = {
    "show_options": "ok",
    "show_pulse_check": {"ratings": {"health": 4}},
    "create_knowledge_entry": {"accept": True},
    "refile_document": {"accept": True},
    "create_action_item": {"accept": True, "input": {"due_date": "2027-03-02"}},
    "resolve_action_item": {"accept": True},
}


def test_the_definitions_of_the_librarys_tools_are_short() -> None:
    library = CHAT_TOOLS.tokens - offered_tools(Profile()).tokens
    assert library <= LIBRARY_TOKENS


def test_a_file_is_saved_by_a_short_definition() -> None:
    assert count_json_tokens(canonical_json(SAVE_FILE.definition())) <= SAVE_FILE_TOKENS


@pytest.mark.django_db
def test_a_compact_prompt_is_very_short_and_offers_eight_tools(user: User, settings: Settings) -> None:
    settings.SAGE_CONTEXT_TOKENS = 8_192
    tools = offered_tools(Profile(user=user, has_library=True))
    frame = build_frame(Session(user=user, kind=SessionKind.OPEN_CONVERSATION), tools=tools)
    assert tools is COMPACT_TOOLS
    assert frame.tools == tools.definitions()
    assert sum(count_tokens(block["text"]) for block in frame.system) + tools.tokens <= COMPACT_TOKENS
    assert set(tools.names()) == {
        "save_file", "read_file", "recall_context", "show_options", "show_help_lines", "create_action_item",
        "resolve_action_item", "complete_session",
    }  # fmt: skip


@pytest.mark.parametrize("name", COMPACT_TOOLS.names())
def test_a_short_definition_names_fields_that_the_tool_has(name: str) -> None:
    [definition] = [each for each in COMPACT_TOOLS.definitions() if each["name"] == name]
    tool = CHAT_TOOLS.get(name)
    assert tool is not None
    whole = tool.definition()["input_schema"]
    assert set(definition["input_schema"]["properties"]) <= set(whole["properties"])
    assert definition["input_schema"].get("required", []) == whole.get("required", [])
    assert "Use it" in definition["description"]
    assert len(definition["description"]) < len(tool.definition()["description"])


@pytest.mark.django_db
def test_the_prompt_is_short_before_anybody_has_said_a_word(user: User) -> None:
    tools = offered_tools(Profile(user=user))
    frame = build_frame(Session(user=user, kind=SessionKind.OPEN_CONVERSATION), tools=tools)
    assert sum(count_tokens(block["text"]) for block in frame.system) + tools.tokens <= EVERYBODYS_TOKENS


def test_without_a_library_its_tools_are_left_out_and_nothing_else_changes() -> None:
    without, all_tools = (offered_tools(Profile(has_library=has)) for has in (False, True))
    assert all_tools is CHAT_TOOLS
    assert without.definitions() == all_tools.definitions()[: len(without)]
    left_out = set(all_tools.names()) - set(without.names())
    assert {"search_knowledge_bank", "list_documents", "create_knowledge_entry"} <= left_out
    assert not left_out & {"save_file", "create_action_item", "resolve_action_item", "show_help_lines"}


def test_the_order_is_fixed() -> None:
    always = offered_tools(Profile()).names()
    assert always == tuple(name for name in INPUTS if name in always)
    assert CHAT_TOOLS.names() == (*always, *(name for name in INPUTS if name not in always))


def test_definitions_stand_where_they_are_used_and_keep_the_limits_that_matter() -> None:
    options = SHOW_OPTIONS.definition()["input_schema"]["properties"]["options"]
    assert (options["minItems"], options["maxItems"]) == (2, 6)
    assert options["items"]["required"] == ["label"]
    written = canonical_json(CHAT_TOOLS.definitions())
    assert "$ref" not in written
    assert "$defs" not in written


def test_an_unknown_field_and_a_limit_that_the_schema_leaves_out_are_refused_by_name() -> None:
    with pytest.raises(ToolInputError, match=r"path: .*at most 255 .*; colour: Extra inputs"):
        READ_FILE.parse(json.dumps({"path": "a" * 300, "colour": "red"}))


@pytest.mark.parametrize("name", CHAT_TOOLS.names())
def test_a_definition_is_fit_for_the_api(name: str) -> None:
    tool = CHAT_TOOLS.get(name)
    assert tool is not None
    definition = tool.definition()
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", definition["name"])
    assert len(definition["description"]) > 150
    schema = definition["input_schema"]
    assert schema["type"] == "object"
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
    step = await in_database(
        propose,
        user_id=user.pk,
        new=NewAction(client_id=own.id, title="Call the landlord"),
        made_by=MadeBy.USER,
        is_accepted=True,
    )
    ids = {"client_id": own.id, "document_id": document.pk, "id": step.pk}
    values = {key: ids.get(key, value) for key, value in INPUTS[name].items()}
    given = tool.parse(json.dumps(values))
    context = CommittingContext(user_id=user.pk, session_id=session.id, tool_use_id="toolu_2")
    if tool.answer is None:
        result = await tool.run(context, given)
    else:
        result = (await in_database(transaction.atomic(tool.answer), context, given, ANSWERS[name])).result
    assert not result.is_error
    assert result.content
    assert (tool.kind in (*CHAT.waiting_kinds, "evidence")) == (name in ANSWERS)
    if tool.kind == "evidence":
        context = replace(
            context, tool_use_id="toolu_3", decision=Decision(asks=False, sentence="I'll call.")
        )
        assert '"written": true' in (await tool.run(context, given)).content
        with pytest.raises(ToolError, match="yes"):
            await tool.run(replace(context, decision=Decision(asks=True)), given)


@pytest.mark.parametrize("tool", TOOLS, ids=CHAT_TOOLS.names())
def test_people_read_what_a_tool_did_and_what_it_asks(tool: SageTool[Any]) -> None:
    shown = tool.presentation
    assert "{" not in shown.once + shown.often.format(count=2) + shown.activity
    asks = tool.kind in (*CHAT.waiting_kinds, "evidence") or POLICIES[tool.name].after_texts != "free"
    assert (shown.question(INPUTS[tool.name]).kind != "other") == asks
    odd: list[dict[str, Any]] = [dict.fromkeys(INPUTS[tool.name], value) for value in (None, [{}, 1, None])]
    for broken in [{}, *odd]:
        shown.question(broken)


def test_the_table_says_of_every_tool_what_it_may_do_after_texts_of_others() -> None:
    treatments = {name: policy.after_texts for name, policy in POLICIES.items()}
    assert {name for name, treatment in treatments.items() if treatment} == {tool.name for tool in TOOLS}
    assert {tool.name for tool in TOOLS if tool.kind in CHAT.waiting_kinds} <= {
        name for name, treatment in treatments.items() if treatment == "confirm" or name.startswith("show_")
    }
    assert treatments["show_help_lines"] == "free"
    for tool in TOOLS:
        assert (tool.changes is not None) == (treatments[tool.name] == "undo")
        assert (tool.decides is not None) == (tool.kind == "evidence")


def test_one_table_has_the_policies_of_all_tools() -> None:
    assert POLICIES.keys() == {tool.name for tool in ALL_TOOLS}
    for tool in ALL_TOOLS:
        policy = POLICIES[tool.name]
        assert (tool.for_programs is not None) == (policy.program is not None)
        assert tool.pipeline_model is None or policy.pipeline
        # What waits for a yes, or changes something, is no reading.
        is_write = tool.kind != "instant" or policy.after_texts not in (None, "free")
        assert is_write == (policy.program == "write") or policy.program is None
    assert [tool.name for tool in TOOLS if POLICIES[tool.name].pipeline] == list(PIPELINE_TOOLS.names())


def test_programs_get_the_same_objects_with_words_of_their_own() -> None:
    assert PROGRAM_TOOLS.keys() == {name for name, policy in POLICIES.items() if policy.program}
    for tool in ALL_TOOLS:
        if tool.name in PROGRAM_TOOLS:
            scope, shown = PROGRAM_TOOLS[tool.name]
            assert (scope, shown.run) == (POLICIES[tool.name].program, tool.run)
            assert len(shown.description) > 100
            assert shown.definition()["input_schema"]["type"] == "object"
    assert PROGRAM.only_proposes


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
