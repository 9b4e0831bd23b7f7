"""The life of a next step: done, dropped, moved, opened again, repeated; its history; undone for a day."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from coaching.library.clients import own_client
from coaching.library.decisions import accept, edit, undo
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.library.resolutions import Becomes, Resolution, edit_step, resolve, take_back_unasked
from coaching.models import ActionItem, ActionOrigin, ActionState, LibraryEffect, MadeBy, StepChange
from coaching.steps.due import due_on
from sessions_app.errors import OutOfDate, Refused
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db

THURSDAY = date(2026, 12, 3)
NOW = datetime(2026, 12, 3, 20, tzinfo=UTC)


def make_step(user: User, **values: Any) -> ActionItem:
    new = NewAction(
        **{"client_id": own_client(user.pk).pk, "title": "Call Mum", "due_date": THURSDAY, **values}
    )
    return propose(user_id=user.pk, new=new, made_by=MadeBy.CHAT, is_accepted=True, tool_use_id="toolu_new")


def becomes(step: ActionItem, what: Becomes, **values: Any) -> LibraryEffect | None:
    resolution = Resolution(becomes=what, today=THURSDAY, now=NOW, tool_use_id="toolu_then", **values)
    effect = resolve(user_id=step.user_id, step_id=step.pk, resolution=resolution)
    step.refresh_from_db()
    return effect


def history(step: ActionItem) -> list[tuple[str, date | None, str]]:
    changes = StepChange.of(step.user_id).filter(action_item=step).order_by("id")
    return [(each.kind, each.due_date, each.outcome) for each in changes]


def test_a_step_is_moved_done_and_opened_again_and_its_history_says_so(user: User) -> None:
    step = make_step(user)
    assert (step.state, step.origin) == (ActionState.OPEN, ActionOrigin.CONVERSATION)
    saturday = date(2026, 12, 5)
    assert becomes(step, "open", due_date=saturday, quote="not yet, Saturday")
    assert (step.state, step.due_date) == (ActionState.OPEN, saturday)
    assert becomes(step, "done", outcome="We talked for an hour.")
    assert (step.state, step.outcome) == (ActionState.DONE, "We talked for an hour.")
    assert becomes(step, "done") is None
    assert becomes(step, "open")
    assert step.done_at is None
    assert becomes(step, "dropped", outcome="She is away.")
    assert (step.state, step.outcome) == (ActionState.DROPPED, "She is away.")
    assert history(step) == [
        ("moved", THURSDAY, ""),
        ("done", saturday, "We talked for an hour."),
        ("reopened", saturday, ""),
        ("dropped", saturday, "She is away."),
    ]


def test_a_repeating_step_moves_to_its_next_date_each_time_it_is_done(user: User) -> None:
    step = make_step(user, repeats="weekly")
    assert step.repeats == "thu"
    assert becomes(step, "done", outcome="Did it.")
    assert (step.state, step.due_date) == (ActionState.OPEN, date(2026, 12, 10))
    assert history(step) == [("done", THURSDAY, "Did it.")]


def test_undo_restores_the_row_with_its_history_for_a_day(user: User) -> None:
    step = make_step(user)
    becomes(step, "done", outcome="Did it.")
    now = timezone.now()
    with pytest.raises(Refused, match="more than a day"):
        undo(user_id=user.pk, model=ActionItem, row_id=step.pk, now=now + timedelta(hours=25))
    undo(user_id=user.pk, model=ActionItem, row_id=step.pk, now=now)
    step.refresh_from_db()
    assert (step.state, step.outcome, history(step)) == (ActionState.OPEN, "", [])
    undo(user_id=user.pk, model=ActionItem, row_id=step.pk, now=now, tool_use_id="toolu_new")
    step.refresh_from_db()
    assert step.state == ActionState.DISMISSED
    with pytest.raises(Refused, match="nothing to undo"):
        undo(user_id=user.pk, model=ActionItem, row_id=step.pk, now=now)


def test_another_persons_step_looks_missing(user: User, other_user: User) -> None:
    step = make_step(other_user)
    resolution = Resolution(becomes="done", today=THURSDAY, now=NOW)
    with pytest.raises(ActionItem.DoesNotExist):
        resolve(user_id=user.pk, step_id=step.pk, resolution=resolution)
    with pytest.raises(ActionItem.DoesNotExist):
        undo(user_id=user.pk, model=ActionItem, row_id=step.pk, now=timezone.now())


def test_what_was_dismissed_is_not_proposed_again_from_the_same_sentence(user: User) -> None:
    session = open_conversation(user)
    said = {"session_id": session.id, "origin_key": "said:1"}
    step = make_step(user, **said)
    undo(user_id=user.pk, model=ActionItem, row_id=step.pk, now=timezone.now())
    again = make_step(user, **said)
    assert (again.pk, again.state) == (step.pk, ActionState.DISMISSED)
    assert make_step(user, session_id=session.id, origin_key="said:2").pk != step.pk


def test_a_suggestion_is_accepted_before_it_is_done(user: User) -> None:
    new = NewAction(client_id=own_client(user.pk).pk, title="Pay")
    step = propose(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE)
    assert step.origin == ActionOrigin.DOCUMENT
    with pytest.raises(Refused, match="suggestion"):
        becomes(step, "done")
    accept(user_id=user.pk, model=ActionItem, row_id=step.pk)
    assert becomes(step, "done")


def test_a_time_or_a_repetition_needs_a_date(user: User) -> None:
    with pytest.raises(Refused, match="needs a due date"):
        make_step(user, due_date=None, repeats="daily")
    step = make_step(user, repeats="daily")
    with pytest.raises(Refused, match="needs a due date"):
        edit(user_id=user.pk, model=ActionItem, row_id=step.pk, changes={"due_date": None})
    with pytest.raises(IntegrityError), transaction.atomic():
        ActionItem.of(user.pk).filter(pk=step.pk).update(due_date=None)


def test_another_date_in_an_edit_is_a_move_in_the_history(user: User) -> None:
    step = make_step(user)
    saturday = date(2026, 12, 5)
    for changes in ({"title": "Call Mum back"}, {"due_date": saturday}):
        edit_step(user_id=user.pk, step_id=step.pk, changes=changes, now=NOW)
    assert history(step) == [("moved", THURSDAY, "")]
    undo(user_id=user.pk, model=ActionItem, row_id=step.pk, now=timezone.now())
    step.refresh_from_db()
    assert (step.due_date, history(step)) == (THURSDAY, [])
    ActionItem.of(user.pk).filter(pk=step.pk).update(state=ActionState.DISMISSED)
    with pytest.raises(Refused, match="dismissed"):
        edit_step(user_id=user.pk, step_id=step.pk, changes={"title": "Call"}, now=NOW)


def test_a_date_from_which_repetitions_cannot_be_counted_is_refused(user: User) -> None:
    with pytest.raises(Refused, match="between 1970 and 2199"):
        make_step(user, due_date=date.max, repeats="daily")
    step = make_step(user, due_date=date(2199, 12, 31), repeats="monthly")
    with pytest.raises(Refused, match="between 1970 and 2199"):
        becomes(step, "open", due_date=date.max)


@pytest.mark.parametrize("repeats", ["daily", "weekly", "monthly"])
def test_a_repeating_step_is_done_for_good_on_its_last_date(user: User, repeats: str) -> None:
    last = date(2199, 12, 31)
    step = make_step(user, due_date=last, repeats=repeats)
    assert becomes(step, "done")
    assert (step.state, step.due_date) == (ActionState.DONE, last)
    edit_step(user_id=user.pk, step_id=step.pk, changes={"title": "Rest"}, now=NOW)
    assert becomes(step, "open")
    assert (step.state, step.title, step.due_date) == (ActionState.OPEN, "Rest", last)


def test_a_date_is_done_once(user: User) -> None:
    step = make_step(user, repeats="daily")
    assert becomes(step, "done", occurrence=THURSDAY)
    friday = date(2026, 12, 4)
    for _ in range(2):
        with pytest.raises(OutOfDate, match="open for its next date"):
            becomes(step, "done", occurrence=THURSDAY)
    step.refresh_from_db()
    assert (step.due_date, len(history(step))) == (friday, 1)
    assert becomes(step, "done", occurrence=friday)
    assert becomes(step, "done"), "whatever its date is"
    sunday = date(2026, 12, 6)
    assert step.due_date == sunday
    becomes(step, "open", due_date=date(2026, 12, 9))
    with pytest.raises(OutOfDate, match="another date now"):
        becomes(step, "done", occurrence=sunday)
    assert becomes(step, "dropped", occurrence=sunday), "a step is dropped with all its dates"


def test_a_step_that_no_longer_repeats_is_not_done_for_a_date_of_before(user: User) -> None:
    step = make_step(user, repeats="daily")
    becomes(step, "done", occurrence=THURSDAY)
    edit_step(user_id=user.pk, step_id=step.pk, changes={"repeats": ""}, now=NOW)
    with pytest.raises(OutOfDate, match=r"so nothing was changed\.$"):
        becomes(step, "done", occurrence=THURSDAY)
    edit_step(user_id=user.pk, step_id=step.pk, changes={"due_date": date(2026, 12, 9)}, now=NOW)
    assert becomes(step, "done", occurrence=date(2026, 12, 4)), "moved, but it is the same thing to do"
    assert becomes(step, "done", occurrence=date(2026, 12, 4)) is None


def test_a_monthly_step_means_the_day_on_which_it_began_or_to_which_it_was_moved(user: User) -> None:
    step = make_step(user, due_date=date(2027, 1, 31), repeats="monthly")

    def done() -> str:
        assert becomes(step, "done")
        return f"{step.due_date:%m-%d}"

    assert [done() for _ in range(4)] == ["02-28", "03-31", "04-30", "05-31"]
    undo(user_id=user.pk, model=ActionItem, row_id=step.pk, now=timezone.now())
    step.refresh_from_db()
    assert done() == "05-31"
    assert done() == "06-30"
    edit_step(user_id=user.pk, step_id=step.pk, changes={"title": "Pay"}, now=NOW)
    assert done() == "07-31", "another title is no other day"
    done(), done()
    becomes(step, "open", due_date=date(2027, 9, 29))
    assert done() == "10-29"
    step = make_step(user, due_date=date(2028, 1, 31), repeats="monthly", title="Rent")
    assert done() == "02-29"
    edit_step(user_id=user.pk, step_id=step.pk, changes={"due_date": date(2028, 2, 28)}, now=NOW)
    assert done() == "03-28"


def test_a_missed_monthly_step_is_due_on_the_day_that_it_means(user: User) -> None:
    step = make_step(user, due_date=date(2027, 1, 31), repeats="monthly")
    becomes(step, "done")
    due = [day for day in (28, 30, 31) if ActionItem.of(user.pk).filter(due_on(date(2027, 3, day))).exists()]
    assert due == [31]
    assert ActionItem.of(user.pk).filter(due_on(date(2027, 4, 30))).exists()
    assert ActionItem.of(user.pk).filter(due_on(date(2027, 2, 28))).exists()


def test_what_a_turn_wrote_unasked_is_taken_back(user: User) -> None:
    session = open_conversation(user)
    older, moved = make_step(user), make_step(user)
    new = make_step(user, session_id=session.id, title="Give it away")
    becomes(moved, "done", session_id=session.id)
    LibraryEffect.of(user.pk).filter(action_item__in=[older, moved], tool_use_id="toolu_new").update(
        tool_use_id="toolu_earlier"
    )
    calls = ["toolu_new", "toolu_then"]
    touched = take_back_unasked(user_id=user.pk, session_id=session.id, tool_use_ids=calls)
    assert {step_id for step_id, _ in touched} == {new.pk, moved.pk}
    states = dict(ActionItem.of(user.pk).values_list("pk", "state"))
    assert states == {older.pk: "open", moved.pk: "open", new.pk: "proposed"}
    assert not take_back_unasked(user_id=user.pk, session_id=session.id, tool_use_ids=calls)
