"""What recall finds and what it never finds, over real rows.

Over 300 lines, because nearly all tests ask one function about a small history.
"""

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from coaching.context.brief_lines import corrected_text
from coaching.models import FileType, Profile, RecallPassage, RecallSource, UserFile, UserFileVersion
from coaching.recall.search import Bounds
from sessions_app import services, session_services
from sessions_app.brief_corrections import correct_brief, undo_correction
from sessions_app.models import CorrectionKind, Session, SessionBrief, SessionStatus, Turn, TurnStatus
from sessions_app.rate import RateLimit
from tests.recall.history import add, found, plan_of_ranking, talk, texts
from tests.stored_turns import new_turn

pytestmark = pytest.mark.django_db

LANGUAGES = {
    "german": ("Gestern habe ich mit meiner Schwester über die alten Häuser gesprochen", "welches Haus"),
    "spanish": ("Ayer hablé con mi madre sobre la mudanza y los muebles", "mueble"),
    "french": ("Hier j'ai parlé avec ma sœur de mes déménagements", "déménagement"),
    "italian": ("Ieri ho parlato con mia sorella della casa e delle finestre", "finestra"),
    "portuguese": ("Ontem eu falei com a minha irmã sobre as mudanças", "mudança"),
    "dutch": ("Gisteren heb ik met mijn zus over de verhuizingen gesproken", "verhuizing"),
    "swedish": ("Jag pratade med min syster om de gamla husen i går", "hus"),
    "finnish": ("Minä olin eilen siskon kanssa ja se oli hyvä, talot olivat kauniita", "talo"),
    "turkish": ("Dün kız kardeşim ile evler için çok konuştum ve bu iyi", "evlerin"),
    "russian": ("Вчера я говорил с мамой о переезде", "мама"),
    "greek": ("Χθες μίλησα με τη μητέρα μου για τα σπίτια", "σπίτι"),
    "arabic": ("تحدثت أمس مع أمي عن الكتب الجديدة", "كتب"),
    "japanese": ("今日は母と引っ越しについて話しました", "引っ越し"),
    "chinese": ("我昨天和妈妈谈了搬家的事", "搬家"),
    "thai": ("เมื่อวานฉันคุยกับแม่เรื่องย้ายบ้าน", "ย้ายบ้าน"),
    "korean": ("어제 어머니와 이사에 대해 이야기했다", "어머니가"),
}


@pytest.fixture(autouse=True)
def filler(user: User) -> None:
    """Other things that were said, so that rarity means something."""
    talk(user, *(f"We spoke of walking, weather and lunch, number {number}" for number in range(30)))


def test_a_word_is_found_in_another_form_and_the_same_form_ranks_first(user: User) -> None:
    talk(user, "I would love to visit gardens one day")
    talk(user, "The gardener visited us")
    talk(user, "We are visiting a garden")
    assert texts(user, "visiting", limit=1) == ["We are visiting a garden"]
    assert len(texts(user, "visits")) >= 3


def test_an_answer_is_found_by_its_question(user: User) -> None:
    talk(user, "Where does your cousin Beatrix live now?", "Lisbon, with two cats")
    assert "Lisbon, with two cats" in texts(user, "cousin Beatrix", limit=3)


def test_words_that_nobody_said_find_nothing(user: User) -> None:
    assert texts(user, "xylophone") == []


@pytest.mark.parametrize("query", ["", "   ", "the and of", "?!", "\x00"])
def test_a_query_without_words_finds_the_newest(user: User, query: str) -> None:
    talk(user, "The very last thing", at=timezone.now() + timedelta(hours=1))
    assert texts(user, query, limit=1) == ["The very last thing"]


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_language_is_found_by_another_form_of_its_words(user: User, name: str) -> None:
    said, query = LANGUAGES[name]
    talk(user, said)
    assert texts(user, query, limit=1) == [said]


def test_nobody_finds_what_another_person_said(user: User, other_user: User) -> None:
    talk(other_user, "My secret is a zebra")
    talk(user, "I saw a horse")
    assert texts(user, "zebra") == []
    assert texts(other_user, "zebra") == ["My secret is a zebra"]
    assert {passage.text for passage in found(user, "", limit=100)} & {"My secret is a zebra"} == set()


def test_a_withdrawn_turn_is_never_found_and_comes_back_with_it(user: User) -> None:
    session = talk(user, "A pelican in the garden", "How lovely, a pelican")
    session.turns.update(is_withdrawn=True, status=TurnStatus.SUPERSEDED)
    assert texts(user, "pelican") == []
    assert all("pelican" not in text for text in texts(user, "", limit=100))
    session.turns.update(is_withdrawn=False)
    assert len(texts(user, "pelican")) == 2


def test_neighbours_that_were_withdrawn_or_hidden_are_not_shown(user: User) -> None:
    session = talk(user, "Before the otter", "An answer", "The otter swims", "Fine", "After it", "So it is")
    session.messages.get(number=1).turn.__class__.unscoped.filter(messages__number=1).update(
        is_withdrawn=True
    )
    session.messages.filter(number=4).update(metadata={"is_hidden": True})
    (passage,) = (passage for passage in found(user, "otter swims") if passage.hit.number == 3)
    assert passage.before is None
    assert passage.after
    assert passage.after.text == "After it"


def test_an_edit_is_found_and_what_it_replaced_is_not(user: User) -> None:
    session = talk(user, "A walrus on the beach", "Really, a walrus")
    services.edit_message(
        new_turn(session, owner="nobody", rate_limit=RateLimit(turns=100, seconds=60)),
        text="A dolphin on the beach",
        client_id="again",
    )
    Turn.of(user.pk).filter(status=TurnStatus.RUNNING).update(
        status=TurnStatus.STOPPED, ended_at=timezone.now()
    )
    assert texts(user, "walrus") == []
    assert texts(user, "dolphin", limit=1) == ["A dolphin on the beach"]


def test_a_turn_that_runs_again_is_not_found_until_it_ends(user: User) -> None:
    session = Session.of(user.pk).create()
    turn = session.turns.create(status=TurnStatus.AWAITING_USER)
    add(session, turn, "A numbat", is_by_user=True)
    other = talk(user, "Something else", session=session)
    turn.status = TurnStatus.RUNNING
    turn.save()
    assert "A numbat" not in texts(user, "numbat")
    assert "A numbat" not in texts(user, "", limit=100)
    (passage,) = (passage for passage in found(user, "", limit=100) if passage.hit.session_id == other.pk)
    assert passage.before is None


@pytest.mark.parametrize("query", ["Ada", "Sage", "ada?", "Ada, Sage"])
def test_a_name_alone_is_looked_for(user: User, query: str) -> None:
    Profile.of(user.pk).update_or_create(user_id=user.pk, defaults={"name": "Ada"})
    talk(user, "Ada is short for Adelheid, and Sage for nothing")
    talk(user, "The newest", at=timezone.now() + timedelta(hours=1))
    assert texts(user, query, limit=1) == ["Ada is short for Adelheid, and Sage for nothing"]
    assert "The newest" not in texts(user, query)


def test_an_answer_without_text_takes_no_place_of_another_hit(user: User) -> None:
    for _ in range(4):
        talk(user, "A numbat", "")
    assert [passage.text for passage in found(user, "numbat", limit=4)] == ["A numbat"] * 4


def test_a_summary_and_a_message_of_a_session_are_two_hits(user: User) -> None:
    session = talk(user, "A numbat")
    session.summary = "They spoke of a numbat"
    session.save()
    assert {passage.hit.source for passage in found(user, "numbat")} == {"message", "summary"}
    assert {"A numbat", "They spoke of a numbat"} <= set(texts(user, "", limit=100))


def test_a_hidden_message_is_never_found(user: User) -> None:
    session = Session.of(user.pk).create()
    turn = session.turns.create(status=TurnStatus.COMPLETED, ended_at=timezone.now())
    message = add(session, turn, "A flamingo", is_by_user=True, metadata={"is_hidden": True})
    assert texts(user, "flamingo") == []
    message.metadata = {}
    message.save()
    assert texts(user, "flamingo") == ["A flamingo"]


def test_a_running_turn_is_found_when_it_ends_or_waits(user: User) -> None:
    session = Session.of(user.pk).create()
    turn = session.turns.create()
    add(session, turn, "A hedgehog", is_by_user=True)
    assert texts(user, "hedgehog") == []
    turn.status = TurnStatus.AWAITING_USER
    turn.save()
    assert texts(user, "hedgehog") == ["A hedgehog"]
    add(session, turn, "Hedgehogs sleep in winter", is_by_user=False)
    turn.status, turn.ended_at = TurnStatus.COMPLETED, timezone.now()
    turn.save()
    assert len(texts(user, "hedgehog")) == 2


def call(name: str, given: object, result: str, *, is_error: bool = False) -> dict[str, object]:
    return {"id": "toolu_1", "name": name, "input": given, "result": result, "is_error": is_error, "round": 1}


def test_a_tool_call_is_found_by_its_strings_and_not_by_its_keys(user: User) -> None:
    session = Session.of(user.pk).create()
    turn = session.turns.create(status=TurnStatus.COMPLETED, ended_at=timezone.now())
    calls = [
        call(
            "save_file",
            {"file_type": "capture", "content": "The badger"},
            '{"pathkey": "captures/x.md", "n": 1}',
        ),
        call("show_options", {"prompt": "Badger or mole?"}, "not {json", is_error=False),
        call("load_skill", {"name": "decision-helper"}, "A marmot in a skill"),
        call("recall_context", {"query": "marmot"}, '{"hits": [{"text": "marmot"}]}'),
        call("read_file", {"path": "x.md"}, "marmot"),
        call("save_file", {"content": "kept"}, "marmot went wrong", is_error=True),
    ]
    add(session, turn, "Done.", is_by_user=False, metadata={"tool_calls": calls})
    (passage,) = found(user, "badger")
    assert passage.hit.source == RecallSource.TOOL
    assert "captures/x.md" in texts(user, "captures/x.md")[0]
    assert "not {json" in texts(user, "json")[0]
    assert texts(user, "pathkey") == []
    assert texts(user, "marmot") == []


@pytest.mark.parametrize("place", ["input", "result", "text"])
def test_json_that_is_too_deep_for_the_database_fails_no_turn(user: User, place: str) -> None:
    session = Session.of(user.pk).create()
    turn = session.turns.create()
    message = add(session, turn, "A numbat", is_by_user=False)
    storable, unreadable = ("[" * depth + '"quoll"' + "]" * depth for depth in (15_000, 40_000))
    values: dict[str, str | int] = {
        "input": storable if place == "input" else "{}",
        "result": storable if place == "result" else json.dumps(unreadable) if place == "text" else '""',
        "id": message.pk,
    }
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE sessions_app_message SET metadata = jsonb_build_object("
            "'tool_calls', jsonb_build_array(jsonb_build_object("
            "'name', 'save_file', 'input', %(input)s::jsonb, 'result', %(result)s::jsonb))) "
            "WHERE id = %(id)s",
            values,
        )
    turn.status, turn.ended_at = TurnStatus.COMPLETED, timezone.now()
    turn.save()
    assert texts(user, "numbat") == ["A numbat"]
    assert texts(user, "quoll") == []


def test_a_message_is_one_hit_however_often_it_matches(user: User) -> None:
    session = Session.of(user.pk).create()
    turn = session.turns.create(status=TurnStatus.COMPLETED, ended_at=timezone.now())
    calls = [call("save_file", {"content": "The lynx"}, "lynx")] * 3
    add(session, turn, "A lynx. " * 800, is_by_user=False, metadata={"tool_calls": calls})
    assert len(found(user, "lynx")) == 1


@pytest.mark.parametrize("place", [0, 1_195, 1_205, 1_255, 6_000, 19_000])
def test_a_word_is_found_wherever_it_stands_in_a_long_message(user: User, place: int) -> None:
    filling = "walking and talking " * 1_000
    talk(user, f"{filling[:place]} chinchilla {filling[place:]}"[:20_000])
    (text,) = texts(user, "chinchilla", limit=1)
    assert "chinchilla" in text
    assert len(text) <= 1_260


def test_summaries_are_found_and_follow_their_session(user: User) -> None:
    session = talk(user, "Hello")
    session.summary = "They decided on a kayak"
    session.save()
    (passage,) = found(user, "kayak")
    assert (passage.hit.source, passage.hit.session_id) == (RecallSource.SUMMARY, session.id)
    session.summary = "They decided on a canoe"
    session.save()
    assert texts(user, "kayak") == []
    session.delete()
    assert texts(user, "canoe") == []


def test_the_summary_of_each_arc_is_found_on_the_day_of_its_end(user: User, other_user: User) -> None:
    session = talk(user, "Hello")
    entries = [
        {
            "arc": "open_day",
            "completed_at": "2026-03-02T09:00:00+00:00",
            "summary": "You planned to plant a quince",
        },
        {"arc": "close_day", "left_at": "2026-04-02T09:00:00+00:00", "summary": "You watered the quince"},
        {"arc": "open_day", "started_at": "2026-05-02T09:00:00+00:00"},
    ]
    session.metadata = {"arcs": entries}
    session.summary = "All about fruit"
    session.save()
    passages = found(user, "quince")
    assert {(passage.text, passage.hit.moment.month) for passage in passages} == {
        ("You planned to plant a quince", 3),
        ("You watered the quince", 4),
    }
    assert {passage.hit.source for passage in passages} == {RecallSource.SUMMARY}
    assert texts(user, "fruit") == ["All about fruit"]
    assert texts(other_user, "quince fruit") == []
    session.metadata = {"arcs": [{**entries[0], "summary": "You planned to plant a medlar"}]}
    session.save()
    assert texts(user, "quince") == []
    assert texts(user, "medlar") == ["You planned to plant a medlar"]
    session.delete()
    assert texts(user, "medlar fruit") == []


def brief_of(session: Session, version: int, text: str) -> SessionBrief:
    return session.briefs.create(version=version, text=text, covers_from=version, covers_until=version)


def test_of_a_brief_the_newest_version_is_found_that_covers_no_withdrawn_message(
    user: User, other_user: User
) -> None:
    session = talk(user, "Hello")
    brief_of(session, 1, "- They own a kayak [1]")
    newest = brief_of(session, 2, "- They own a canoe [1]")
    assert texts(user, "kayak") == []
    (passage,) = found(user, "canoe")
    assert (passage.hit.source, passage.hit.session_id) == (RecallSource.BRIEF, session.id)
    assert passage.text == "- They own a canoe [1]"
    assert texts(other_user, "canoe") == []
    assert found(user, "canoe", bounds=Bounds(open_session_id=session.id, open_number=1)) == []
    newest.is_withdrawn = True
    newest.save()
    assert texts(user, "canoe") == []
    assert texts(user, "kayak") == ["- They own a kayak [1]"]
    session.delete()
    assert texts(user, "kayak") == []


def test_a_correction_of_a_brief_is_found_at_once_and_what_was_struck_is_not(user: User) -> None:
    session = talk(user, "Hello")
    of: Any = {"user_id": user.pk, "session_id": session.id, "finish": corrected_text}
    old = brief_of(session, 1, "- They own a raft [1]")
    newest = brief_of(session, 2, "- They own a kayak [1]\n- They own a canoe [1]")
    correct_brief(**of, words="", line="They own a kayak [1]", is_strike=True)
    assert texts(user, "kayak") == []
    assert texts(user, "canoe") == ["- They own a canoe [1]"]
    made = correct_brief(**of, words="It is a dinghy", line="They own a canoe [1]")
    assert ["dinghy" in text for text in texts(user, "dinghy")] == [True]
    assert texts(user, "kayak") == []
    newest.is_withdrawn = True
    newest.save(update_fields=["is_withdrawn"])
    assert texts(user, "dinghy raft") == [], "an older version lacks the corrections"
    newest.is_withdrawn = False
    newest.save(update_fields=["is_withdrawn"])
    undo_correction(**of, correction_id=made.pk)
    assert texts(user, "canoe") == ["- They own a canoe [1]"]
    assert texts(user, "dinghy kayak") == []
    old.delete()


def test_a_brief_is_not_found_while_it_lacks_a_correction(user: User) -> None:
    session = talk(user, "Hello")
    brief_of(session, 1, "- They own a kayak [1]\n- They own a canoe [1]")
    assert len(texts(user, "kayak canoe")) == 1
    struck = session.brief_corrections.create(kind=CorrectionKind.STRIKE, line="They own a kayak [1]")
    assert texts(user, "kayak canoe") == []
    brief_of(session, 2, "- They own a canoe [1]")
    assert texts(user, "kayak") == []
    assert texts(user, "canoe") == ["- They own a canoe [1]"]
    struck.delete()
    assert texts(user, "canoe") == ["- They own a canoe [1]"]


def test_of_a_file_the_newest_version_is_found(user: User) -> None:
    file = UserFile.of(user.pk).create(path="captures/a.md", file_type=FileType.CAPTURE)
    for number, content in enumerate(["The ferret", "The stoat"], 1):
        UserFile.of(user.pk).update(version_number=number)
        UserFileVersion.unscoped.create(
            file=file,
            number=number,
            content=content,
            size=1,
            sha256="",
            storage_key=str(uuid.uuid4()),
            source="user",
        )
    assert texts(user, "ferret") == []
    (passage,) = found(user, "stoat")
    assert (passage.hit.source, passage.title, passage.hit.file_id) == (RecallSource.FILE, file.path, file.pk)
    file.delete()
    assert texts(user, "stoat") == []


def test_a_deleted_session_leaves_nothing_behind(user: User) -> None:
    before = RecallPassage.of(user.pk).count()
    session = talk(user, "An ibex", "A goat")
    assert RecallPassage.of(user.pk).count() == before + 2
    session.delete()
    assert RecallPassage.of(user.pk).count() == before


def test_who_is_asked_about_ranks_first(user: User) -> None:
    Profile.of(user.pk).update_or_create(user_id=user.pk, defaults={"name": "Ada"})
    talk(user, "The piano is a fine thing to learn", "The piano is a fine thing to learn too")
    assert found(user, "What did I say about the piano", limit=1)[0].is_by_user is True
    assert found(user, "What did Ada say about the piano", limit=1)[0].is_by_user is True
    assert found(user, "What did you say about the piano", limit=1)[0].is_by_user is False
    assert found(user, "Sage on the piano", limit=1)[0].is_by_user is False


def test_the_time_that_is_asked_about_ranks_first(user: User) -> None:
    now = datetime(2026, 11, 22, 12, tzinfo=UTC)
    talk(user, "I went swimming", at=datetime(2026, 4, 10, tzinfo=UTC))
    talk(user, "I went swimming", at=datetime(2026, 11, 21, 9, tzinfo=UTC))
    talk(user, "I went swimming", at=datetime(2026, 8, 10, tzinfo=UTC))
    for query, month in (("swimming last spring", 4), ("swimming yesterday", 11), ("swimming in August", 8)):
        assert found(user, query, limit=1, now=now)[0].hit.moment.month == month


def test_bounds_limit_what_is_found(user: User) -> None:
    old = talk(user, "A heron stood there", "A heron", at=timezone.now() - timedelta(days=40))
    new = talk(user, "Another heron", "Yes, a heron", "More of the heron", "Always a heron")
    here = found(user, "heron", bounds=Bounds(session_id=new.id))
    assert {passage.hit.session_id for passage in here} == {new.id}
    recent = found(user, "heron", bounds=Bounds(since=timezone.now() - timedelta(days=1)))
    assert {passage.hit.session_id for passage in recent} == {new.id}
    unseen = found(user, "heron", bounds=Bounds(open_session_id=new.id, open_number=3))
    assert {(passage.hit.session_id, passage.hit.number) for passage in unseen} == {
        (old.id, 1), (old.id, 2), (new.id, 1), (new.id, 2)
    }  # fmt: skip
    assert found(user, "heron", bounds=Bounds(sources=[RecallSource.FILE])) == []


def test_the_user_is_in_the_index_condition(user: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    plan = plan_of_ranking(lambda: found(user, "walking lunch"))
    assert "Seq Scan on coaching_recallpassage" not in plan
    assert plan.count("Index Cond: (user_id =") == 2


def test_an_ended_session_is_found_like_any_other(user: User) -> None:
    session = talk(user, "A cormorant")
    session_services.end_session(user_id=user.pk, session_id=session.id, status=SessionStatus.COMPLETED)
    assert texts(user, "cormorant") == ["A cormorant"]
