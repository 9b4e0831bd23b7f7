"""A running turn's readers see it in order, bounded, and equal to what is stored."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from coaching.events import (
    MessageStored,
    ModelHasRead,
    ModelReads,
    NoteDelta,
    RoundBoundary,
    RoundClosed,
    RoundRestarted,
    Sync,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnDone,
    TurnEvent,
)
from coaching.live.hub import MAX_QUEUED_CHARACTERS, SessionHub, Subscription


def started_hub() -> tuple[SessionHub, Subscription]:
    hub = SessionHub()
    hub.begin("t")
    return hub, hub.subscribe()


def closed(number: int, text: str) -> RoundClosed:
    return RoundClosed(turn_id="t", number=number, text=text, notes="")


def done(text: str = "") -> TurnDone:
    return TurnDone(turn_id="t", stop_reason="end_turn", status="completed", text=text)


def joined_text(events: list[TurnEvent]) -> str:
    """Return the text of a reader that concatenates, breaks paragraphs between rounds and obeys syncs."""
    text, is_break_due = "", False
    for event in events:
        if isinstance(event, TextDelta):
            text += ("\n\n" if text and is_break_due else "") + event.text
            is_break_due = False
        elif isinstance(event, RoundBoundary):
            is_break_due = True
        elif isinstance(event, Sync):
            text, is_break_due = event.text, False
    return text


async def test_adjacent_text_is_one_event_and_order_is_kept() -> None:
    hub, subscription = started_hub()
    await subscription.next_batch()
    for event in (TextDelta("a"), TextDelta("b"), ToolCallStarted(tool_use_id="1", name="x"), TextDelta("c")):
        hub.publish(event)
    assert await subscription.next_batch() == [
        TextDelta("ab"),
        ToolCallStarted(tool_use_id="1", name="x"),
        TextDelta("c"),
    ]


async def test_who_attaches_in_the_middle_gets_all_so_far_and_then_the_rest() -> None:
    hub, first = started_hub()
    hub.publish(TextDelta("one "))
    hub.publish(TextDelta("two "))
    second = hub.subscribe()
    hub.publish(TextDelta("three"))
    events = await second.next_batch()
    assert isinstance(events[0], Sync)
    assert events[0].text == "one two "
    assert joined_text(events) == joined_text(await first.next_batch()) == "one two three"


@given(
    rounds=st.lists(st.lists(st.text(max_size=5), max_size=4), max_size=5),
    attach_at=st.integers(min_value=0, max_value=30),
)
def test_joined_text_is_what_is_stored_wherever_a_reader_attaches(
    rounds: list[list[str]], attach_at: int
) -> None:
    asyncio.run(_check_joined(rounds, attach_at))


async def _check_joined(rounds: list[list[str]], attach_at: int) -> None:
    script: list[TurnEvent] = []
    for number, deltas in enumerate(rounds, start=1):
        if number > 1:
            script.append(RoundBoundary())
        script += [TextDelta(delta) for delta in deltas if delta]
        script.append(closed(number, "".join(deltas)))
    hub = SessionHub()
    hub.begin("t")
    subscription: Subscription | None = None
    for position, event in enumerate(script):
        if position == attach_at:
            subscription = hub.subscribe()
        hub.publish(event)
    if subscription is None:
        subscription = hub.subscribe()
    stored = "\n\n".join(text for text in ("".join(deltas) for deltas in rounds) if text)
    assert joined_text(await subscription.next_batch()) == stored


async def test_a_restarted_rounds_text_is_replaced_and_not_repeated() -> None:
    hub, subscription = started_hub()
    script: list[TurnEvent] = [
        TextDelta("First."),
        closed(1, "First."),
        RoundBoundary(),
        TextDelta("Half a sen"),
        RoundRestarted(),
        TextDelta("Whole sentence."),
        closed(2, "Whole sentence."),
        done(),
    ]
    for event in script:
        hub.publish(event)
    assert joined_text(await subscription.next_batch()) == "First.\n\nWhole sentence."


async def test_a_round_without_text_has_its_boundary_and_leaves_no_empty_paragraph() -> None:
    hub, subscription = started_hub()
    for event in (closed(1, ""), RoundBoundary(), TextDelta("Only this."), closed(2, "Only this.")):
        hub.publish(event)
    events = await subscription.next_batch()
    assert events.count(RoundBoundary()) == 1
    assert joined_text(events) == "Only this."


async def test_who_attaches_in_a_round_that_had_only_a_note_gets_its_boundary_behind_the_snapshot() -> None:
    hub, _ = started_hub()
    for event in (TextDelta("First."), closed(1, "First."), RoundBoundary(), NoteDelta("Looking.")):
        hub.publish(event)
    late = hub.subscribe()
    hub.publish(TextDelta("Second."))
    events = await late.next_batch()
    assert events[1:] == [RoundBoundary(), TextDelta("Second.")]
    assert joined_text(events) == "First.\n\nSecond."


async def test_all_readers_know_that_the_model_reads_until_something_comes() -> None:
    hub, subscription = started_hub()
    hub.publish(ModelReads(seconds=60))
    late = hub.subscribe()
    hub.publish(TextDelta("Hello."))
    hub.publish(TextDelta(" You."))
    after = [ModelReads(seconds=60), ModelHasRead(), TextDelta("Hello. You.")]
    for reader in (subscription, late):
        assert (await reader.next_batch())[1:] == after
    assert (await hub.subscribe().next_batch())[1:] == []


async def test_who_comes_while_the_model_reads_is_told_what_is_left() -> None:
    moments = iter((1_000.0, 1_000.0, 1_120.4, 1_179.0, 1_180.0, 1_300.0, 1_301.0, 1_302.0))
    hub = SessionHub(clock=lambda: next(moments))
    hub.begin("t")
    hub.publish(ModelReads(seconds=180))
    for left in (180, 60, 1, None, None):
        assert (await hub.subscribe().next_batch())[1:] == [ModelReads(seconds=left)]
    hub.publish(ModelReads(seconds=None))
    assert (await hub.subscribe().next_batch())[1:] == [ModelReads(seconds=None)]


async def test_a_reader_who_stops_reading_holds_a_bounded_queue_and_catches_up() -> None:
    hub, subscription = started_hub()
    chunk = "x" * 1000
    total = 4 * MAX_QUEUED_CHARACTERS // 1000
    for number in range(total):
        hub.publish(TextDelta(chunk))
        if number == total // 2:
            hub.publish(MessageStored(id="m", number=1, text="kept", turn_id="t"))
    events = await subscription.next_batch()
    assert sum(isinstance(event, TextDelta) for event in events) == 0
    assert [event.number for event in events if isinstance(event, MessageStored)] == [1]
    assert joined_text(events) == chunk * total
    hub.publish(TextDelta("end"))
    assert await subscription.next_batch() == [TextDelta("end")]


async def test_a_reader_behind_sees_the_whole_text_before_the_turn_is_done() -> None:
    hub, subscription = started_hub()
    for _ in range(2 * MAX_QUEUED_CHARACTERS // 1000):
        hub.publish(TextDelta("x" * 1000))
    hub.publish(done("whole"))
    hub.live = None
    events = await subscription.next_batch()
    assert isinstance(events[-1], TurnDone)
    assert len(joined_text(events)) >= 2 * MAX_QUEUED_CHARACTERS // 1000 * 1000
    assert sum(isinstance(event, TurnDone) for event in events) == 1


async def test_running_calls_and_notes_are_in_the_snapshot() -> None:
    hub, _ = started_hub()
    for event in (
        NoteDelta("Let me "),
        NoteDelta("write."),
        ToolCallStarted(tool_use_id="1", name="save_file"),
        ToolCallStarted(tool_use_id="2", name="save_file"),
        ToolCallFinished(tool_use_id="1"),
    ):
        hub.publish(event)
    assert hub.live is not None
    sync = hub.live.sync(7)
    assert (sync.notes, dict(sync.running), sync.last_number) == (("Let me write.",), {"2": "save_file"}, 7)


async def test_a_reader_who_left_is_given_nothing_more() -> None:
    hub, subscription = started_hub()
    subscription.close()
    hub.publish(TextDelta("x"))
    assert hub.subscriptions == set()
