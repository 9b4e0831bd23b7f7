"""What is sent to the model in the days after danger: what stands, what is asked when, and no offer."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.contrib.auth.models import User

from coaching.care.questions import end_care
from coaching.life.capture_verdicts import note_capture
from coaching.models import CaptureVerdict, CareAsk, CareEnd, Profile
from coaching.safety.card import ELSEWHERE_KEY, metadata_of
from coaching.turns.preview import preview_request
from coaching.turns.second_looks import LookResult, read_words, store_looks
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import (
    Message,
    MessageRole,
    Session,
    SessionKind,
    ToolCallRecord,
    ToolCallState,
    Turn,
    TurnStatus,
)
from sessions_app.organising import delete_session, restore_session
from sessions_app.verdicts import NewVerdict, store_verdict
from tests.context.conftest import Talk, put_file, text_blocks
from tests.messages import append_message

NIGHT = datetime(2026, 11, 16, 22, 30, tzinfo=UTC)  # a Monday; Lisbon has UTC in winter
ACUTE, DARK, FRIEND = (
    "I want to kill myself.",
    "I'm such a burden to everybody.",
    "My friend wants to kill himself.",
)
ASK = '<care ask="now">'
OFFER = re.compile(r"<offer |Check-in: (?:overdue|due|next)|<skill name=\"domain-deep-dive\">")


def spoke(user: User, words: str, at: datetime, *, later: Sequence[str] = (), **more: Any) -> Message:
    """Let the person have said something in a conversation of its own, judged by the rules."""
    session = Session.unscoped.create(user=user, started_at=at, last_active_at=at)
    first = None
    for place, text in enumerate((words, *later)):
        turn = Turn.unscoped.create(session=session, status=TurnStatus.COMPLETED, ended_at=at)
        metadata = more.get("metadata", metadata_of(text)) if place == 0 else metadata_of(text)
        message = append_message(
            session=session, turn=turn, role=MessageRole.USER, content=text, metadata=metadata
        )
        append_message(session=session, turn=turn, role=MessageRole.ASSISTANT, content="I'm here.")
        Message.unscoped.filter(session=session, turn=turn).update(created_at=at + timedelta(minutes=place))
        first = first or message
    Session.unscoped.filter(id=session.id).update(last_active_at=at)
    assert first is not None
    return first


def prompt(user: User, at: datetime, *, text: str = "Good morning.", session: Session | None = None) -> str:
    """Return the next request, without tools and system, which name every section."""
    seen = preview_request(user_id=user.pk, now=at, text=text, session=session)
    return "\n".join(block for block in text_blocks({"messages": seen.request.messages}))


def after(days: int, hour: int = 9) -> datetime:
    return NIGHT.replace(hour=hour) + timedelta(days=days)


@pytest.fixture
def troubled(person: User) -> User:
    """Somebody to whom everything would be offered: no map, no plan, an overdue check-in, a flagged part."""
    Profile.unscoped.filter(user=person).update(next_checkin_on=date(2026, 11, 1))
    put_file(person, "life-map/health.md", "Bad.", status="in_crisis")
    return person


@pytest.mark.django_db
class TestRequests:
    """By the day, the level and whose danger it was."""

    @pytest.mark.parametrize(
        ("words", "days", "stands", "asks"),
        [
            (ACUTE, 0.05, True, False),
            (ACUTE, 1, True, True),
            (ACUTE, 3, True, True),
            (ACUTE, 7, True, True),
            (ACUTE, 14, True, True),
            (ACUTE, 15, False, False),
            (DARK, 1, True, True),
            (DARK, 7, True, True),
            (DARK, 8, False, False),
        ],
    )
    def test_the_persons_own_danger(
        self, troubled: User, words: str, days: float, stands: bool, asks: bool
    ) -> None:
        spoke(troubled, words, NIGHT)
        at = NIGHT + timedelta(hours=1) if days < 1 else after(int(days))
        text = prompt(troubled, at)
        assert (text.startswith("<care>"), ASK in text) == (stands, asks)
        assert bool(OFFER.search(text)) is not stands
        if stands:
            level = "that may be acute" if words == ACUTE else "possible danger"
            assert "Monday 2026-11-16: " in text
            assert level in text
            until = "Monday 2026-11-30" if words == ACUTE else "Monday 2026-11-23"
            assert f"Until {until}: be gentle" in text

    def test_how_it_ended_is_said_with_an_ordinary_conversation_between(self, troubled: User) -> None:
        spoke(troubled, ACUTE, NIGHT)
        assert "It was the last thing that they wrote in that conversation." in prompt(troubled, after(1))
        other = spoke(troubled, ACUTE, NIGHT + timedelta(hours=1), later=["I've called my sister."])
        spoke(troubled, "What shall I cook?", after(1))
        text = prompt(troubled, after(2))
        assert text.startswith("<care>")
        assert "They went on writing in that conversation." in text
        assert "They went on" not in prompt(troubled, after(2), session=other.session)

    def test_a_safety_plan_may_be_offered_once_on_a_later_day_on_which_sage_doesnt_ask(
        self, troubled: User
    ) -> None:
        skill = '<skill name="safety-plan">'
        spoke(troubled, ACUTE, NIGHT)
        assert skill not in prompt(troubled, NIGHT + timedelta(hours=1))
        assert skill not in prompt(troubled, after(1)), "it asks first"
        CareAsk.of(troubled.pk).create(asked_on=after(1).date(), about="self", message_number=1)
        assert skill in prompt(troubled, after(2))
        offered = spoke(troubled, "What shall I cook?", after(2)).turn
        offered.metadata = {"skills": {"said": ["safety-plan"]}}
        offered.save()
        assert skill not in prompt(troubled, after(2))

    def test_danger_to_a_friend_is_asked_about_once_and_lets_offers_go_on(self, troubled: User) -> None:
        spoke(troubled, FRIEND, NIGHT)
        text = prompt(troubled, after(1))
        assert "danger to somebody else" in text
        assert "how that person is" in text
        assert len(OFFER.findall(text)) == 2
        CareAsk.of(troubled.pk).create(asked_on=after(1).date(), about="other", message_number=1)
        text = prompt(troubled, after(2))
        assert text.startswith("<care>")
        assert ASK not in text
        assert "<care>" not in prompt(troubled, after(8))

    @pytest.mark.parametrize(
        "marked", ["immediate", {"level": "immediate", "about": "self", "topic": "life"}]
    )
    def test_imported_danger_counts_from_the_day_on_which_it_was_said(
        self, troubled: User, marked: Any
    ) -> None:
        spoke(troubled, "…", NIGHT, metadata={ELSEWHERE_KEY: marked, "imported_id": "1"})
        text = prompt(troubled, after(10))
        assert "in another program" in text
        assert ASK in text
        assert not OFFER.search(text)
        assert "<care>" not in prompt(troubled, after(15))

    def test_the_newest_acute_danger_starts_the_days_anew_and_a_concern_doesnt_shorten_them(
        self, troubled: User
    ) -> None:
        spoke(troubled, ACUTE, NIGHT)
        spoke(troubled, DARK, after(2))
        assert "Until Monday 2026-11-30" in prompt(troubled, after(13))
        spoke(troubled, ACUTE, after(5))
        assert "Until Saturday 2026-12-05" in prompt(troubled, after(13))
        assert ASK not in prompt(troubled, after(5, 23))

    def test_words_in_danger_now_arent_answered_with_a_question_about_the_past(self, troubled: User) -> None:
        spoke(troubled, ACUTE, NIGHT)
        assert ASK not in prompt(troubled, after(1), text=ACUTE)


@pytest.mark.django_db
class TestTruth:
    """It follows what becomes of the words."""

    def judged(self, message: Message, level: str) -> None:
        store_verdict(message.pk, NewVerdict(level=message.metadata["safety"]["level"]))
        looked = read_words(message.turn_id)
        assert looked is not None
        store_looks(
            [(looked, LookResult(outcome="none" if level == "none" else level, danger=None, model="m"))]
        )

    def test_a_concern_of_the_rules_alone_ends_when_the_judge_sees_none(self, troubled: User) -> None:
        message = spoke(troubled, DARK, NIGHT)
        assert prompt(troubled, after(1)).startswith("<care>")
        self.judged(message, "none")
        text = prompt(troubled, after(1))
        assert "<care" not in text
        assert OFFER.search(text)

    def test_it_doesnt_where_sage_noticed_it_too(self, troubled: User) -> None:
        message = spoke(troubled, DARK, NIGHT)
        store_verdict(message.pk, NewVerdict(level="concern", noticed="concern"))
        self.judged(message, "none")
        assert prompt(troubled, after(1)).startswith("<care>")

    def test_a_judge_that_fails_changes_nothing(self, troubled: User) -> None:
        message = spoke(troubled, DARK, NIGHT)
        for outcome in ("failed", "given_up", "nonsense", "skipped"):
            store_verdict(message.pk, NewVerdict(level="none", looked=outcome))
            assert prompt(troubled, after(1)).startswith("<care>")

    def test_a_late_verdict_counts_from_the_day_of_the_words(self, troubled: User) -> None:
        message = spoke(troubled, "My cat is with the neighbour now.", NIGHT)
        assert "<care" not in prompt(troubled, after(3))
        store_verdict(message.pk, NewVerdict(level="immediate", looked="immediate", model="m"))
        text = prompt(troubled, after(3))
        assert "Monday 2026-11-16: danger to themselves that may be acute" in text
        assert ASK in text

    def test_what_sage_raised_after_reading_others_texts_leaves_none(self, troubled: User) -> None:
        message = spoke(troubled, "What does the letter say?", NIGHT)
        store_verdict(message.pk, NewVerdict(level="immediate", noticed="immediate", is_foreign=True))
        assert "<care" not in prompt(troubled, after(1))
        store_verdict(message.pk, NewVerdict(level="concern", looked="concern", model="m"))
        assert "possible danger to themselves" in prompt(troubled, after(1))

    def test_withdrawn_words_and_deleted_conversations_are_no_danger(self, troubled: User) -> None:
        message = spoke(troubled, ACUTE, NIGHT)
        Turn.unscoped.filter(id=message.turn_id).update(is_withdrawn=True, status=TurnStatus.SUPERSEDED)
        assert "<care" not in prompt(troubled, after(1))
        Turn.unscoped.filter(id=message.turn_id).update(is_withdrawn=False)
        delete_session(user_id=troubled.pk, session_id=message.session_id)
        assert "<care" not in prompt(troubled, after(1))
        restore_session(user_id=troubled.pk, session_id=message.session_id)
        assert prompt(troubled, after(1)).startswith("<care>")

    def test_a_capture_counts_as_its_words_stand(self, troubled: User) -> None:
        file = put_file(troubled, "captures/2026-11-16-223000.md", "I can't go on.")
        verdict = CaptureVerdict.unscoped.create(
            version=file.versions.get(), level="concern", by_rules="concern"
        )
        CaptureVerdict.unscoped.filter(pk=verdict.pk).update(created_at=NIGHT)
        assert "Monday 2026-11-16: possible danger to themselves" in prompt(troubled, after(1))
        CaptureVerdict.unscoped.filter(pk=verdict.pk).update(looked="none")
        assert "<care" not in prompt(troubled, after(1))
        CaptureVerdict.unscoped.filter(pk=verdict.pk).update(looked="failed")
        assert "<care>" in prompt(troubled, after(1))
        put_file(troubled, "captures/2026-11-16-223000.md", "- [x] I can't go on.")
        assert "<care>" in prompt(troubled, after(1)), "a ticked box changes no words"
        put_file(troubled, "captures/2026-11-16-223000.md", "I can't go on with this job.")
        note_capture(user_id=troubled.pk, file_id=file.pk, version=3, danger=None)
        assert "<care" not in prompt(troubled, after(1))

    def test_an_answer_that_the_judge_saw_nothing_in_counts_no_more(self, troubled: User) -> None:
        turn = spoke(troubled, "Hello", NIGHT).turn
        call = ToolCallRecord.unscoped.create(
            turn=turn, round_number=1, position=0, tool_use_id="t1", name="show_pulse_check",
            state=ToolCallState.ANSWERED, finished_at=NIGHT, metadata=metadata_of(DARK),
        )  # fmt: skip
        assert "<care>" in prompt(troubled, after(1))
        call.metadata |= {"second_look": {"level": "none", "rules": "concern"}}
        call.save()
        assert "<care" not in prompt(troubled, after(1))

    def test_somebody_elses_words_arent_this_persons(self, troubled: User) -> None:
        spoke(User.objects.create(username="other"), ACUTE, NIGHT)
        assert "<care" not in prompt(troubled, after(1))


@pytest.mark.django_db
class TestEnd:
    """The person ends it, by a word or a button."""

    def test_pressed_it_is_over_until_danger_is_said_again(self, troubled: User) -> None:
        zone = ZoneInfo("Europe/Lisbon")
        spoke(troubled, ACUTE, NIGHT)
        assert end_care(user_id=troubled.pk, now=after(1), zone=zone)
        assert not end_care(user_id=troubled.pk, now=after(1), zone=zone)
        text = prompt(troubled, after(3))
        assert "<care" not in text
        assert OFFER.search(text)
        spoke(troubled, DARK, after(4))
        assert prompt(troubled, after(5)).startswith("<care>")
        assert [end.how for end in CareEnd.of(troubled.pk)] == ["pressed"]

    def test_what_isnt_heard_can_be_pressed_and_the_answer_that_asks_knows_where(
        self, troubled: User
    ) -> None:
        spoke(troubled, ACUTE, NIGHT)
        assert "button for that on the page [Safety](/safety/#care)" in prompt(troubled, after(1))

    def test_said_the_answer_is_told_so_once(self, troubled: User) -> None:
        spoke(troubled, ACUTE, NIGHT)
        text = prompt(troubled, after(1), text="I'm all right, don't ask again.")
        assert "They have just asked you not to ask about it again." in text
        assert ASK not in text
        assert "Until Monday" not in text
        assert not OFFER.search(text), "the answer to that offers nothing either"


async def asked_on(talk: Talk, days: Sequence[int], zone: ZoneInfo, *, hour: int = 9) -> list[int]:
    """Let the person write on these days, each in a conversation of its own; return those with a question."""
    found = []
    for day in days:
        local = datetime(2026, 10, 24, hour, 30, tzinfo=zone)
        at = (local.replace(tzinfo=None) + timedelta(days=day)).replace(tzinfo=zone)
        with time_machine.travel(at.astimezone(UTC), tick=True):
            talk.session = await in_database(
                session_services.open_session,
                user_id=talk.session.user_id,
                kind=SessionKind.OPEN_CONVERSATION,
            )
            for text in ("Hello.", "And then?"):
                talk.practice.script(["Good."])
                await talk.say(text)
                if ASK in "\n".join(text_blocks({"messages": talk.bodies[-1]["messages"][-1:]})):
                    assert text == "Hello."
                    found.append(day)
    return found


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "zone_name", ["Europe/Berlin", "America/New_York", "Australia/Sydney", "Pacific/Auckland"]
)
@pytest.mark.parametrize(
    ("words", "days", "expected"),
    [
        (ACUTE, range(16), [1, 3, 7]),
        (ACUTE, [2, 5, 6, 8, 9], [2, 5, 8]),
        (ACUTE, [10, 11], [10]),
        (DARK, range(9), [1]),
    ],
)
async def test_it_is_asked_on_exactly_these_days(
    talk: Talk, person: User, zone_name: str, words: str, days: Sequence[int], expected: list[int]
) -> None:
    """Clocks change on 25 October in Berlin and on 1 November in New York."""
    zone = ZoneInfo(zone_name)
    await in_database(Profile.unscoped.filter(user=person).update, timezone=zone_name)
    late = datetime(2026, 10, 25, 3, 30, tzinfo=zone)  # still the day before
    await in_database(spoke, person, words, late)
    assert await asked_on(talk, days, zone) == expected


@pytest.mark.django_db(transaction=True)
async def test_the_day_begins_at_four(talk: Talk, person: User) -> None:
    zone = ZoneInfo("Europe/Lisbon")
    await in_database(spoke, person, ACUTE, datetime(2026, 10, 24, 22, 0, tzinfo=zone))
    assert await asked_on(talk, [1, 2], zone, hour=3) == [2]


@pytest.mark.django_db(transaction=True)
async def test_in_one_long_conversation_the_opening_stays_and_the_end_is_told_once(
    talk: Talk, person: User
) -> None:
    await in_database(spoke, person, ACUTE, NIGHT)
    openings, newest = set(), []
    for day in range(1, 18):
        with time_machine.travel(after(day), tick=True):
            talk.practice.script(["Good."])
            await talk.say("Hello again.")
        messages = talk.bodies[-1]["messages"]
        openings.add(messages[0]["content"][0]["text"])
        newest.append("\n".join(text_blocks({"messages": messages[-1:]})))
    (opening,) = openings
    assert opening.startswith("<care>\nMonday 2026-11-16: danger to themselves that may be acute")
    # The first message also carries the opening.
    assert [day for day, text in enumerate(newest, 1) if "<care>" in text] == [1, 15]
    assert "It is over" in newest[14]
    assert [day for day, text in enumerate(newest, 1) if ASK in text] == [1, 3, 7]
    assert all("<offer" not in text for text in newest[:14])
    assert "<offer" in newest[14]


@pytest.mark.django_db(transaction=True)
async def test_an_arc_that_the_person_chose_goes_on_with_its_skill(talk: Talk, person: User) -> None:
    await in_database(spoke, person, ACUTE, NIGHT)
    talk.session = await in_database(
        session_services.open_session, user_id=person.pk, kind=SessionKind.OPEN_DAY
    )
    with time_machine.travel(after(1), tick=True):
        talk.practice.script(["Good."])
        await talk.say("Good morning.")
    text = "\n".join(text_blocks(talk.bodies[-1]))
    assert '<skill name="open-day">' in text
    assert "also an arc, goes on once they have answered" in text
