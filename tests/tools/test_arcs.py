"""Arcs through their two tools: entered, and completed only when whole or requested twice."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolResult
from coaching.files.permissions import may_write
from coaching.life.arcs import ARCS, next_checkin
from coaching.life.pulse import store_ratings
from coaching.models import FileType, LifeDomain, Profile
from coaching.tools.complete_session import COMPLETE_SESSION
from coaching.tools.enter_structured_arc import ENTER_STRUCTURED_ARC
from coaching.tools.save_file import SAVE_FILE
from sessions_app.arcs import current_arc
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind, SessionStatus
from sessions_app.session_services import end_session, open_session
from tests.tools.committing_context import CommittingContext

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("disk_storage")]

NOON = datetime(2026, 11, 21, 11, 0, tzinfo=UTC)  # 12:00 in Berlin, a Saturday
ARC_KINDS = [kind for kind in SessionKind if kind != SessionKind.OPEN_CONVERSATION]
WHOLE: dict[SessionKind, list[dict[str, Any]]] = {
    SessionKind.OPEN_DAY: [
        {"file_type": "day-plan", "attributes": {"intention": "Unhurried", "priorities": ["Write"]}}
    ],
    SessionKind.CLOSE_DAY: [
        {
            "file_type": "daily-log",
            "attributes": {"energy": "low", "mood_signal": "calm", "domains_touched": ["health"]},
        }
    ],
    SessionKind.WEEKLY_CHECKIN: [{"file_type": "check-in", "attributes": {"themes": ["rest"]}}],
    SessionKind.LIFE_MAPPING: [
        *({"file_type": "domain", "file_name": domain} for domain in LifeDomain.values),
        {"file_type": "overview"},
        {"file_type": "life-plan"},
        {"file_type": "sage-context"},
    ],
}


class Talk:
    """A session whose clock and calls a test controls."""

    def __init__(self, session: Session, now: datetime) -> None:
        self.session = session
        self.now = now
        self.calls = 0

    async def _context(self) -> CommittingContext:
        self.calls += 1
        self.now += timedelta(seconds=1)
        await in_database(self.session.refresh_from_db)
        return CommittingContext(
            user_id=self.session.user_id,
            session_id=self.session.id,
            effective_kind=self.session.effective_kind,
            tool_use_id=f"toolu_{self.calls}",
            now=self.now,
        )

    async def enter(self, arc: str) -> dict[str, Any]:
        """Enter an arc."""
        context = await self._context()
        return await self._said(
            ENTER_STRUCTURED_ARC.run(context, ENTER_STRUCTURED_ARC.parse(json.dumps({"arc": arc})))
        )

    async def complete(self, type_: str, **given: str) -> dict[str, Any]:
        """Ask for completion."""
        context = await self._context()
        text = json.dumps({"type": type_, **given})
        return await self._said(COMPLETE_SESSION.run(context, COMPLETE_SESSION.parse(text)))

    async def save(self, **given: Any) -> ToolResult:
        """Save a file with its own text."""
        context = await self._context()
        text = json.dumps({"content": f"Text {self.calls}", **given})
        return await SAVE_FILE.run(context, SAVE_FILE.parse(text))

    async def rate(self) -> None:
        """Answer a pulse check."""
        await in_database(
            store_ratings,
            user_id=self.session.user_id,
            ratings={LifeDomain.PLAY: 3},
            note="",
            session_id=self.session.id,
            rated_at=self.now,
        )

    async def leave_whole(self, arc: SessionKind) -> None:
        """Create all artefacts of the arc."""
        for given in WHOLE[arc]:
            assert not (await self.save(**given)).is_error
        if arc == SessionKind.WEEKLY_CHECKIN:
            await self.rate()

    async def _said(self, running: Any) -> dict[str, Any]:
        result = await running
        assert not result.is_error
        await in_database(self.session.refresh_from_db)
        values: dict[str, Any] = json.loads(result.content)
        return values


def begin(user: User, kind: SessionKind = SessionKind.OPEN_CONVERSATION, *, now: datetime = NOON) -> Talk:
    session = open_session(user_id=user.pk, kind=kind)
    Session.unscoped.filter(id=session.id).update(started_at=now)
    Profile.unscoped.get_or_create(user=user, defaults={"timezone": "Europe/Berlin"})
    session.refresh_from_db()
    return Talk(session, now)


@pytest.fixture
def talk(user: User) -> Talk:
    """An open conversation at noon."""
    return begin(user)


@pytest.mark.parametrize("arc", ARC_KINDS)
async def test_entering_brings_the_skill_and_what_may_be_written(talk: Talk, arc: SessionKind) -> None:
    result = await talk.enter(arc)
    assert result["success"] is True
    assert result["arc"] == arc
    assert "## Goal" in result["skill"]
    assert set(result["may_write"]) == {file_type for file_type in FileType if may_write(arc, file_type)}
    assert talk.session.active_arc == arc
    assert talk.session.metadata["arcs"][0]["arc"] == arc
    assert datetime.fromisoformat(talk.session.metadata["arcs"][0]["started_at"]) == talk.now


def test_every_arc_has_its_row_and_a_skill_of_its_own() -> None:
    assert set(ARCS) == set(ARC_KINDS)
    assert len({rule.skill for rule in ARCS.values()}) == len(ARCS)


@pytest.mark.slow
async def test_every_effective_type_writes_what_it_may_before_in_and_after_an_arc(user: User) -> None:
    async def check(talk: Talk, effective: SessionKind) -> None:
        for file_type in FileType:
            name = {"file_name": "career"} if file_type == FileType.DOMAIN else {}
            if may_write(effective, file_type):
                assert not (await talk.save(file_type=file_type, **name)).is_error
            else:
                with pytest.raises(ToolError, match=f"can't be written in {effective}; nothing was saved"):
                    await talk.save(file_type=file_type, **name)

    for arc in ARC_KINDS:
        talk = await in_database(begin, user)
        await check(talk, SessionKind.OPEN_CONVERSATION)
        await talk.enter(arc)
        await check(talk, arc)
        await talk.complete("arc")
        await talk.complete("arc")
        await check(talk, SessionKind.OPEN_CONVERSATION)
        own = await in_database(begin, user, arc)
        await check(own, arc)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (SessionKind.OPEN_DAY, SessionKind.OPEN_DAY, "in_this_arc"),
        (SessionKind.OPEN_DAY, SessionKind.CLOSE_DAY, "in_another_arc"),
    ],
)
async def test_an_arc_inside_an_arc_is_not_entered_and_the_result_says_why(
    talk: Talk, first: str, second: str, reason: str
) -> None:
    await talk.enter(first)
    result = await talk.enter(second)
    assert (result["success"], result["reason"]) == (False, reason)
    assert talk.session.active_arc == first
    assert len(talk.session.metadata["arcs"]) == 1


@pytest.mark.parametrize("kind", ARC_KINDS)
async def test_a_session_of_an_arcs_kind_enters_no_arc(user: User, kind: SessionKind) -> None:
    own = await in_database(begin, user, kind)
    for arc in ARC_KINDS:
        assert (await own.enter(arc))["success"] is False
    assert own.session.active_arc == ""


@pytest.mark.parametrize("status", [s for s in SessionStatus if s != SessionStatus.ACTIVE])
async def test_a_session_that_has_ended_is_neither_completed_nor_given_an_arc(
    talk: Talk, status: SessionStatus
) -> None:
    await in_database(end_session, user_id=talk.session.user_id, session_id=talk.session.id, status=status)
    for result in (await talk.enter("open_day"), await talk.complete("arc"), await talk.complete("session")):
        assert (result["success"], result["reason"]) == (False, status)
        assert len(result["message"]) > 20
    assert (talk.session.status, talk.session.active_arc, talk.session.metadata) == (status, "", {})


async def test_without_an_arc_there_is_none_to_complete_but_the_conversation_can_be(talk: Talk) -> None:
    result = await talk.complete("arc")
    assert (result["success"], result["reason"]) == (False, "no_arc")
    result = await talk.complete("session", summary=" We talked about rest. ")
    assert result == {"success": True, "completed": "session", "next_checkin": "Sunday 2026-11-22"}
    assert talk.session.status == SessionStatus.COMPLETED
    assert talk.session.summary == "We talked about rest."


@pytest.mark.parametrize("arc", ARC_KINDS)
async def test_a_whole_arc_completes_at_once_and_the_conversation_goes_on(
    talk: Talk, arc: SessionKind
) -> None:
    await talk.enter(arc)
    await talk.leave_whole(arc)
    result = await talk.complete("arc", summary="Done.")
    assert (result["success"], result["completed"], result["arc"]) == (True, "arc", arc)
    assert result["still_missing"] == []
    assert (talk.session.status, talk.session.active_arc) == (SessionStatus.ACTIVE, "")
    assert talk.session.metadata["completed_arcs"] == [arc]
    assert talk.session.metadata["arcs"][0]["summary"] == "Done."
    assert current_arc(talk.session) is None
    assert (await talk.enter(arc))["success"] is True


@pytest.mark.parametrize(("arc", "type_"), list(product(ARC_KINDS, ["arc", "session"])))
async def test_a_whole_session_of_an_arcs_kind_is_completed_by_either_type(
    user: User, arc: SessionKind, type_: str
) -> None:
    own = await in_database(begin, user, arc)
    await own.leave_whole(arc)
    result = await own.complete(type_)
    assert (result["success"], result["completed"], result["arc"]) == (True, "session", arc)
    assert own.session.status == SessionStatus.COMPLETED
    assert own.session.metadata["completed_arcs"] == [arc]
    assert own.session.summary == ""


NOTHING_YET = {
    SessionKind.OPEN_DAY: ["day-plan with intention, priorities"],
    SessionKind.CLOSE_DAY: ["daily-log with energy, mood_signal, domains_touched"],
    SessionKind.WEEKLY_CHECKIN: ["check-in with themes", "pulse (show_pulse_check)"],
    SessionKind.LIFE_MAPPING: [
        *(f"domain {domain}" for domain in LifeDomain.values),
        "overview",
        "life-plan",
        "sage-context",
    ],
}


@pytest.mark.parametrize(("arc", "missing"), list(NOTHING_YET.items()))
async def test_the_first_call_names_what_the_arc_lacks_and_the_second_completes(
    talk: Talk, arc: SessionKind, missing: list[str]
) -> None:
    await talk.enter(arc)
    first = await talk.complete("arc")
    assert (first["success"], first["reason"], first["missing"]) == (False, "incomplete", missing)
    assert "call complete_session again" in first["message"]
    assert talk.session.active_arc == arc
    second = await talk.complete("arc")
    assert (second["success"], second["still_missing"]) == (True, missing)
    assert talk.session.metadata["arcs"][-1]["still_missing"] == missing


async def test_a_new_arcs_missing_artefacts_are_reported_again(talk: Talk) -> None:
    for _ in range(2):
        await talk.enter("open_day")
        assert (await talk.complete("arc"))["success"] is False
        assert (await talk.complete("arc"))["success"] is True


async def test_ending_the_whole_conversation_inside_an_arc_asks_for_the_arcs_files_too(talk: Talk) -> None:
    await talk.enter("open_day")
    assert (await talk.complete("session"))["missing"] == NOTHING_YET[SessionKind.OPEN_DAY]
    await talk.leave_whole(SessionKind.OPEN_DAY)
    result = await talk.complete("session")
    assert (result["completed"], result["arc"], result["still_missing"]) == ("session", "open_day", [])
    assert (talk.session.status, talk.session.active_arc) == (SessionStatus.COMPLETED, "")


async def test_what_is_there_but_not_whole_is_named_by_its_attribute(user: User) -> None:
    day = await in_database(begin, user, SessionKind.OPEN_DAY)
    await day.save(file_type="day-plan", attributes={"intention": "Calm"})
    assert (await day.complete("arc"))["missing"] == ["priorities of the day-plan"]
    log = await in_database(begin, user, SessionKind.CLOSE_DAY)
    await log.save(file_type="daily-log", attributes={"energy": "high"})
    assert (await log.complete("arc"))["missing"] == [
        "mood_signal of the daily-log",
        "domains_touched of the daily-log",
    ]
    week = await in_database(begin, user, SessionKind.WEEKLY_CHECKIN)
    await week.save(file_type="check-in")
    await week.rate()
    assert (await week.complete("arc"))["missing"] == ["themes of the check-in"]


async def test_a_plan_saved_again_without_its_attributes_keeps_them(user: User) -> None:
    day = await in_database(begin, user, SessionKind.OPEN_DAY)
    await day.leave_whole(SessionKind.OPEN_DAY)
    await day.save(file_type="day-plan")
    assert (await day.complete("arc"))["success"] is True


async def test_what_was_written_before_the_arc_began_does_not_make_it_whole(user: User) -> None:
    earlier = await in_database(begin, user, SessionKind.WEEKLY_CHECKIN, now=NOON - timedelta(hours=2))
    await earlier.leave_whole(SessionKind.WEEKLY_CHECKIN)
    later = await in_database(begin, user, SessionKind.WEEKLY_CHECKIN)
    assert (await later.complete("arc"))["missing"] == NOTHING_YET[SessionKind.WEEKLY_CHECKIN]


async def test_a_map_that_was_begun_in_another_sitting_only_lacks_the_rest(user: User) -> None:
    first = await in_database(begin, user, SessionKind.LIFE_MAPPING, now=NOON - timedelta(days=9))
    for domain in LifeDomain.values[:6]:
        await first.save(file_type="domain", file_name=domain)
    second = await in_database(begin, user, SessionKind.LIFE_MAPPING)
    assert (await second.complete("arc"))["missing"] == [
        "domain play", "domain meaning", "overview", "life-plan", "sage-context",
    ]  # fmt: skip


async def test_a_part_that_is_left_for_later_is_not_lacking_once_the_overview_is_written(user: User) -> None:
    first = await in_database(begin, user, SessionKind.LIFE_MAPPING, now=NOON - timedelta(days=9))
    await first.save(file_type="overview")
    own = await in_database(begin, user, SessionKind.LIFE_MAPPING)
    await own.save(file_type="domain", file_name="career")
    for file_type in ("life-plan", "sage-context"):
        await own.save(file_type=file_type)
    missing = (await own.complete("arc"))["missing"]
    assert "domain play" in missing, "the overview of another sitting says nothing about this one"
    await own.save(file_type="overview")
    completed = await own.complete("arc")
    assert completed["still_missing"] == []
    assert own.session.metadata["arcs"][-1]["still_missing"] == []


@pytest.mark.parametrize(
    ("file_name", "is_whole"),
    [("2026-11-21", True), ("2026-11-20", True), ("2026-11-22", True), ("2026-11-19", False)],
)
async def test_a_log_counts_for_the_arcs_day_or_an_adjacent_one(
    user: User, file_name: str, is_whole: bool
) -> None:
    # 01:30 of the 22nd in Berlin is still the evening of the 21st.
    own = await in_database(begin, user, SessionKind.CLOSE_DAY, now=datetime(2026, 11, 22, 0, 30, tzinfo=UTC))
    await own.save(**WHOLE[SessionKind.CLOSE_DAY][0], file_name=file_name)
    assert (await own.complete("arc"))["success"] is is_whole


async def test_nothing_of_another_user_makes_an_arc_whole(user: User, other_user: User) -> None:
    theirs = await in_database(begin, other_user, SessionKind.WEEKLY_CHECKIN)
    await theirs.leave_whole(SessionKind.WEEKLY_CHECKIN)
    own = await in_database(begin, user, SessionKind.WEEKLY_CHECKIN)
    assert len((await own.complete("arc"))["missing"]) == 2


async def test_the_next_checkin_is_the_one_that_the_checkin_itself_moved(user: User) -> None:
    own = await in_database(begin, user, SessionKind.WEEKLY_CHECKIN)
    await own.leave_whole(SessionKind.WEEKLY_CHECKIN)
    profile = await in_database(Profile.unscoped.get, user=user)
    assert profile.next_checkin_on == date(2026, 11, 22)
    assert (await own.complete("session"))["next_checkin"] == "Sunday 2026-11-22"


def test_a_checkin_that_is_overdue_is_due_today(user: User) -> None:
    today = date(2026, 11, 21)
    profile = Profile(user=user, checkin_weekday=0)
    assert next_checkin(profile, today=today) == date(2026, 11, 23)
    profile.next_checkin_on = today - timedelta(days=30)
    assert next_checkin(profile, today=today) == today
    profile.next_checkin_on = today + timedelta(days=5)
    assert next_checkin(profile, today=today) == date(2026, 11, 26)


async def test_the_same_call_run_again_does_not_count_as_the_second(talk: Talk) -> None:
    await talk.enter("open_day")
    given = COMPLETE_SESSION.parse('{"type": "arc"}')
    context = CommittingContext(
        user_id=talk.session.user_id, session_id=talk.session.id, tool_use_id="toolu_once", now=talk.now
    )
    for _ in range(2):
        again = replace(context, results={})
        assert json.loads((await COMPLETE_SESSION.run(again, given)).content)["success"] is False


def test_only_a_session_or_an_arc_is_completed_and_only_the_four_arcs_are_entered() -> None:
    for given in ({}, {"type": "day"}, {"type": "arc", "summary": "x" * 2001}, {"type": 1}):
        with pytest.raises(ValueError, match=r"type|summary"):
            COMPLETE_SESSION.input_model.model_validate(given)
    for given in ({}, {"arc": "open_conversation"}, {"arc": ""}, {"arc": "open-day"}):
        with pytest.raises(ValueError, match="arc"):
            ENTER_STRUCTURED_ARC.input_model.model_validate(given)
