"""What a browser keeps for reading offline, and what is never in it."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from coaching.files.safety_plans import PLAN_PATH
from coaching.life.capture_verdicts import note_capture
from coaching.life.captures import keep_capture
from coaching.models import FileSource, FileType, LifeDomain, Photo, Profile, PulseRating, UserFileVersion
from coaching.people.languages import in_language_of
from coaching.personal_data.device_copy import DAYS, MAX_BYTES, read_copy, write_copy
from coaching.safety.card import METADATA_KEY, danger_in, metadata_of
from sessions_app.models import Message, Session, ToolCallRecord, ToolCallState, Turn
from sessions_app.organising import delete_session
from sessions_app.verdicts import NewVerdict, store_verdict
from tests.letters.months import add, at, keep, talk, wanting

NOW = datetime(2026, 10, 20, 21, tzinfo=UTC)
DANGER = "I want to kill myself."

pytestmark = pytest.mark.django_db


@pytest.fixture
def profile(user: User) -> Profile:
    """Somebody in UTC."""
    return wanting(user)


def copy_of(profile: Profile) -> str:
    return write_copy(read_copy(profile, now=NOW))


def capture(profile: Profile, text: str, moment: datetime = NOW) -> None:
    keep_capture(user_id=profile.user_id, text=text, client_id=text[:50], now=moment, timezone=profile.zone)


def call(session: Session, **given: Any) -> ToolCallRecord:
    """Store an answered call in the first turn of a conversation."""
    usual = {"round_number": 1, "position": 0, "tool_use_id": "toolu_1", "name": "show_options"}
    ended = {"state": ToolCallState.ANSWERED, "finished_at": NOW}
    turn = session.turns.order_by("started_at")[0]
    return ToolCallRecord.unscoped.create(turn=turn, **usual | ended | given)


def test_the_last_days_and_the_newest_conversation_are_in_it(user: User, profile: Profile) -> None:
    first = NOW - timedelta(days=DAYS - 1)
    capture(profile, "Of the first day.", first)
    capture(profile, "Of the day before.", first - timedelta(days=1))
    keep(user, FileType.DAY_PLAN, "2026-10-20", intention="Swim before work.")
    keep(user, FileType.DAILY_LOG, "2026-10-19", mood_signal="calm")
    PulseRating.unscoped.create(user=user, domain=LifeDomain.CAREER, rating=4, rated_at=NOW)
    talk(user, at(3), "An older conversation.")
    talk(user, at(20), "The lake was calm.", "So was I.", answer="It sounds so.")
    copy = copy_of(profile)
    for words in (
        "On this device, as of 20 October 2026, 21:00",
        "Of the first day.", "Swim before work.", "calm", "Some words.", "<strong>4</strong>",
        "The lake was calm.", "So was I.", "It sounds so.",
    ):  # fmt: skip
        assert words in copy, words
    assert "Of the day before." not in copy
    assert "An older conversation." not in copy
    assert copy.index("Tuesday, 20 October 2026") < copy.index("Monday, 19 October 2026")
    assert "<a " not in copy
    assert " id=" not in copy


def test_formulas_are_in_it_as_they_are_written(user: User, profile: Profile) -> None:
    talk(user, at(20), "How?", answer=r"Take \(x^2\).")
    assert r'<span class="formula">\(x^2\)</span>' in copy_of(profile)


def test_it_says_so_where_there_is_nothing(profile: Profile) -> None:
    assert "There was nothing to copy yet." in copy_of(profile)


def test_what_was_tapped_is_in_it_as_words(user: User, profile: Profile) -> None:
    session = talk(user, NOW, "Hello.")
    options = [{"label": "The lake", "value": "lake"}, {"label": "The hills", "value": "hills"}]
    call(session, input={"prompt": "Where to?", "options": options}, value="hills")
    copy = copy_of(profile)
    assert "Where to?" in copy
    assert "Your answer: <bdi>The hills</bdi>" in copy
    assert "The lake" not in copy


def test_words_stay_text(user: User, profile: Profile) -> None:
    capture(profile, "<script>alert(1)</script>")
    talk(user, NOW, "<img src=x onerror=alert(2)>", answer="<script>alert(3)</script>**bold**")
    copy = copy_of(profile)
    assert "<script" not in copy
    assert "<img" not in copy
    assert "&lt;img src=x onerror=alert(2)&gt;" in copy


def test_it_is_in_the_persons_language(user: User, profile: Profile) -> None:
    profile.language = "de"
    profile.save()
    user.refresh_from_db()
    with in_language_of(user):
        assert 'lang="de"' in copy_of(profile)


@pytest.mark.parametrize(
    "metadata",
    [metadata_of(DANGER), {"danger_elsewhere": "concern"}],
    ids=["here", "in another program"],
)
def test_a_turn_with_danger_is_left_out_with_its_answer_and_its_day(
    user: User, profile: Profile, metadata: Mapping[str, Any]
) -> None:
    capture(profile, "Of that day.")
    session = talk(user, NOW - timedelta(days=1), "The lake was calm.")
    add(session, NOW, "The bridge is quiet.", answer="Thank you for telling me.", **metadata)
    copy = copy_of(profile)
    assert "The lake was calm." in copy
    for words in ("The bridge is quiet.", "Thank you for telling me.", "Of that day."):
        assert words not in copy, words


def test_a_turn_that_a_second_look_found_dangerous_is_left_out(user: User, profile: Profile) -> None:
    capture(profile, "Of that day.")
    session = talk(user, NOW - timedelta(days=1), "The lake was calm.")
    quiet = add(session, NOW, "The bridge is quiet.", answer="Thank you for telling me.")
    store_verdict(quiet.pk, NewVerdict(level="concern", looked="concern"))
    copy = copy_of(profile)
    assert "The lake was calm." in copy
    for words in ("The bridge is quiet.", "Thank you for telling me.", "Of that day."):
        assert words not in copy, words


def test_a_turn_with_danger_in_an_answer_is_left_out(user: User, profile: Profile) -> None:
    session = talk(user, NOW, "The lake was calm.")
    add(session, NOW + timedelta(days=1), "So was I.")
    danger = metadata_of(DANGER)[METADATA_KEY]
    call(session, value="The bridge", metadata={METADATA_KEY: danger})
    copy = copy_of(profile)
    assert "The lake was calm." not in copy
    assert "So was I." in copy


def test_words_that_only_todays_rules_know_are_left_out(user: User, profile: Profile) -> None:
    session = talk(user, NOW - timedelta(days=2), "The lake was calm.")
    message = add(session, NOW - timedelta(days=3), "So was I.", answer="Good.")
    Message.unscoped.filter(pk=message.pk).update(content=DANGER)
    keep(user, FileType.DAY_PLAN, "2026-10-19", intention=DANGER)
    keep(user, FileType.DAY_PLAN, "2026-10-18", intention="Swim before work.")
    copy = copy_of(profile)
    assert "kill" not in copy
    assert "The lake was calm." in copy
    assert "Swim before work." in copy
    assert "19 October" not in copy


@pytest.mark.parametrize("days", [0, 60], ids=["of these weeks", "older than the days in it"])
def test_the_rest_of_a_day_of_danger_is_left_out_of_the_conversation(
    user: User, profile: Profile, days: int
) -> None:
    moment = NOW - timedelta(days=days)
    session = talk(user, moment - timedelta(days=1), "The lake was calm.")
    Session.unscoped.filter(pk=session.pk).update(title="Tonight")
    add(session, moment - timedelta(hours=3), "I can’t sleep.")
    add(session, moment - timedelta(hours=2), DANGER)
    add(session, moment - timedelta(hours=1), "Yes, tonight.", answer="I’m staying with you.")
    copy = copy_of(profile)
    assert "The lake was calm." in copy
    for words in ("I can’t sleep.", "kill", "Yes, tonight.", "I’m staying with you.", ">Tonight<"):
        assert words not in copy, words


def test_a_turn_with_danger_in_what_was_asked_or_noted_is_left_out(user: User, profile: Profile) -> None:
    options = [{"label": "Yes", "value": "yes"}, {"label": "No", "value": "no"}]
    asked = talk(user, NOW, "Hello.")
    call(asked, input={"prompt": "Are you thinking about ending your life?", "options": options}, value="yes")
    copy = copy_of(profile)
    assert "ending your life" not in copy
    assert "Your answer" not in copy

    noted = talk(user, NOW + timedelta(minutes=1), "Hello again.")
    ratings = {"name": "show_pulse_check", "input": {"domains": ["career"]}}
    pulse = call(noted, **ratings, value={"ratings": {"career": 4}, "note": "A long day."})
    assert "A long day." in copy_of(profile)
    pulse.value = {"ratings": {"career": 4}, "note": DANGER}
    pulse.save()
    copy = copy_of(profile)
    assert "Hello again." not in copy
    assert "kill" not in copy


@pytest.mark.parametrize("file_type", [FileType.DAY_PLAN, FileType.CHECK_IN, FileType.DAILY_LOG])
def test_a_day_with_danger_in_any_of_its_files_is_left_out(
    user: User, profile: Profile, file_type: FileType
) -> None:
    keep(user, file_type, "2026-10-19")
    keep(user, FileType.DAY_PLAN, "2026-10-18", intention="Swim before work.")
    written = UserFileVersion.of(user.pk).filter(file__path__contains="2026-10-19")
    assert "19 October" in copy_of(profile)
    written.update(content=f"{written.get().content}\n\n{DANGER}")
    copy = copy_of(profile)
    assert "19 October" not in copy
    assert "Swim before work." in copy


def test_the_day_of_a_dangerous_capture_or_photo_is_left_out(user: User, profile: Profile) -> None:
    capture(profile, "The bridge is quiet.")
    version = UserFileVersion.of(user.pk).get()
    danger = danger_in(DANGER)
    note_capture(user_id=user.pk, file_id=version.file_id, version=version.number, danger=danger)
    photo(user, date(2026, 10, 19), danger_level="concern", description="The bridge.")
    capture(profile, "Of the photo’s day.", NOW - timedelta(days=1))
    capture(profile, "Of a calm day.", NOW - timedelta(days=2))
    copy = copy_of(profile)
    assert "Of a calm day." in copy
    assert "The bridge" not in copy
    assert "Of the photo’s day." not in copy


def photo(user: User, day: date, **given: Any) -> None:
    size = {"size": 1, "width": 1, "height": 1, "thumbnail": b"x"}
    name = f"{day}"
    Photo.unscoped.create(
        user=user, day=day, source_sha256=name, storage_key=name, sha256=name, **size | given
    )


def test_photos_are_counted_and_letters_left_out(user: User, profile: Profile) -> None:
    photo(user, NOW.date(), description="The lake at noon.")
    keep(user, FileType.LETTER, "2026-09", preview_line="You slept.", source=FileSource.JOB)
    copy = copy_of(profile)
    assert "1 photo" in copy
    assert "The lake at noon." not in copy
    assert "You slept." not in copy


@pytest.mark.parametrize(
    "given",
    [
        {"name": "save_file", "input": {"file_type": "safety-plan", "content": "My plan"}},
        {"name": "read_file", "input": {"path": PLAN_PATH}},
        {"name": "load_skill", "input": {"name": "safety-plan"}},
    ],
    ids=["saved", "read", "its skill"],
)
def test_a_conversation_about_the_safety_plan_is_left_out(
    user: User, profile: Profile, given: Mapping[str, Any]
) -> None:
    talk(user, at(19), "The lake was calm.")
    session = talk(user, NOW, "Let’s write my plan.")
    call(session, state=ToolCallState.FINISHED, **given)
    copy = copy_of(profile)
    assert "The lake was calm." in copy
    assert "Let’s write my plan." not in copy


def test_deleted_and_archived_conversations_are_left_out(user: User, profile: Profile) -> None:
    talk(user, at(18), "The lake was calm.")
    archived = talk(user, at(19), "Put away.")
    Session.unscoped.filter(pk=archived.pk).update(archived_at=timezone.now())
    delete_session(user_id=user.pk, session_id=talk(user, NOW, "Deleted.").pk)
    copy = copy_of(profile)
    assert "The lake was calm." in copy
    assert "Put away." not in copy
    assert "Deleted." not in copy


def test_hidden_and_withdrawn_messages_are_left_out(user: User, profile: Profile) -> None:
    session = talk(user, NOW, "The lake was calm.")
    add(session, NOW, "Go on.", is_hidden=True)
    withdrawn = add(session, NOW, "What I meant to say.", answer="I see.")
    Turn.unscoped.filter(pk=withdrawn.turn_id).update(is_withdrawn=True)
    copy = copy_of(profile)
    assert "The lake was calm." in copy
    for words in ("Go on.", "What I meant to say.", "I see."):
        assert words not in copy, words


def test_others_words_are_never_in_it(user: User, other_user: User, profile: Profile) -> None:
    theirs = wanting(other_user)
    capture(theirs, "Hers alone.")
    talk(other_user, NOW, "Hers, too.")
    assert "Hers" not in copy_of(profile)


def test_a_long_conversation_is_cut_before_the_days_are(user: User, profile: Profile) -> None:
    capture(profile, "Of today.")
    session = talk(user, NOW, "The first words.")
    for number in range(29):
        add(session, NOW, f"{number}: {'é' * 20_000}", answer=f"Answer {number}.")
    copy = copy_of(profile)
    assert len(copy.encode()) < MAX_BYTES
    assert "28: é" in copy
    answered = {number for number in range(29) if f"Answer {number}." in copy}
    assert answered == {number for number in range(29) if f">{number}: é" in copy}
    assert 1 < len(answered) < 29
    assert "Earlier messages are in Sage." in copy
    assert '<p dir="auto">The first words.' not in copy
    assert "Of today." in copy


def test_a_copy_takes_few_queries(
    user: User, profile: Profile, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for day in range(1, 20):
        capture(profile, f"Of day {day}.", at(day))
        talk(user, at(day), "The lake was calm.", "So was I.")
    with django_assert_max_num_queries(25):
        read_copy(profile, now=NOW)
