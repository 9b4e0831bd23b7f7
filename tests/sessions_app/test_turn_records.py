"""A running turn's writes: fenced, once, and recoverable after a crash."""

import json

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app import turn_endings, turn_records
from sessions_app.errors import StaleFence
from sessions_app.leases import claim_turn
from sessions_app.models import ModelUsage, Round, ToolCallRecord, ToolCallState, Turn, TurnStatus
from sessions_app.stored_prompts import StoredPrompt, store_prompt
from sessions_app.turn_endings import Ending, LastRound
from sessions_app.turn_locks import TurnKey
from sessions_app.turn_records import CallResult, NewCall
from tests import stored_turns
from tests.stored_turns import open_conversation, open_turn

DONE = Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn")
PROMPT = StoredPrompt(model="m", prefix='{"messages":[]}', message_metadata={}, turn_metadata={})


@pytest.fixture
def key(user: User) -> TurnKey:
    return open_turn(open_conversation(user))


def store_round(
    key: TurnKey, number: int, text: str, *, notes: str = "", calls: tuple[str, ...] = ()
) -> None:
    """Store a round whose calls write a file with an input that JSONB would refuse."""
    given = {"a": "b\x00\ud800"}
    stored_turns.store_round(
        key,
        number=number,
        text=text,
        notes=notes,
        calls=[
            NewCall(tool_use_id=name, name="save_file", position=position, input=given, is_interactive=False)
            for position, name in enumerate(calls)
        ],
    )


@pytest.mark.django_db
def test_a_stale_runner_writes_nothing(key: TurnKey) -> None:
    store_round(key, 1, "one", calls=("t1",))
    Turn.unscoped.filter(id=key.turn_id).update(fence=2)
    result = CallResult(content="{}", is_error=False)
    for write in (
        lambda: store_round(key, 2, "two"),
        lambda: store_prompt(key, PROMPT),
        lambda: turn_records.store_result(key, "t1", result),
        lambda: turn_records.run_effect(key, "t1", lambda: result),
        lambda: turn_endings.pause_turn(key, stop_reason="tool_use"),
        lambda: turn_endings.close_turn(key, DONE),
    ):
        with pytest.raises(StaleFence):
            write()
    turn_records.store_shown([(key, '{"text": "stale", "notes": ""}')])
    turn = Turn.unscoped.get(id=key.turn_id)
    assert turn.rounds.count() == 1
    assert turn.calls.get().state == ToolCallState.RUNNING
    assert "stale" not in turn.shown
    assert turn.status == TurnStatus.RUNNING


@pytest.mark.django_db
def test_an_effect_happens_once_and_with_its_result(key: TurnKey) -> None:
    store_round(key, 1, "", calls=("t1",))
    happened = []

    def effect() -> CallResult:
        happened.append(1)
        return CallResult(content="saved", is_error=False)

    first = turn_records.run_effect(key, "t1", effect)
    second = turn_records.run_effect(key, "t1", effect)
    turn_records.store_result(key, "t1", CallResult(content="something else", is_error=True))
    assert first == second == CallResult(content="saved", is_error=False)
    assert happened == [1]
    assert ToolCallRecord.unscoped.get().result == "saved"


@pytest.mark.django_db
def test_an_effect_that_fails_leaves_no_result(key: TurnKey) -> None:
    store_round(key, 1, "", calls=("t1",))

    def effect() -> CallResult:
        ModelUsage.unscoped.create(user=Turn.unscoped.get(id=key.turn_id).session.user, model="m")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        turn_records.run_effect(key, "t1", effect)
    assert ToolCallRecord.unscoped.get().state == ToolCallState.RUNNING
    assert not ModelUsage.unscoped.exists()


@pytest.mark.django_db
def test_an_answer_keeps_what_all_requests_of_its_turn_used(key: TurnKey) -> None:
    store_round(key, 1, "First.")
    for cost in (2_000, 3_000):
        usage = ModelUsage(
            model="m",
            input_tokens=10,
            output_tokens=20,
            cache_read_tokens=300,
            cache_creation_5m_tokens=4,
            cache_creation_1h_tokens=5,
            cost_micro_usd=cost,
        )
        turn_records.store_usage(key, usage=usage)
    message = turn_endings.close_turn(key, DONE)
    assert message is not None
    message.refresh_from_db()
    assert message.metadata["usage"] == {
        "requests": 2,
        "input_tokens": 20,
        "output_tokens": 40,
        "cache_read_tokens": 600,
        "cache_creation_tokens": 18,
        "cost_micro_usd": 5_000,
    }


@pytest.mark.django_db
def test_an_answer_joins_its_rounds_and_knows_where_each_ends(key: TurnKey) -> None:
    store_round(key, 1, "First.", notes="thinking of it", calls=("t1",))
    store_round(key, 2, "", calls=("t2",))
    store_round(key, 3, "Last.")
    for name in ("t1", "t2"):
        turn_records.store_result(key, name, CallResult(content="ok", is_error=False))
    message = turn_endings.close_turn(key, DONE)
    assert message is not None
    assert message.content == "First.\n\nLast."
    assert message.metadata["round_ends"] == [6, 6, 13]
    assert message.metadata["notes"] == [{"round": 1, "text": "thinking of it"}]
    assert [(call["id"], call["round"]) for call in message.metadata["tool_calls"]] == [("t1", 1), ("t2", 2)]
    assert "usage" not in message.metadata
    turn = Turn.unscoped.get(id=key.turn_id)
    assert (turn.prefix, turn.shown, turn.status) == ("", "", TurnStatus.COMPLETED)


def last_round() -> Round:
    return Round(
        number=2,
        blocks='[{"type":"text","text":"Last."}]',
        text="Last.",
        notes="",
        stop_reason="end_turn",
        is_partial=False,
        upstream_id="msg_2",
        model="m",
    )


@pytest.mark.django_db
def test_the_last_round_is_stored_with_the_answer_that_it_ends(key: TurnKey) -> None:
    store_round(key, 1, "First.", calls=("t1",))
    turn_records.store_result(key, "t1", CallResult(content="ok", is_error=False))
    usage = ModelUsage(model="m", input_tokens=10, output_tokens=20, cost_micro_usd=7)
    message = turn_endings.close_turn(key, DONE, last=LastRound(round=last_round(), usage=usage))
    assert message is not None
    message.refresh_from_db()
    assert (message.content, message.metadata["round_ends"]) == ("First.\n\nLast.", [6, 13])
    assert message.metadata["usage"]["output_tokens"] == 20
    last = message.turn.rounds.get(number=2)
    assert (last.blocks, last.text, last.upstream_id) == (last_round().blocks, "Last.", "msg_2")
    stored = ModelUsage.unscoped.get()
    assert (stored.turn_id, stored.user_id) == (key.turn_id, message.session.user_id)
    assert message.turn.status == TurnStatus.COMPLETED


@pytest.mark.django_db
def test_usage_that_was_stored_with_its_round_isnt_stored_again(key: TurnKey) -> None:
    """The reply to a commit was lost, so the turn's runner takes itself for replaced."""
    usage = ModelUsage(model="m", input_tokens=10, output_tokens=20, cost_micro_usd=7)
    turn_records.store_usage(key, usage=usage, of=last_round())
    assert ModelUsage.unscoped.count() == 1  # as after a replacement
    turn_endings.close_turn(key, DONE, last=LastRound(round=last_round(), usage=ModelUsage(model="m")))
    turn_records.store_usage(key, usage=ModelUsage(model="m"), of=last_round())
    assert ModelUsage.unscoped.count() == 2


@pytest.mark.django_db
def test_a_runner_that_was_replaced_stores_no_last_round(key: TurnKey) -> None:
    assert claim_turn(key, owner="other") is not None
    with pytest.raises(StaleFence):
        turn_endings.close_turn(key, DONE, last=LastRound(round=last_round(), usage=None))
    turn = Turn.unscoped.get()
    assert not turn.rounds.exists()
    assert turn.status == TurnStatus.RUNNING


@pytest.mark.django_db
def test_a_turn_ends_in_two_round_trips(key: TurnKey) -> None:
    with CaptureQueriesContext(connection) as asked:
        turn_endings.close_turn(key, DONE, last=LastRound(round=last_round(), usage=None))
    writes = [query["sql"] for query in asked if not query["sql"].lstrip().startswith("SELECT")]
    assert [sql.split()[0] for sql in writes if "SAVEPOINT" not in sql] == ["WITH"]


@pytest.mark.django_db
def test_a_call_without_a_result_is_closed_as_interrupted(key: TurnKey) -> None:
    store_round(key, 1, "Saving.", calls=("t1",))
    message = turn_endings.close_turn(key, DONE)
    assert message is not None
    assert message.metadata["tool_calls"][0]["is_error"] is True
    assert "nterrupted" in message.metadata["tool_calls"][0]["result"]


@pytest.mark.django_db
def test_a_turn_that_said_nothing_leaves_no_empty_message(key: TurnKey) -> None:
    assert turn_endings.close_turn(key, Ending(status=TurnStatus.FAILED, stop_reason="error")) is None


@pytest.mark.django_db
def test_characters_that_cannot_be_stored_are_mended_in_what_the_model_wrote(key: TurnKey) -> None:
    store_round(key, 1, "a\x00b\ud83d", calls=("t1",))
    message = turn_endings.close_turn(key, DONE)
    assert message is not None
    assert message.content == "a\ufffdb\ufffd"
    assert message.metadata["tool_calls"][0]["input"] == {"a": "b\ufffd\ufffd"}


@pytest.mark.django_db
def test_what_a_lost_runner_had_shown_is_kept_when_its_turn_is_interrupted(key: TurnKey) -> None:
    store_round(key, 1, "First.")
    turn_records.store_shown([(key, json.dumps({"number": 2, "text": "And the sec", "notes": ""}))])
    claimed = claim_turn(key, owner="another")
    assert claimed is not None
    message = turn_endings.close_turn(
        claimed, Ending(status=TurnStatus.INTERRUPTED, stop_reason="interrupted")
    )
    assert message is not None
    assert message.content == "First.\n\nAnd the sec"
    with pytest.raises(StaleFence):
        store_round(key, 2, "And the second.")


@pytest.mark.django_db
def test_a_paused_turn_stays_open_with_its_prefix(key: TurnKey) -> None:
    store_prompt(key, PROMPT)
    turn_endings.pause_turn(key, stop_reason="tool_use")
    turn = Turn.unscoped.get(id=key.turn_id)
    assert (turn.status, turn.prefix, turn.is_open) == (TurnStatus.AWAITING_USER, '{"messages":[]}', True)


@pytest.mark.django_db
def test_words_that_are_stored_after_their_round_are_not_said_twice(key: TurnKey) -> None:
    shown = json.dumps({"number": 1, "text": "First.", "notes": "a note"})
    turn_records.store_shown([(key, shown)])
    assert Turn.unscoped.get(id=key.turn_id).words_of_running_round() == ("First.", "a note")
    store_round(key, 1, "First.")
    turn_records.store_shown([(key, shown)])
    assert Turn.unscoped.get(id=key.turn_id).words_of_running_round() == ("", "")
    turn_records.store_shown([(key, json.dumps({"number": 2, "text": "Second", "notes": ""}))])
    assert Turn.unscoped.get(id=key.turn_id).words_of_running_round() == ("Second", "")
    turn_records.store_shown([(key, shown)])
    turn_endings.close_turn(key, Ending(status=TurnStatus.INTERRUPTED, stop_reason="interrupted"))
    assert Turn.unscoped.get(id=key.turn_id).messages.get(role="assistant").content == "First."
