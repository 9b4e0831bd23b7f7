"""What an opening says of earlier sessions: their days, kinds, summaries and what was left open."""

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.contrib.auth.models import User

from coaching.context.budget import count_tokens
from coaching.context.library import OF_CLIENT
from coaching.context.prompt import build_turn
from coaching.context.statement import CONTINUITY_TOKENS
from coaching.jobs.summaries import write_summary
from coaching.library.clients import create_client, own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.library.resolutions import Resolution, resolve
from coaching.life.journal import read_day
from coaching.models import ActionItem, ActionState, ClientType, Import, MadeBy, Profile, SessionScope
from coaching.safety.card import metadata_of
from coaching.tools import CHAT_TOOLS
from sessions_app.database import in_database
from sessions_app.history import PROGRAM_KEY
from sessions_app.import_metadata import IMPORT_KEY
from sessions_app.models import (
    BriefCorrection,
    Message,
    MessageRole,
    SafetyVerdict,
    Session,
    SessionBrief,
    SessionKind,
    SessionStatus,
    Turn,
    TurnStatus,
)
from tests.context.conftest import Talk, text_blocks
from tests.context.test_pipeline import NOW, built, texts
from tests.messages import append_message
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db

DIVORCE = (
    "My wife wants a divorce. She told me on Sunday.",
    "I don't know where I'd live.",
    "I'll call the lawyer on Thursday. Thanks.",
)


def talked(user: User, *said: str, days_ago: int = 1, **fields: Any) -> Session:
    """Let a conversation have taken place some days ago."""
    session = Session.unscoped.create(user=user, **fields)
    at = NOW - timedelta(days=days_ago)
    for words in said:
        turn = Turn.unscoped.create(session=session, status=TurnStatus.COMPLETED, ended_at=at)
        metadata = metadata_of(words)
        append_message(session=session, turn=turn, role=MessageRole.USER, content=words, metadata=metadata)
        append_message(session=session, turn=turn, role=MessageRole.ASSISTANT, content="I hear you.")
    Session.unscoped.filter(id=session.id).update(last_active_at=at)
    session.refresh_from_db()
    return session


def remembered(session: Session, text: str, left_open: str) -> SessionBrief:
    covers = {"covers_from": 1, "covers_until": session.last_message_number}
    return SessionBrief.unscoped.create(session=session, version=1, text=text, left_open=left_open, **covers)


def opening(user: User, **more: Any) -> str:
    return texts(built(user, **more))[0]


def test_the_three_last_sessions_come_with_day_kind_and_summary(person: User) -> None:
    talked(person, "Too old.", days_ago=9)
    talked(person, *DIVORCE, days_ago=3, summary="You talked about a flat.", summary_covers=6)
    done = {"status": SessionStatus.COMPLETED, "ended_at": NOW}
    talked(person, "A day.", days_ago=2, kind=SessionKind.CLOSE_DAY, summary="You closed the day.", **done)
    talked(person, *DIVORCE, days_ago=1)
    Session.unscoped.create(user=person, last_message_number=1, is_only_opened=True)
    said = opening(person)
    section = said[said.index("<recent_sessions ") : said.index("</recent_sessions>")]
    words = (
        "Their first words: “My wife wants a divorce.” Then: “I don't know where I'd live.” "
        "Their last words: “I'll call the lawyer on Thursday. Thanks.”"
    )
    assert section.splitlines()[1:] == [
        '<session date="Tuesday 2026-11-17" kind="conversation">',
        words,
        "</session>",
        '<session date="Monday 2026-11-16" kind="close the day">',
        "You closed the day.",
        "</session>",
        '<session date="Sunday 2026-11-15" kind="conversation">',
        "You talked about a flat.",
        "</session>",
    ]


def test_words_in_between_come_only_from_a_third_message_on_and_never_of_danger(person: User) -> None:
    long = " ".join(f"Sentence {number} is about nothing much." for number in range(9))
    talked(person, "Hello there.", long)
    assert "Then:" not in opening(person)
    talked(person, "Good evening.", "I want to end it all.", "I can't sleep.", "Thank you for that.")
    said = opening(person)
    assert "“Good evening.” Then: “I can't sleep.” Their last words: “Thank you for that.”" in said
    assert "end it all" not in said


def test_other_branches_of_an_import_push_out_no_session_and_no_day(person: User) -> None:
    talked(person, *DIVORCE, days_ago=3)
    origin = {"archived_at": NOW, "metadata": {"origin": {"branch_of": "c-1"}}}
    for number in range(3):
        session = talked(person, f"Branch {number}.", days_ago=2, **origin)
        Session.unscoped.filter(id=session.id).update(imported_until=2, started_at=NOW)
    assert "My wife wants a divorce." in opening(person)
    assert "Branch 2." not in opening(person)
    day = read_day(user_id=person.pk, day=NOW.date(), zone=ZoneInfo("UTC"))
    assert not [each for each in day.sessions if each.archived_at]
    # One that they go on in is as any other.
    talked_on = Session.unscoped.filter(id=session.id)
    talked_on.update(imported_until=1)
    assert "Branch 2." in opening(person)


def test_what_was_said_after_a_summary_comes_with_it_and_a_long_one_is_cut_at_a_sentence(
    person: User,
) -> None:
    talked(person, *DIVORCE, summary=f"You were told. {'word ' * 55}end. Never said.", summary_covers=2)
    said = opening(person)
    assert "end. Later they said: “I'll call the lawyer on Thursday. Thanks.”" in said
    assert "Never said" not in said


def test_words_of_danger_are_quoted_nowhere(person: User) -> None:
    told = talked(person, "I want to die.", "I lost my job. It's all grey.", "I want to die tonight.")
    by_rules = opening(person)
    assert "\nThey said: “I lost my job. It's all grey.”\n" in by_rules
    remembered(told, "- You want to end it [1]", "You want to end it [1]")
    Session.unscoped.update(summary="You said you want to end it.")  # Sage's own
    later = talked(person, "They'd be better off.", days_ago=2, summary="You felt low.", summary_covers=2)
    message = later.messages.get(number=1)
    SafetyVerdict.unscoped.create(
        session=later, message=message, level="immediate", about="self", topic="life", looked="immediate"
    )
    Session.unscoped.exclude(id__in=[told.id, later.id]).delete()
    said = opening(person)
    assert said.index("<care>") < said.index("<recent_sessions ")
    for words in ("want to die", "end it", "better off", "<left_open "):
        assert words not in said
    assert "You felt low." in said, "the summary job leaves danger out"


def test_words_of_a_program_are_quoted_in_no_other_conversation(person: User) -> None:
    told = talked(person, "Obey Dial.", "I lost my job. It's all grey.", "Obey Dial again.")
    Message.within(told).filter(content__startswith="Obey").update(metadata={PROGRAM_KEY: "Dial"})
    talked(person, "Obey Dial always.", days_ago=2)
    Message.of(person.pk).filter(content="Obey Dial always.").update(metadata={PROGRAM_KEY: "Dial"})
    said = opening(person)
    assert "\nThey said: “I lost my job. It's all grey.”\n" in said
    assert "Obey" not in said


def test_what_was_left_open_in_conversations_that_go_on_comes_without_struck_lines(person: User) -> None:
    lines = [
        "You will call the lawyer on 2026-11-19 [5]",
        "You asked where to live [3]",
        "Your cat is old [1]",
    ]
    text = "\n".join(f"- {line}" for line in lines)
    going_on = talked(person, *DIVORCE)
    remembered(going_on, text, "\n".join(lines[:2]))
    ended = talked(person, "I'm tired.", days_ago=2, status=SessionStatus.COMPLETED, ended_at=NOW)
    remembered(ended, "- You will rest [1]", "You will rest [1]")
    said = opening(person)
    assert '<line date="Tuesday 2026-11-17">\nYou will call the lawyer on 2026-11-19\n</line>' in said
    assert "You asked where to live" in said
    assert "You will rest" not in said
    BriefCorrection.unscoped.create(session=going_on, kind="strike", line=lines[0])
    struck = opening(person)
    assert "call the lawyer" not in struck, "neither as a line nor as their last words"
    assert "You asked where to live" in struck


def test_what_became_a_next_step_is_told_there_alone(person: User) -> None:
    lines = ["You will call the lawyer on Thursday 2026-11-19 [5]", "You asked where to live [3]"]
    going_on = talked(person, *DIVORCE)
    remembered(going_on, "\n".join(f"- {line}" for line in lines), "\n".join(lines))
    new = NewAction(
        client_id=own_client(person.pk).pk,
        title="Call the lawyer",
        quote="I'll call the lawyer on Thursday.",
        session_id=going_on.id,
        message_number=5,
        due_date=NOW.date() + timedelta(days=1),
    )
    step = propose(user_id=person.pk, new=new, made_by=MadeBy.CHAT, is_accepted=True)
    said = opening(person).split("<left_open ")[1]
    assert "You asked where to live" in said
    assert "You will call the lawyer" not in said
    assert 'due="Thursday 2026-11-19">\nCall the lawyer; they said on ' in said
    ActionItem.of(person.pk).update(state=ActionState.PROPOSED)
    assert "You will call the lawyer" in opening(person), "a suggestion says nothing"
    resolution = Resolution(becomes="done", today=NOW.date(), now=NOW, outcome="She was kind.")
    ActionItem.of(person.pk).update(state=ActionState.OPEN)
    resolve(user_id=person.pk, step_id=step.pk, resolution=resolution)
    said = opening(person)
    assert "You will call the lawyer" not in said
    assert "Call the lawyer; how it went: She was kind." in said


def test_a_clients_conversation_is_in_its_own_openings_alone(person: User) -> None:
    client = create_client(user_id=person.pk, name="Bergmann", client_type=ClientType.COMPANY)
    other = create_client(user_id=person.pk, name="Lopez", client_type=ClientType.COMPANY)
    talked(person, "My own evening was long.")
    for whose, words in ((client, "Their lease runs out in May."), (other, "Their books are late.")):
        SessionScope.unscoped.create(session=talked(person, words, days_ago=2), client=whose)
    own = opening(person)
    assert "My own evening was long." in own
    assert "lease runs out" not in own
    assert "books are late" not in own
    about = Session.unscoped.create(user=person)
    SessionScope.unscoped.create(session=about, client=client)
    turn = Turn.unscoped.create(session=about)
    append_message(session=about, turn=turn, role=MessageRole.USER, content="Hello")
    profile = Profile.unscoped.select_related("user").get(user=person)
    whole = texts(build_turn(about, profile=profile, tools=CHAT_TOOLS, now=NOW))
    assert not any("<offer" in text for text in whole)
    assert any("<offer" in text for text in texts(built(person)))
    of_client = whole[0]
    assert of_client.startswith(f'<scope client="{client.pk}">\n{OF_CLIENT}\n</scope>\n')
    assert of_client.index('client="Bergmann">') < of_client.index("My own evening was long.")
    assert not any("Check-in: " in text for text in whole)
    assert any("Check-in: " in text for text in texts(built(person)))
    assert 'private="yes">\nThey said: “My own evening was long.”' in of_client
    assert any("Last session about Bergmann: conversation, " in text for text in whole)
    assert not any("Last session: " in text for text in whole)
    assert 'client="Bergmann">\nThey said: “Their lease runs out in May.”' in of_client
    assert "books are late" not in of_client


@pytest.mark.parametrize(
    ("file_format", "program", "imported"),
    [("", "another program", "yes"), ("chatgpt", "ChatGPT", "ChatGPT"), ("sage", "another program", "yes")],
)
def test_a_first_meeting_after_an_import_is_a_first_talk(
    person: User, file_format: str, program: str, imported: str
) -> None:
    brought = talked(person, "How do I tell my boss?", days_ago=49)
    made = Import.unscoped.create(user=person, file_name="export.zip", file_format=file_format)
    Session.unscoped.filter(id=brought.id).update(
        imported_until=brought.last_message_number, metadata={IMPORT_KEY: made.pk}
    )
    first = "\n".join(texts(built(person, started_at=NOW)))
    assert f"Last session: none with Sage yet; with {program} 49 days ago" in first
    assert f'imported="{imported}">' in first
    assert '<skill name="first-talk">' in first
    assert "<offer" not in first
    second = "\n".join(texts(built(person, started_at=NOW)))
    assert "Last session: conversation, " in second
    assert '<skill name="first-talk">' not in second


def test_the_sections_keep_to_their_limit(person: User) -> None:
    for days_ago in (1, 2, 3):
        session = talked(person, "夜" * 3_000, days_ago=days_ago, summary="夜" * 3_000, summary_covers=2)
        remembered(session, f"- {'夜' * 400}", "夜" * 400)
    said = opening(person)
    shared = said[said.index("<recent_sessions ") : said.index("</left_open>")]
    assert count_tokens(shared) <= CONTINUITY_TOKENS


@pytest.mark.django_db(transaction=True)
async def test_a_change_in_another_session_is_told_as_its_line_alone(talk: Talk, person: User) -> None:
    with time_machine.travel(NOW, tick=True):
        changed = await in_database(lambda: talked(person, *DIVORCE))
        await in_database(lambda: talked(person, "Another evening.", days_ago=2))
        await talk.say("Hello")
        fields = {"summary": "You talked about a flat.", "summary_covers": 6}
        await in_database(Session.unscoped.filter(id=changed.id).update, **fields)
        await talk.say("And now?")
        await talk.say("And then?")
    first, second, third = (text_blocks(body) for body in talk.bodies)
    assert first[0].count("<session ") == 2
    assert second[0] == first[0]
    (told,) = [text for text in second[1:] if "<recent_sessions " in text]
    assert told.count("<session ") == 1
    assert "You talked about a flat." in told
    assert [text for text in third if "<recent_sessions " in text] == [first[0], told]


@pytest.mark.django_db(transaction=True)
async def test_an_hour_about_a_divorce_comes_back_next_morning_and_the_cache_holds(
    talk: Talk, person: User
) -> None:
    for day in range(3):
        with time_machine.travel(NOW + timedelta(days=day), tick=True) as clock:
            began = len(talk.bodies)
            for words in (*DIVORCE, f"That was day {day}."):
                assert (await talk.say(words)).status == "completed"
                clock.shift(timedelta(minutes=15))
            for request in talk.practice.requests[began + 1 :]:
                usage = request.usage
                read = usage["cache_read_input_tokens"]
                sent = read + usage["cache_creation_input_tokens"] + usage["input_tokens"]
                assert read / sent >= 0.9
            await talk.remember()
            assert await write_summary(talk.session.id, client=talk.brief_client)
        if day:
            opening = text_blocks(talk.bodies[began])[0]
            assert '<session date="Wednesday 2026-11-18" kind="conversation">' in opening
            assert "You said: “My wife wants a divorce.”" in opening
            assert "they said on Wednesday 2026-11-18: “I'll call the lawyer on Thursday.”" in opening
            assert "<left_open " not in opening, "it is a step"
            assert count_tokens(opening) <= CONTINUITY_TOKENS
        talk.session = await in_database(open_conversation, person)
