"""How long a local model will read before its first words, as readers are told it."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.utils import translation

from coaching.events import ModelReads, TurnEvent
from coaching.transcript.reading import reading_words
from coaching.turns.reading import reading_seconds, tell_reading
from coaching.turns.request import TurnRequest
from coaching.turns.setup import TurnSetup
from coaching.turns.start import start_turn
from sessions_app.database import in_database
from sessions_app.limits import RateLimit
from sessions_app.models import ModelUsage, Session, UsagePurpose
from tests.model_client.test_servers import local

__all__ = ["local"]

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = "word " * 2_000
"""About 2,900 tokens, by the estimate."""


def setup_of(session: Session) -> TurnSetup:
    started = start_turn(
        TurnRequest(kind="message", user_id=session.user_id, session_id=session.id, text=WORDS),
        owner="me",
        rate_limit=RateLimit(turns=10_000, seconds=60),
    )
    assert started.setup is not None
    return replace(started.setup, request=replace(started.setup.request, model="own"))


def call(user: User, session: Session | None = None, *, tokens: int, seconds: int) -> None:
    ModelUsage.unscoped.create(
        user=user,
        session=session,
        purpose=UsagePurpose.TURN if session else UsagePurpose.BRIEF,
        model="own",
        input_tokens=tokens,
        first_token_ms=seconds * 1_000,
        duration_ms=seconds * 1_000,
    )


async def told(setup: TurnSetup) -> list[TurnEvent]:
    events: list[TurnEvent] = []
    await tell_reading(setup, events.append)
    return events


@pytest.mark.usefixtures("local")
def test_the_time_follows_from_what_the_model_has_read_lately_and_knows_of_the_conversation(
    user: User, session: Session
) -> None:
    setup = setup_of(session)
    assert reading_seconds(setup) is None
    call(user, tokens=1_000, seconds=10)
    whole = reading_seconds(setup)
    assert whole is not None
    assert whole > 2_000 / 100
    call(user, session, tokens=1_000, seconds=10)
    assert reading_seconds(setup) == whole - 10
    call(user, session, tokens=100_000, seconds=1_000)
    assert reading_seconds(setup) == 0


@pytest.mark.usefixtures("local")
async def test_readers_are_told_of_a_wait_that_is_long_or_that_nobody_knows(
    user: User, session: Session
) -> None:
    setup = await in_database(setup_of, session)
    assert await told(setup) == [ModelReads(seconds=None)]
    await in_database(call, user, tokens=1_000, seconds=10)
    (event,) = await told(setup)
    assert event == ModelReads(seconds=await in_database(reading_seconds, setup))
    await in_database(call, user, tokens=1_000_000, seconds=1)
    assert await told(setup) == []


async def test_nobody_is_told_with_a_server_that_is_quick(session: Session) -> None:
    assert await told(await in_database(setup_of, session)) == []


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "Sage’s model is reading"),
        (6, "Sage’s model is reading, about 10 seconds"),
        (44, "Sage’s model is reading, about 40 seconds"),
        (55, "Sage’s model is reading, about a minute"),
        (170, "Sage’s model is reading, about 3 minutes"),
    ],
)
def test_a_page_says_about_how_long(seconds: int | None, words: str) -> None:
    with translation.override("en"):
        assert reading_words(seconds) == words
