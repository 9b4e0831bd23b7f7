"""How many turns and sessions a user may start, also when requests race."""

import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone

from sessions_app.errors import Refused
from sessions_app.limits import RateLimit
from sessions_app.models import (
    ModelUsage,
    Session,
    Turn,
    UsagePurpose,
)
from tests.sessions_app.turns import begin, close, say
from tests.stored_turns import open_conversation


@pytest.mark.django_db
def test_over_the_rate_limit_the_wait_is_named(session: Session) -> None:
    limit = RateLimit(turns=2, seconds=60)
    for text in ("one", "two"):
        close(say(session, text, limit=limit))
    with pytest.raises(Refused, match=r"wait (5\d|60) seconds"):
        say(session, "three", limit=limit)
    Turn.unscoped.update(started_at=timezone.now() - timedelta(seconds=61))
    assert say(session, "four", limit=limit).is_new


@pytest.mark.django_db
def test_two_turns_run_at_once_for_a_user_and_not_a_third(user: User) -> None:
    sessions = [open_conversation(user) for _ in range(3)]
    say(sessions[0])
    say(sessions[1])
    with pytest.raises(Refused, match="already answering in 2"):
        say(sessions[2])


@pytest.mark.django_db(transaction=True)
def test_racing_messages_open_one_turn(session: Session) -> None:
    outcomes = _race([lambda: say(session, "a"), lambda: say(session, "b"), lambda: say(session, "c")])
    assert outcomes.count("opened") == 1
    assert outcomes.count("refused") == 2
    assert session.messages.count() == 1


@pytest.mark.django_db(transaction=True)
def test_racing_submits_of_one_client_id_are_one_turn(session: Session) -> None:
    outcomes = _race([lambda: say(session, "a", client_id="same")] * 4)
    assert outcomes == ["opened"] * 4
    assert session.turns.count() == 1


@pytest.mark.django_db(transaction=True)
def test_racing_turns_in_many_sessions_stay_within_two(user: User) -> None:
    sessions = [open_conversation(user) for _ in range(6)]
    outcomes = _race([partial(say, session) for session in sessions])
    assert outcomes.count("opened") == 2


def _race(attempts: list[Callable[[], object]]) -> list[str]:
    outcomes: list[str] = []
    start = threading.Barrier(len(attempts))

    def run(attempt: Callable[[], object]) -> None:
        start.wait()
        try:
            attempt()
            outcomes.append("opened")
        except Refused:
            outcomes.append("refused")
        finally:
            connections["default"].close()

    threads = [threading.Thread(target=run, args=(attempt,)) for attempt in attempts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


@pytest.mark.django_db
def test_a_daily_budget_that_is_used_up_refuses_the_next_turn(session: Session, user: User) -> None:
    budget = RateLimit(turns=100, seconds=60, daily_tokens=1000)
    ModelUsage.unscoped.create(
        user=user, model="m", input_tokens=400, output_tokens=300, cache_read_tokens=299
    )
    close(say(session, limit=budget))
    ModelUsage.unscoped.create(user=user, model="m", output_tokens=1)
    with pytest.raises(Refused, match=r"budget .* used up"):
        say(session, limit=budget)
    ModelUsage.unscoped.update(created_at=timezone.now() - timedelta(hours=25))
    assert say(session, limit=budget).is_new


@pytest.mark.django_db
@pytest.mark.parametrize("purpose", UsagePurpose.values)
def test_every_purpose_counts_towards_the_daily_budget(session: Session, user: User, purpose: str) -> None:
    budget = RateLimit(turns=100, seconds=60, daily_tokens=1000)
    ModelUsage.unscoped.create(user=user, model="m", purpose=purpose, cache_creation_1h_tokens=1000)
    with pytest.raises(Refused, match=r"budget .* used up"):
        say(session, limit=budget)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("tokens_by_hours_ago", "hours"),
    [
        ([(23, 1), (10, 1000)], 14),  # the old token doesn't matter
        ([(23, 500), (10, 600)], 1),
        ([(23, 500), (12, 500), (10, 500), (2, 500)], 14),
        ([(12, 900), (2, 5000)], 22),
    ],
)
def test_over_the_daily_budget_the_wait_ends_when_another_turn_may_start(
    session: Session, user: User, tokens_by_hours_ago: list[tuple[int, int]], hours: int
) -> None:
    budget = RateLimit(turns=100, seconds=60, daily_tokens=1000)
    now = timezone.now()
    for hours_ago, tokens in tokens_by_hours_ago:
        row = ModelUsage.unscoped.create(user=user, model="m", output_tokens=tokens)
        # Ten minutes later, so that a slow test doesn't reach the next hour.
        at = now - timedelta(hours=hours_ago) - timedelta(minutes=10)
        ModelUsage.unscoped.filter(pk=row.pk).update(created_at=at)
    with pytest.raises(Refused, match=rf"in about {hours} hours?\."):
        say(session, limit=budget)
    with time_machine.travel(now + timedelta(hours=hours)):
        assert say(session, limit=budget).is_new


@pytest.mark.django_db(transaction=True)
def test_two_sendings_of_a_form_that_race_begin_one_session(user: User) -> None:
    assert _race([partial(begin, user)] * 4) == ["opened"] * 4
    assert Session.unscoped.filter(user=user).count() == 1
