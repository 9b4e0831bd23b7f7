"""What Sage says where the model fails."""

from typing import get_args

import pytest

from coaching.engine.errors import FailureReason, UpstreamError
from coaching.engine.failures import failure_of
from coaching.transcript.notices import HAPPENED, shown_notice
from coaching.turns.words import FAILURES, failure_sentence


def test_every_reason_to_fail_has_its_sentence() -> None:
    assert set(FAILURES) == set(get_args(FailureReason))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [("1", "1 second."), ("90", "90 seconds."), ("600", "10 minutes."), ("7201", "3 hours.")],
)
def test_a_wait_is_named_in_words_that_fit(seconds: str, words: str) -> None:
    said = failure_sentence(failure_of(429, "", {"retry-after": seconds}))
    assert said == f"The model is getting too many requests right now. Try again in {words}"


@pytest.mark.parametrize("seconds", [None, 0.4])
def test_no_wait_is_named_where_there_is_none_to_speak_of(seconds: float | None) -> None:
    failure = UpstreamError("overloaded", is_retryable=True, retry_after_seconds=seconds)
    assert failure_sentence(failure) == FAILURES["overloaded"]


def test_no_wait_is_named_where_waiting_does_not_help() -> None:
    assert failure_sentence(failure_of(400, "", {"retry-after": "90"})) == FAILURES["rejected"]


@pytest.mark.parametrize("reason", ["rate_limited", "overloaded", "unavailable", "circuit_open"])
@pytest.mark.parametrize("seconds", [1, 90, 600, 7201])
def test_a_stored_sentence_is_shown_with_its_wait(reason: FailureReason, seconds: int) -> None:
    failure = UpstreamError(reason, is_retryable=True, retry_after_seconds=seconds)
    stored = failure_sentence(failure)
    happened = stored.partition(". ")[0]
    assert f"{happened}." in HAPPENED, "then each part is translated"
    assert shown_notice(stored) == stored
