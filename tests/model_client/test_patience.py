"""How long a model may take, with a server that runs it itself and with others."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.test import override_settings
from procrastinate.jobs import Job

from coaching.engine.errors import UpstreamError
from coaching.engine.ports import DEFAULT_TIMEOUTS
from coaching.jobs.tasks import Retries
from coaching.model_client.patience import (
    job_seconds,
    job_tokens,
    look_delay,
    look_seconds,
    timeouts_within,
    turn_seconds,
    turn_tokens,
)
from coaching.model_client.servers import model_server
from tests.model_client.test_servers import PROPS, answering

SLOW = UpstreamError("out_of_time", cause="slow", is_retryable=True)
DOWN = UpstreamError("unavailable", is_retryable=True)


@pytest.fixture
def local() -> Iterator[None]:
    with (
        answering({"/props": PROPS}) as server,
        override_settings(IS_PRACTICE_MODEL=False, ANTHROPIC_BASE_URL=server.url, SAGE_MODEL="own"),
    ):
        assert model_server().is_local
        yield


def job() -> Job:
    return Job(id=1, queue="q", lock=None, queueing_lock=None, task_name="t", attempts=0)


@override_settings(SAGE_TURN_SECONDS=None)
def test_with_a_quick_server_the_limits_are_those_of_the_specification() -> None:
    assert (turn_seconds(), job_seconds(60.0), look_seconds(), look_delay()) == (55, 60.0, 3.0, timedelta())
    assert timeouts_within(55) is DEFAULT_TIMEOUTS
    assert Retries().get_retry_decision(exception=SLOW, job=job()) is not None


@override_settings(SAGE_TURN_SECONDS=None)
@pytest.mark.usefixtures("local")
def test_a_local_server_may_be_silent_for_the_whole_turn_and_jobs_have_ten_times_as_long() -> None:
    assert (turn_seconds(), job_seconds(60.0), look_seconds()) == (300, 600.0, 60.0)
    timeouts = timeouts_within(300)
    assert (timeouts.read_idle_seconds, timeouts.connect_seconds, timeouts.repeats_slow) == (300, 10, False)
    with override_settings(SAGE_TURN_SECONDS=90):
        assert turn_seconds() == 90


@override_settings(SAGE_MAX_TOKENS=None)
def test_a_local_server_writes_shorter_replies(local: None) -> None:
    assert (turn_tokens(), job_tokens(1_024)) == (1_024, 256)
    with override_settings(SAGE_MAX_TOKENS=4_000):
        assert (turn_tokens(), job_tokens(1_024)) == (4_000, 256)
    with override_settings(IS_PRACTICE_MODEL=True):
        assert (turn_tokens(), job_tokens(1_024)) == (8_192, 1_024)


@pytest.mark.usefixtures("local")
def test_a_job_that_a_local_server_was_too_slow_for_isnt_tried_again() -> None:
    assert Retries().get_retry_decision(exception=SLOW, job=job()) is None
    assert Retries().get_retry_decision(exception=DOWN, job=job()) is not None
