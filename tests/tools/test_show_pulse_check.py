"""`show_pulse_check`: ratings are stored as a series, and the result says what changed."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from coaching.engine.errors import ToolInputError
from coaching.life.pulse import read_pulse, store_ratings
from coaching.models import FileType, LifeDomain, PulseRating, UserFile
from coaching.tools.show_pulse_check import SHOW_PULSE_CHECK
from sessions_app.errors import FieldRefused
from sessions_app.models import Session, SessionKind, ToolCallRecord, ToolCallState, Turn, TurnStatus
from sessions_app.session_services import open_session
from tests.stored_turns import open_conversation
from tests.tools.committing_context import CommittingContext

pytestmark = pytest.mark.django_db

START = CommittingContext(user_id=0).now


def answer(user: User, value: object, *, days: int = 0, **given: Any) -> Any:
    assert SHOW_PULSE_CHECK.answer is not None
    session = open_conversation(user)
    context = CommittingContext(user_id=user.pk, session_id=session.id, now=START + timedelta(days=days))
    with transaction.atomic():
        return SHOW_PULSE_CHECK.answer(context, SHOW_PULSE_CHECK.parse(json.dumps(given)), value)


def rate(user: User, *ratings: int, domain: LifeDomain = LifeDomain.CAREER) -> None:
    for day, rating in enumerate(ratings, start=-len(ratings)):
        store_ratings(
            user_id=user.pk,
            ratings={domain: rating},
            note="",
            session_id=None,
            rated_at=START + timedelta(days=day),
        )


def test_a_first_rating_is_its_own_baseline_and_changed_nothing(user: User) -> None:
    answered = answer(user, {"ratings": {"career": 3}})
    result = json.loads(answered.result.content)
    assert result["ratings"] == {
        "career": {
            "old": None,
            "new": 3,
            "change": None,
            "baseline": 3,
            "change_since_baseline": 0,
            "trend": [3],
        }
    }
    assert "career" not in result["not_rated"]
    assert len(result["not_rated"]) == 7


def test_the_result_gives_old_and_new_change_baseline_and_the_last_four(user: User, other_user: User) -> None:
    rate(user, 1, 2, 5, 4, 3)
    rate(other_user, 5, 5)
    result = json.loads(answer(user, {"ratings": {"career": 5}}).result.content)
    assert result["ratings"]["career"] == {
        "old": 3,
        "new": 5,
        "change": 2,
        "baseline": 1,
        "change_since_baseline": 4,
        "trend": [5, 4, 3, 5],
    }


def test_ratings_are_added_with_note_session_and_time_and_none_is_overwritten(user: User) -> None:
    answer(user, {"ratings": {"health": 2}})
    answered = answer(user, {"ratings": {"play": 5, "health": 4}, "note": " Slept well "}, days=7)
    rows = PulseRating.unscoped.filter(user=user).order_by("rated_at", "domain")
    assert [(row.domain, row.rating, row.note) for row in rows] == [
        ("health", 2, ""),
        ("health", 4, "Slept well"),
        ("play", 5, "Slept well"),
    ]
    assert {row.rated_at for row in rows} == {START, START + timedelta(days=7)}
    assert all(row.session_id for row in rows)
    assert answered.value == {"ratings": {"health": 4, "play": 5}, "note": "Slept well"}
    assert json.loads(answered.result.content)["note"] == "Slept well"


def test_all_eight_and_the_extremes_are_fine(user: User) -> None:
    ratings = {domain: 1 + 4 * (place % 2) for place, domain in enumerate(LifeDomain.values)}
    result = json.loads(answer(user, {"ratings": ratings, "note": "é" * 500}).result.content)
    assert list(result["ratings"]) == LifeDomain.values
    assert "not_rated" not in result


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "at least one"),
        ("", "at least one"),
        ("3", "at least one"),
        ([3], "at least one"),
        ({}, "at least one"),
        ({"note": "only words"}, "at least one"),
        ({"ratings": {}}, "at least one"),
        ({"ratings": []}, "at least one"),
        ({"ratings": None}, "at least one"),
        ({"ratings": {"career": 0}}, "from 1 to 5"),
        ({"ratings": {"career": 6}}, "from 1 to 5"),
        ({"ratings": {"career": 10**400}}, "from 1 to 5"),
        ({"ratings": {"career": True}}, "from 1 to 5"),
        ({"ratings": {"career": 3.0}}, "from 1 to 5"),
        ({"ratings": {"career": "3"}}, "from 1 to 5"),
        ({"ratings": {"career": None}}, "from 1 to 5"),
        ({"ratings": {"career": [3]}}, "from 1 to 5"),
        ({"ratings": {"career": 3, "health": 9}}, "from 1 to 5"),
        ({"ratings": {"money": 3}}, "wasn't asked about"),
        ({"ratings": {"": 3}}, "wasn't asked about"),
        ({"ratings": {"career": 3}, "note": 7}, "must be text"),
        ({"ratings": {"career": 3}, "note": "x" * 501}, "501 characters"),
        ({"ratings": {"career": 3}, "note": "a\x00b"}, "can’t be stored"),
        ({"ratings": {"career": 3}, "note": "a\ud800b"}, "can’t be stored"),
        ({"ratings": {"career": 3}, "mood": "fine"}, "nothing else"),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_what_is_no_answer_is_refused_with_a_sentence_and_stores_nothing(
    user: User, value: object, told: str
) -> None:
    with pytest.raises((ToolInputError, FieldRefused), match=told):
        answer(user, value)
    assert not PulseRating.unscoped.exists()


@pytest.fixture
def mapping(user: User) -> Session:
    """A life mapping."""
    return open_session(user_id=user.pk, kind=SessionKind.LIFE_MAPPING)


def save_career(session: Session, status: str, *, names: bool = True, **fields: Any) -> None:
    """Store a page as a save of this session leaves it; the call names the status or only the text."""
    file, _ = UserFile.of(session.user_id).get_or_create(
        user_id=session.user_id, path="life-map/career.md", file_type=FileType.DOMAIN
    )
    file.version_number, file.frontmatter = file.version_number + 1, {"status": status}
    file.save()
    turn = Turn.unscoped.create(session=session, status=TurnStatus.COMPLETED, ended_at=timezone.now())
    attributes = {"status": status} if names else None
    given = {"file_type": "domain", "file_name": "career", "content": "…", "attributes": attributes}
    call = {"state": ToolCallState.FINISHED, "finished_at": timezone.now(), "input": given, **fields}
    turn.calls.create(round_number=1, position=0, tool_use_id="toolu_1", name="save_file", **call)


def rate_career(session: Session, **ratings: int) -> None:
    assert SHOW_PULSE_CHECK.answer is not None
    context = CommittingContext(user_id=session.user_id, session_id=session.id, now=timezone.now())
    SHOW_PULSE_CHECK.answer(context, SHOW_PULSE_CHECK.parse("{}"), {"ratings": ratings})


def test_a_rating_that_contradicts_a_status_just_given_is_refused(mapping: Session) -> None:
    save_career(mapping, "thriving")
    save_career(mapping, "thriving", names=False)
    with pytest.raises(FieldRefused, match="just called this “Thriving”, which goes with 4 to 5") as refused:
        rate_career(mapping, health=1, career=1)
    assert refused.value.field == "career"
    assert not PulseRating.unscoped.exists()
    rate_career(mapping, health=1, career=4)
    UserFile.unscoped.update(frontmatter={"status": "in_crisis"})  # since then, by the person
    rate_career(mapping, career=1)


@pytest.mark.parametrize("case", ["only kept", "not saved", "long ago", "before the arc", "no arc"])
def test_a_status_that_wasnt_just_given_refuses_no_rating(user: User, mapping: Session, case: str) -> None:
    save_career(mapping, "thriving", names=case != "only kept", is_error=case == "not saved")
    match case:
        case "long ago":
            ToolCallRecord.unscoped.update(created_at=timezone.now() - timedelta(hours=13))
        case "before the arc":
            ToolCallRecord.unscoped.update(created_at=mapping.started_at - timedelta(seconds=1))
        case "no arc":
            Session.unscoped.update(kind=SessionKind.OPEN_CONVERSATION)
    rate_career(mapping, career=1)
    assert PulseRating.of(user.pk).get().rating == 1


def test_only_the_domains_that_were_asked_about_can_be_rated(user: User) -> None:
    with pytest.raises(ToolInputError, match="The areas are: Health, Play"):
        answer(user, {"ratings": {"career": 3}}, domains=["health", "play", "health"])
    assert "not_rated" not in json.loads(
        answer(user, {"ratings": {"health": 3, "play": 2}}, domains=["health", "play"]).result.content
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"domains": []}, "at least 1"),
        ({"domains": ["money"]}, "career"),
        ({"domains": ["career"] * 9}, "at most 8"),
        ({"context": "x" * 501}, "at most 500"),
        ({"title": "x"}, "title"),
    ],
)
def test_a_check_that_cannot_be_shown_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ToolInputError, match=told):
        SHOW_PULSE_CHECK.parse(json.dumps(given))


def test_ratings_of_one_moment_count_in_the_order_in_which_they_were_given(user: User) -> None:
    for rating in (2, 5):
        store_ratings(
            user_id=user.pk,
            ratings={LifeDomain.PLAY: rating},
            note="",
            session_id=None,
            rated_at=START,
        )
    pulse = read_pulse(user.pk)[LifeDomain.PLAY]
    assert (pulse.baseline, pulse.latest, pulse.change) == (2, 5, 3)


def test_somebody_without_ratings_has_no_pulse(user: User, other_user: User) -> None:
    rate(other_user, 3)
    assert read_pulse(user.pk) == {}
