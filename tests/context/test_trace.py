"""The trace of a prompt: skills with their callers, sections with their sizes."""

import json
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User

from coaching.practice.script import Reply, ToolUse
from coaching.skills.callers import as_name, is_named
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind, Turn
from tests.context.conftest import Talk, put_file

NOON = "2026-11-18T12:00:00+00:00"


async def traces() -> list[dict[str, Any]]:
    turns = await in_database(list, Turn.unscoped.order_by("started_at"))
    return [turn.metadata for turn in turns]


def in_play(trace: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return who called each skill and where its text stands."""
    return {each["skill"]: (each["caller"], each["where"]) for each in trace["skills"]["in_play"]}


@pytest.mark.django_db(transaction=True)
async def test_a_trace_names_who_called_each_skill_as_long_as_its_text_is_sent(
    talk: Talk, person: User
) -> None:
    talk.practice.script(
        [
            "One.",
            Reply.of(ToolUse("load_skill", {"name": "Decision Helper"})), "Two.",
            Reply.of(ToolUse("load_skill", {"name": "pattern-review"})), "Three.",
            Reply.of(ToolUse("enter_structured_arc", {"arc": "open_day"})), "Four.",
            "Five.",
        ]
    )  # fmt: skip
    with time_machine.travel(NOON, tick=True):
        await talk.say("I can't cope any more, I'm completely overwhelmed")
        await talk.say("Use the decision-helper, please")
        await talk.say("It always goes like this")
        await talk.say("Let's plan the day")
        await talk.say("Slowly")
    found = [in_play(trace) for trace in await traces()]
    by_signals = {"crisis-support": ("high_intensity", "message")}
    earlier = {name: (caller, "earlier") for name, (caller, _) in by_signals.items()}
    assert found[:2] == [by_signals, earlier]
    assert found[2] == earlier | {"decision-helper": ("user", "result")}
    assert found[3] == found[2] | {"pattern-review": ("model", "result")}
    assert found[4] == found[3] | {"open-day": ("arc", "result")}
    kept = await traces()
    assert [trace["skills"]["named"] for trace in kept] == [[], ["decision-helper"], [], [], []]
    assert [trace["skills"]["arc"] for trace in kept] == ["", "", "", "", "open_day"]


@pytest.mark.django_db(transaction=True)
async def test_a_trace_holds_sections_and_sizes_and_no_words(talk: Talk, person: User) -> None:
    await in_database(put_file, person, "sage/context.md", "Ada is a nurse. " * 40)
    await in_database(Session.unscoped.update, started_at=NOON)
    talk.practice.script(["One.", "Two."])
    with time_machine.travel(NOON, tick=True):
        await talk.say("Good morning, dear machine")
        await in_database(put_file, person, "life-plan/current.md", "A day job by summer. " * 40)
        await talk.say("And again")
    first, second = await traces()
    assert first["context"]["opening"].keys() == {"sage_context"}
    assert first["context"]["message"].keys() == {"session_context", "skill:first-talk"}
    assert second["context"]["opening"] == first["context"]["opening"]
    assert second["context"]["earlier"] == first["context"]["message"]
    assert second["context"]["message"].keys() == {"life_plan"}
    assert 150 < first["context"]["opening"]["sage_context"] < 250
    assert first["context"]["frame"] > 3_000
    assert 0 < first["context"]["window"] < second["context"]["window"] < 40
    assert first["build_ms"] > 0
    text = json.dumps([first, second])
    for words in ("nurse", "day job", "dear machine", "again"):
        assert words not in text
    assert len(text) < 4_000


@pytest.mark.django_db(transaction=True)
async def test_a_session_of_an_arcs_kind_has_it_in_play_from_its_opening(talk: Talk, person: User) -> None:
    talk.session = await in_database(
        session_services.open_session, user_id=person.pk, kind=SessionKind.WEEKLY_CHECKIN
    )
    talk.practice.script(["One.", "Two."])
    await talk.say("Hello")
    await talk.say("More")
    assert [in_play(trace) for trace in await traces()] == [{"weekly-checkin": ("arc", "opening")}] * 2


@pytest.mark.parametrize(
    ("words", "is_so"),
    [
        ("use the decision helper", True),
        ("Decision-Helper!", True),
        ("load decision_helper please", True),
        ("help me decide", False),
        ("the indecision helpers", False),
        ("", False),
    ],
)
def test_a_skill_is_asked_for_by_its_name(words: str, is_so: bool) -> None:
    assert is_named("decision-helper", words) is is_so


def test_a_name_may_be_written_as_people_write_it() -> None:
    assert {as_name(text) for text in ("Decision Helper", " decision_helper ", "decision-helper")} == {
        "decision-helper"
    }
