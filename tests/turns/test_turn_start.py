"""A turn's start: message, turn and prompt are one commit, and a failed build loses no message."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from coaching.clock.days import local_day
from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.breaker import BreakerClient
from coaching.engine.budget import StopSignal
from coaching.events import TurnEvent
from coaching.models import DayPlan, Profile
from coaching.practice.server import PracticeServer
from coaching.transcript.cards import read_card_of_new
from coaching.turns import answering
from coaching.turns.request import TurnRequest
from coaching.turns.second_looks import read_words
from coaching.turns.start import StartedTurn, start_turn
from coaching.turns.words import FAILURES
from sessions_app import session_services, turn_endings
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.limits import RateLimit
from sessions_app.models import Session, SessionBrief, SessionStatus, Turn, TurnStatus
from sessions_app.pending_calls import await_user
from sessions_app.queries import Condition, Query, Rows
from sessions_app.turn_endings import Ending
from sessions_app.turn_locks import TurnKey
from sessions_app.turn_records import NewCall
from tests.jobs.conftest import opened_session
from tests.stored_turns import store_round

ASKED = "Are you thinking of killing yourself?"
NO_LIMIT = RateLimit(turns=10_000, seconds=60)
DONE = Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn")
MAX_STATEMENTS = 19  # one of them reads what Sage asked, in the round trip of the life
"""For a turn's start: queries for the user's data, the session's, the turn's rows, begin and commit."""


def start(session: Session, text: str = "Hello", client_id: str | None = None) -> StartedTurn:
    return start_turn(
        TurnRequest(
            kind="message", user_id=session.user_id, session_id=session.id, text=text, client_id=client_id
        ),
        owner="me",
        rate_limit=NO_LIMIT,
    )


def key_of(started: StartedTurn) -> TurnKey:
    turn = started.opened.turn
    return TurnKey(turn_id=turn.id, fence=turn.fence)


@pytest.mark.django_db
def test_a_turn_is_committed_with_the_request_that_is_sent(session: Session) -> None:
    started = start(session)
    assert started.setup is not None
    stored = Turn.unscoped.get(id=started.opened.turn.id)
    request = started.setup.request
    prefix = {"tools": request.tools, "system": request.system, "messages": request.messages}
    assert json.loads(stored.prefix) == prefix
    assert stored.model == request.model
    assert "skills" in stored.metadata
    session.refresh_from_db()
    assert session.opening
    message = stored.messages.get()
    assert (message.content, message.number, session.last_message_number) == ("Hello", 1, 1)
    assert message.metadata["said"]
    assert request.messages[-1]["content"][-1]["text"] == "Hello"


@pytest.mark.django_db
def test_a_start_takes_few_statements_with_a_first_and_with_a_later_message(session: Session) -> None:
    Profile.unscoped.create(user_id=session.user_id)
    for text in ("Hello", "And now?"):
        with CaptureQueriesContext(connection) as statements:
            started = start(session, text)
        assert len(statements) <= MAX_STATEMENTS, [row["sql"][:80] for row in statements]
        turn_endings.close_turn(key_of(started), DONE)


@pytest.mark.django_db
@pytest.mark.parametrize(("prompt", "is_heard"), [(ASKED, True), ("What would you like to do?", False)])
def test_words_instead_of_a_tap_are_heard_with_the_question_that_waits(
    session: Session, prompt: str, is_heard: bool
) -> None:
    turn_endings.close_turn(key_of(start(session)), DONE)
    waiting = key_of(start(session, "I can't sleep."))
    options = {
        "prompt": prompt,
        "options": [{"label": "Yes", "value": "yes"}, {"label": "No", "value": "no"}],
    }
    call = NewCall(tool_use_id="t1", name="show_options", position=0, input=options, is_interactive=True)
    store_round(waiting, text="I hear you.", calls=[call])
    await_user(waiting, stop_reason="tool_use")
    metadata = start(session, "Every night.").opened.message.metadata
    assert ("safety" in metadata) is is_heard


@pytest.mark.django_db
def test_a_start_reads_the_brief_only_for_a_new_opening(session: Session) -> None:
    turn_endings.close_turn(key_of(start(session)), DONE)
    SessionBrief.unscoped.create(session=session, version=1, text="- You rest", covers_from=1, covers_until=1)
    Session.unscoped.update(brief_covers=1)
    counts = []
    for revision in (0, 1):
        Session.unscoped.update(brief_revision=revision)
        with CaptureQueriesContext(connection) as statements:
            started = start(session, "And now?")
        counts.append(len(statements))
        turn_endings.close_turn(key_of(started), DONE)
    assert counts[1] - counts[0] == 2, "the brief and its corrections"


@pytest.mark.django_db
def test_who_has_moved_to_another_time_zone_is_asked_about_the_day_that_is_there(session: Session) -> None:
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):  # their dates always differ
        Profile.unscoped.update_or_create(user_id=session.user_id, defaults={"timezone": zone})
        today = local_day(timezone.now(), ZoneInfo(zone))
        DayPlan.unscoped.create(user_id=session.user_id, date=today, intention=f"To be in {zone}")
        started = start(session)
        assert started.setup is not None
        said = json.dumps(started.setup.request.messages[-1])
        assert f'<todays_plan date=\\"{today:%A %Y-%m-%d}' in said
        assert f"To be in {zone}" in said
        turn_endings.close_turn(key_of(started), DONE)


@pytest.mark.django_db
def test_who_may_not_speak_any_more_leaves_nothing_behind(session: Session) -> None:
    class GoneError(Exception):
        """The user has signed out."""

    def refuse(_: Rows) -> None:
        raise GoneError

    access = Condition(Query("SELECT 1", {}), refuse)
    with pytest.raises(GoneError):
        start_turn(
            TurnRequest(
                kind="message",
                user_id=session.user_id,
                session_id=session.id,
                access=access,
                text="Hello",
                client_id=None,
            ),
            owner="me",
            rate_limit=NO_LIMIT,
        )
    assert not Turn.unscoped.exists()


@pytest.mark.django_db
def test_the_same_message_twice_is_the_same_turn_and_brings_no_request(session: Session) -> None:
    first = start(session, client_id="a")
    again = start(session, client_id="a")
    assert (again.opened.turn, again.opened.is_new, again.setup) == (first.opened.turn, False, None)


@pytest.mark.django_db
def test_a_message_to_a_session_that_has_ended_begins_in_the_one_that_follows(session: Session) -> None:
    turn_endings.close_turn(key_of(start(session)), DONE)
    session_services.end_session(
        user_id=session.user_id, session_id=session.id, status=SessionStatus.ABANDONED
    )
    started = start(session, "Again")
    assert started.setup is not None
    assert started.setup.session_id == started.opened.session_id != session.id
    assert len(started.setup.request.messages) == 1
    assert "Last session: conversation, earlier today" in json.dumps(started.setup.request.messages)


@pytest.mark.django_db
def test_an_answer_that_is_tried_again_is_asked_for_without_what_was_withdrawn(session: Session) -> None:
    first = start(session)
    turn_endings.close_turn(key_of(first), Ending(status=TurnStatus.FAILED, stop_reason="error"))
    started = start_turn(
        TurnRequest(kind="retry", user_id=session.user_id, session_id=session.id),
        owner="me",
        rate_limit=NO_LIMIT,
    )
    assert started.setup is not None
    assert started.opened.turn.messages.get().id == first.opened.message.id
    assert len(started.setup.request.messages) == 1
    assert Turn.unscoped.get(id=started.opened.turn.id).prefix


@pytest.mark.django_db
def test_a_refusal_leaves_nothing_behind(session: Session) -> None:
    start(session)
    with pytest.raises(Refused):
        start(session, "Too early")
    with pytest.raises(Session.DoesNotExist):
        start(Session(id=uuid.uuid4(), user_id=session.user_id))
    assert Turn.unscoped.count() == 1


@contextmanager
def without_table(name: str) -> Iterator[None]:
    rename(name, f"{name}_hidden")
    try:
        yield
    finally:
        rename(f"{name}_hidden", name)


def rename(table: str, name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {name}")


@pytest.mark.django_db(transaction=True)
def test_a_read_that_fails_leaves_its_section_out_and_the_message_is_kept(session: Session) -> None:
    with without_table("coaching_pulserating"):
        started = start(session)
    assert started.setup is not None
    stored = Turn.unscoped.get(id=started.opened.turn.id)
    assert stored.metadata["context"]["left_out"] == ["pulse_baseline"]
    assert stored.messages.get().content == "Hello"


@pytest.mark.django_db(transaction=True)
def test_a_yes_to_sage_s_question_is_heard_where_part_of_the_life_can_t_be_read(session: Session) -> None:
    first = key_of(start(session))
    store_round(first, text=ASKED)
    turn_endings.close_turn(first, DONE)
    with without_table("coaching_pulserating"):
        started = start(session, "Every night.")
    assert started.danger is not None
    assert read_card_of_new(started.opened.message) is not None


@pytest.mark.django_db(transaction=True)
async def test_a_request_that_cannot_be_built_loses_no_message(session: Session) -> None:
    await in_database(Session.unscoped.filter(id=session.id).update, opening="{no opening")
    started = await in_database(start, session)
    assert started.setup is None
    assert (started.opened.message.content, started.opened.turn.prefix) == ("Hello", "")
    shown: list[TurnEvent] = []
    async with (
        PracticeServer(keeps_bodies=True) as practice,
        AnthropicClient("practice", practice.url) as client,
    ):
        done = await answering.answer(
            key_of(started),
            client=BreakerClient(client),
            publish=shown.append,
            stop=StopSignal(),
            setup=started.setup,
            on_setup=lambda _: None,
        )
    turn = await in_database(Turn.unscoped.get, id=started.opened.turn.id)
    assert (done.status, turn.user_notice) == (TurnStatus.FAILED, FAILURES["internal"])
    assert shown == []
    assert practice.requests == []


@pytest.mark.django_db
def test_a_second_look_gets_the_same_words_from_the_start_as_from_the_database(
    user: User, settings: Settings
) -> None:
    settings.SAGE_SAFETY_MODEL = "claude-haiku-5-5"
    texts = [
        "[CAPTURE] One",
        "I see.",
        "Two",
        ASKED,
        "Three",
        "And you?",
        "Four",
        "Yes.",
        "Five",
        "I hear you.",
    ]
    session = opened_session(user, *texts)
    started = start(session, "Only at night.")
    assert started.look_subject is not None
    assert started.look_subject == read_words(started.opened.turn.id)
    assert (started.look_subject.asked, started.look_subject.earlier) == (
        "I hear you.",
        ["Three", "Four", "Five"],
    )
    turn_endings.close_turn(key_of(started), DONE)
    assert start(session, "I want to kill myself.").look_subject is None, "clear danger needs no look"
