"""How long a model may take, with a server that runs it itself and with others."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

import pytest
from anthropic import DefaultAioHttpClient
from django.test import override_settings
from procrastinate.jobs import Job

from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.budget import PartLimits
from coaching.engine.errors import UpstreamError
from coaching.engine.messages import ModelRequest
from coaching.engine.ports import DEFAULT_TIMEOUTS
from coaching.jobs.retries import Retries
from coaching.model_client.patience import (
    job_seconds,
    job_tokens,
    look_delay,
    look_seconds,
    page_tokens,
    timeouts_within,
    turn_seconds,
    turn_tokens,
)
from tests.engine.upstream import Answer, Bench, Step, end, event, serving, start, words
from tests.model_client.test_servers import local
from tests.skipping_loop import SkippingLoop

__all__ = ["local"]

SLOW = UpstreamError("out_of_time", cause="slow", is_retryable=True)
DOWN = UpstreamError("unavailable", is_retryable=True)


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
    assert (turn_tokens(), job_tokens(1_024), job_tokens(8_192), page_tokens(8_192)) == (
        1_024,
        256,
        2_048,
        1_024,
    )
    with override_settings(SAGE_MAX_TOKENS=4_000):
        assert (turn_tokens(), job_tokens(1_024)) == (4_000, 256)
    with override_settings(IS_PRACTICE_MODEL=True):
        assert (turn_tokens(), job_tokens(1_024), page_tokens(8_192)) == (8_192, 1_024, 8_192)


@pytest.mark.usefixtures("local")
def test_a_job_that_a_local_server_was_too_slow_for_isnt_tried_again() -> None:
    assert Retries().get_retry_decision(exception=SLOW, job=job()) is None
    assert Retries().get_retry_decision(exception=DOWN, job=job()) is not None


PING = event("ping")
ANSWER = words(0, "<think>Hm.</think>Hello<|im_end|>") + end("end_turn")
PINGED = (*[step for _ in range(6) for step in (30.0, PING)], 20.0)
"""200 seconds."""


@dataclass(frozen=True, kw_only=True)
class Waited:
    """What a turn came to, in seconds of the loop's clock. `told` is the failure."""

    shown: str
    told: str | None
    requests: int
    seconds: int


def wait_for(*steps: Step) -> Waited:
    """Run a turn with today's limits, whose answers begin with steps."""

    async def run() -> Waited:
        async with (
            serving() as upstream,
            AnthropicClient("key", upstream.url, http_client=DefaultAioHttpClient(verify=False)) as client,
        ):
            upstream.script(Answer(start(), *steps, ANSWER))
            bench = Bench(upstream=upstream, client=client)
            began = asyncio.get_running_loop().time()
            result = await bench.part(
                request=ModelRequest(
                    model="own", max_tokens=100, messages=[{"role": "user", "content": "Hello"}]
                ),
                limits=PartLimits(seconds=turn_seconds(), first_wait_seconds=0.02),
                timeouts=timeouts_within(turn_seconds()),
            )
            seconds = round(asyncio.get_running_loop().time() - began)
            return Waited(
                shown=bench.shown(),
                told=result.user_message,
                requests=len(upstream.requests),
                seconds=seconds,
            )

    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        return runner.run(run())


@override_settings(SAGE_TURN_SECONDS=None)
@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("steps", [PINGED, (200.0,)], ids=["pings", "silence"])
def test_the_first_words_of_a_local_server_may_come_after_minutes(steps: tuple[Step, ...]) -> None:
    assert wait_for(*steps) == Waited(shown="Hello", told=None, requests=1, seconds=200)


@override_settings(SAGE_TURN_SECONDS=None)
@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("steps", [PINGED * 2, (400.0,)], ids=["pings", "silence"])
def test_what_a_local_server_was_too_slow_for_isnt_asked_again(steps: tuple[Step, ...]) -> None:
    assert wait_for(*steps) == Waited(shown="", told="It failed: out_of_time.", requests=1, seconds=300)


@override_settings(SAGE_TURN_SECONDS=None)
def test_a_quick_server_that_is_silent_is_asked_again_until_the_turn_is_over() -> None:
    waited = wait_for(200.0)
    assert (waited.shown, waited.told, waited.seconds) == ("", "It failed: out_of_time.", 55)
    assert waited.requests > 1
