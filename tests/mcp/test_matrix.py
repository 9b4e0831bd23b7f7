"""Two people, every tool, every scope: a program reaches its own person's things, and no secrets."""

from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from coaching.api.mcp.calls import ENDED, offered, run_call
from coaching.library.clients import own_client
from coaching.library.decisions import accept, dismiss
from coaching.library.proposals import MAX_SUGGESTIONS
from coaching.models import (
    ActionItem,
    ActionOrigin,
    ActionState,
    AutoApproval,
    Capture,
    EntryState,
    KnowledgeEntry,
    LibraryEffect,
    MadeBy,
    Scope,
)
from coaching.programs.callers import NotKnown
from coaching.tools import PROGRAM_TOOLS
from sessions_app.database import in_database
from tests.conftest import MakeUser
from tests.mcp.lives import PLAN_SECRET, SAID_SECRET, WITHHELD_SECRET, access_of, call, fill

pytestmark = pytest.mark.django_db(transaction=True)

HERS, HIS = "quartz", "basalt"
MISSING = 4_000_000

# Every tool, with a call that names a thing of the person's, by what `fill` returns.
CALLS: dict[str, dict[str, Any]] = {
    "read_file": {"path": "life-map/career.md"},
    "recall_context": {"query": "the lease, the career and the summary"},
    "list_action_items": {"client_id": "own_id"},
    "search_knowledge_bank": {"query": "When does the lease end?", "client_id": "client_id"},
    "get_client_context": {"client_id": "client_id"},
    "search_clients": {"query": "Client"},
    "list_documents": {"client_id": "client_id"},
    "create_action_item": {"title": "Call the landlord", "due_date": "2027-03-01", "client_id": "client_id"},
    "create_knowledge_entry": {"title": "Rent", "content": "It went up.", "client_id": "client_id"},
    "keep_capture": {"text": "A thought"},
}
NAMES_NO_ID = ("read_file", "recall_context", "search_clients", "keep_capture")


@pytest.fixture
def ada(make_user: MakeUser) -> User:
    return make_user("ada")


@pytest.fixture
def ben(make_user: MakeUser) -> User:
    return make_user("ben")


def arguments_of(name: str, ids: dict[str, int]) -> dict[str, Any]:
    return {key: ids.get(value, value) for key, value in CALLS[name].items()}


async def test_each_tool_needs_its_scope_and_reaches_its_person_alone(ada: User, ben: User) -> None:
    assert CALLS.keys() == PROGRAM_TOOLS.keys(), "a new tool needs a row"
    hers = await in_database(fill, ada, HERS)
    his = await in_database(fill, ben, HIS)
    nowhere = dict.fromkeys(hers, MISSING)
    for name, (needed, _) in PROGRAM_TOOLS.items():
        for scope in Scope:
            result = await run_call(access_of(ada, scope), name, arguments_of(name, hers))
            assert result.is_error == (scope != needed), (name, scope, result.content)
            if scope != needed:
                assert "isn't allowed" in result.content
        access = access_of(ada, *Scope)
        own = await run_call(access, name, arguments_of(name, hers))
        assert HIS not in own.content
        assert needed != "read" or HERS in own.content, name
        for secret in (PLAN_SECRET, WITHHELD_SECRET, SAID_SECRET):
            assert secret not in own.content, name
        if name not in NAMES_NO_ID:
            foreign = await run_call(access, name, arguments_of(name, his))
            missing = await run_call(access, name, arguments_of(name, nowhere))
            assert foreign.is_error
            assert foreign.content == missing.content, "another's id looks missing"
    assert not await in_database(LibraryEffect.of(ben.pk).exclude(program="").exists)


async def test_the_list_of_tools_is_that_of_the_scopes(ada: User) -> None:
    for scope in Scope:
        names = [tool.name for tool in offered(frozenset({scope}))]
        assert names == [name for name, (needed, _) in PROGRAM_TOOLS.items() if needed == scope]
    assert not offered(frozenset({Scope.CHAT}))
    assert len(offered(frozenset(Scope))) == len(PROGRAM_TOOLS)


async def test_what_is_private_looks_missing(ada: User) -> None:
    await in_database(fill, ada, HERS)
    access = access_of(ada, Scope.READ)
    missing = await call(access, "read_file", path="sage/nothing.md")
    assert missing == await call(access, "read_file", path="sage/safety-plan.md")
    assert "safety-plan" not in missing
    assert "life-map/career.md" in missing
    found = await call(access, "recall_context", query=f"{SAID_SECRET} {PLAN_SECRET} {WITHHELD_SECRET}")
    assert {hit["source"] for hit in found["hits"]} <= {"summary", "file", "document", "knowledge"}


async def test_what_a_program_suggests_waits_once_and_is_never_accepted_by_itself(ada: User) -> None:
    await in_database(fill, ada, HERS)
    for kind in ("action_item", "note"):
        await in_database(AutoApproval.of(ada.pk).create, kind=kind)
    access = access_of(ada, Scope.WRITE, Scope.READ)
    step = await call(access, "create_action_item", title="Sell the house", due_date="2027-01-05")
    entry = await call(
        access, "create_knowledge_entry", title="House", content="It is old.", client_id=await own_id(ada)
    )
    assert (step["suggested"], entry["suggested"]) == (True, True)
    item = await in_database(ActionItem.of(ada.pk).get, id=step["id"])
    assert (item.state, item.origin) == (ActionState.PROPOSED, ActionOrigin.PROGRAM)
    kept = await in_database(KnowledgeEntry.of(ada.pk).get, id=entry["id"])
    assert (kept.state, kept.made_by) == (EntryState.PROPOSED, MadeBy.PROGRAM)
    effects = await in_database(lambda: list(LibraryEffect.of(ada.pk).exclude(program="")))
    assert {effect.program for effect in effects} == {"Claude"}
    again = await call(access, "create_action_item", title="sell  the house", due_date="2027-01-05")
    assert again["id"] == step["id"]
    await in_database(dismiss, user_id=ada.pk, model=ActionItem, row_id=step["id"])
    dismissed = await call(access, "create_action_item", title="Sell the house", due_date="2027-01-05")
    assert dismissed["suggested"] is False
    assert (await in_database(ActionItem.of(ada.pk).get, id=step["id"])).state == ActionState.DISMISSED
    await in_database(accept, user_id=ada.pk, model=KnowledgeEntry, row_id=entry["id"])
    assert (await in_database(KnowledgeEntry.of(ada.pk).get, id=entry["id"])).state == EntryState.ACCEPTED


async def own_id(user: User) -> int:
    return (await in_database(own_client, user.pk)).id


async def test_only_so_many_suggestions_wait(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coaching.library.proposals.MAX_SUGGESTIONS", 2)
    access = access_of(ada, Scope.WRITE)
    said = [await call(access, "create_action_item", title=f"Step {number}") for number in range(3)]
    assert [each["suggested"] for each in said[:2]] == [True, True]
    assert "suggestions of programs wait already" in said[2]
    assert MAX_SUGGESTIONS == 100


async def test_a_capture_is_kept_once_by_its_name(ada: User) -> None:
    access = access_of(ada, Scope.CAPTURE)
    first = await call(access, "keep_capture", text="Buy milk", id="one")
    assert first == await call(access, "keep_capture", text="Buy milk", id="one")
    capture = await in_database(Capture.of(ada.pk).select_related("file").get)
    assert capture.file.path == first["path"]
    version = await in_database(capture.file.versions.get)
    assert version.program == "Claude"


WRONG: tuple[tuple[str, Any], ...] = (
    ("read_file", {}),
    ("read_file", {"path": "a\x00b"}),
    ("read_file", {"path": "../../etc/passwd"}),
    ("read_file", {"path": "\ud800"}),
    ("read_file", {"path": ["life-map/career.md"]}),
    ("read_file", {"path": "x" * 100_000}),
    ("read_file", {"path": "life-map/career.md", "user_id": 1}),
    ("list_documents", {"client_id": -1}),
    ("list_documents", {"client_id": 10**30}),
    ("list_documents", {"client_id": "1 OR 1=1"}),
    ("recall_context", {"query": ""}),
    ("recall_context", {"query": "x", "limit": 10_000}),
    ("recall_context", {"query": "x", "since": "yesterday"}),
    ("create_action_item", {"title": "x" * 10_000}),
    ("create_action_item", {"title": "x", "due_time": "09:00"}),
    ("create_action_item", {"title": "x", "due_date": "0001-01-01"}),
    ("create_action_item", {"title": "x", "repeats": "whenever"}),
    ("keep_capture", {"text": "x" * 100_000}),
    ("keep_capture", {"text": "   "}),
    ("save_file", {"file_type": "overview", "content": "mine now"}),
    ("complete_session", {"type": "session"}),
    ("nothing", {}),
)


@pytest.mark.parametrize(
    ("name", "arguments"), WRONG, ids=[f"{name} {n}" for n, (name, _) in enumerate(WRONG)]
)
async def test_what_cannot_be_done_gets_a_sentence(ada: User, name: str, arguments: Any) -> None:
    result = await run_call(access_of(ada, *Scope), name, arguments)
    assert result.is_error
    assert len(result.content) < 2_000


async def test_each_tool_ends_with_the_access(ada: User) -> None:
    ids = await in_database(fill, ada, HERS)
    ended = replace(access_of(ada, *Scope), check=_ended)
    for name in PROGRAM_TOOLS:
        result = await run_call(ended, name, arguments_of(name, ids))
        assert (result.is_error, result.content) == (True, ENDED), name
    assert not await in_database(Capture.of(ada.pk).exists)


def _ended() -> None:
    raise NotKnown


def test_a_disabled_person_has_no_server_on_standard_streams(ada: User) -> None:
    ada.is_active = False
    ada.save()
    with pytest.raises(CommandError, match="ada is disabled"):
        call_command("mcp", user="ada")
