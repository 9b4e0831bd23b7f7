"""The rounds of a call with tools: each is committed, and a later run goes on after the last."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.engine.errors import UpstreamError
from coaching.engine.messages import ModelRequest
from coaching.engine.tools import Tool, ToolCall, ToolInput, ToolResult, Toolset
from coaching.library.clients import own_client
from coaching.library.pipeline.call_records import CallPlan, run_effect
from coaching.library.pipeline.calls import (
    LAST_ROUND,
    MAX_ROUNDS,
    CallFailed,
    CallTools,
    make_call,
    prefix_of,
)
from coaching.model_client.connection import ModelConnection
from coaching.models import CallPurpose, DocumentCall, DocumentCorrection
from coaching.practice import PracticeServer
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Reply, ToolUse
from sessions_app.database import in_database
from sessions_app.models import ModelUsage

pytestmark = pytest.mark.django_db(transaction=True)


class NoteInput(ToolInput):
    """A word to write down."""

    word: str


@dataclass(frozen=True)
class Context:
    """The call that a tool runs in."""

    call: DocumentCall
    tool_use_id: str


async def _note(context: Context, given: NoteInput) -> ToolResult:
    def effect() -> ToolResult:
        DocumentCorrection.of(context.call.user_id).create(
            client_id=context.call.client_id, name=given.word, to_type="letter"
        )
        return ToolResult.of(noted=given.word)

    return await in_database(run_effect, context.call, context.tool_use_id, effect)


NOTE: Tool[Context, NoteInput] = Tool(
    name="note", description="Write a word down.", input_model=NoteInput, kind="confirm", run=_note
)


def _context(call: DocumentCall, each: ToolCall) -> Context:
    return Context(call=call, tool_use_id=each.tool_use_id)


TOOLS = CallTools(toolset=Toolset([NOTE]), context_for=_context)


def plan_for(user: User, key: str = "summary:1") -> CallPlan:
    """Plan a call of the user."""
    request = ModelRequest(
        model="claude-haiku-5-5",
        max_tokens=1_000,
        system=[{"type": "text", "text": "You write words down."}],
        tools=TOOLS.toolset.definitions(),
        messages=[{"role": "user", "content": [{"type": "text", "text": "Write ship and shore down."}]}],
    )
    return CallPlan(
        user_id=user.pk,
        client_id=own_client(user.pk).pk,
        purpose=CallPurpose.SUMMARY,
        key=key,
        document_ids=[],
        request=request,
        prefix=prefix_of(request),
        prompt_tokens=100,
    )


async def asked(user: User) -> DocumentCall:
    """Make the call in a process of its own."""
    models = ModelConnection()
    try:
        plan = await in_database(plan_for, user)
        return await make_call(plan, client=await models.client(), tools=TOOLS)
    finally:
        await models.close()


def words_noted(user: User) -> list[str]:
    return list(DocumentCorrection.of(user.pk).order_by("id").values_list("name", flat=True))


async def test_a_call_goes_on_after_its_last_committed_round(user: User, practice: PracticeServer) -> None:
    practice.script(
        [Reply.of(ToolUse("note", {"word": "ship"}), ToolUse("note", {"word": "shore"})), "Done."]
    )
    practice.faults.push(Fault(kind="status", status=401, skip=1))
    with pytest.raises(UpstreamError):
        await asked(user)
    call = await asked(user)
    assert (call.state, call.answer, call.attempts) == ("answered", "Done.", 2)
    # The calls of a round run at the same time.
    assert sorted(await in_database(words_noted, user)) == ["ship", "shore"]
    sent = [request for request in practice.requests if request.status == 200]
    assert len(sent) == 2
    assert _results(sent[-1].body) == ['{"noted": "ship"}', '{"noted": "shore"}']
    usage = await in_database(lambda: list(ModelUsage.of(user.pk).values_list("purpose", flat=True)))
    assert usage == ["document", "document"]
    assert (await asked(user)).answer == "Done."
    assert len(practice.requests) == 3


async def test_a_call_ends_after_three_rounds_in_words(user: User, practice: PracticeServer) -> None:
    practice.script([Reply.of(ToolUse("note", {"word": f"word {number}"})) for number in range(9)])
    call = await asked(user)
    assert call.answer
    told, asked_again = practice.requests[-2:]
    assert len(practice.requests) == MAX_ROUNDS + 1
    assert told.body["messages"][-1]["content"][-1]["text"] == LAST_ROUND
    assert "tool_choice" not in told.body
    assert asked_again.body["tool_choice"] == {"type": "none"}
    assert len(await in_database(words_noted, user)) == MAX_ROUNDS - 1


async def test_a_refused_call_fails_for_good(user: User, practice: PracticeServer) -> None:
    practice.faults.push(Fault(kind="refusal"))
    practice.script(["I would rather not say what it is."])
    for _ in range(2):
        with pytest.raises(CallFailed, match="declined"):
            await asked(user)
    assert len(practice.requests) == 1


def _results(body: Mapping[str, Any]) -> list[str]:
    blocks = [block for message in body["messages"] for block in message["content"]]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]
