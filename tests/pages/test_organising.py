"""The list of conversations: groups by date, pins, the archive, and deleting with time to undo it."""

import uuid
from datetime import timedelta
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from coaching.models import RecallPassage
from coaching.recall.passages import read_passages
from coaching.recall.search import Bounds, search
from sessions_app.models import Message, ModelUsage, Session, Turn, TurnStatus, UsagePurpose
from sessions_app.organising import UNDO_TIME, purge_deleted_sessions
from tests.pages.conftest import Exchange

pytestmark = pytest.mark.django_db(transaction=True)


def organise(client: Client, session: Session, do: str, **fields: str) -> str:
    """Send the menu's form and return the page that follows."""
    response = client.post(f"/chat/{session.id}/organise/", {"do": do, **fields}, follow=True)
    assert response.redirect_chain[0][1] == HTTPStatus.SEE_OTHER
    return response.content.decode()


def titled(user: User, title: str, *, days_ago: int) -> Session:
    session = Session.of(user.pk).create(title=title, last_message_number=1)
    Session.of(user.pk).filter(id=session.id).update(last_active_at=timezone.now() - timedelta(days=days_ago))
    return session


def test_conversations_are_grouped_by_the_day_of_their_last_words(signed_in: Client, user: User) -> None:
    for title, days_ago in [("now", 0), ("before", 1), ("week", 4), ("month", 20), ("old", 400)]:
        titled(user, title, days_ago=days_ago)
    page = signed_in.get("/chat/").content.decode()
    month = f"{timezone.now() - timedelta(days=400):%B %Y}"
    marks = [
        "Today<",
        ">now<",
        "Yesterday<",
        ">before<",
        "Last 7 days<",
        ">week<",
        "Last 30 days<",
        ">month<",
    ]
    places = [page.index(mark) for mark in (*marks, f">{month}<", ">old<")]
    assert places == sorted(places)


def test_a_pinned_conversation_comes_first_and_an_archived_one_has_a_page_of_its_own(
    signed_in: Client, user: User
) -> None:
    old, new = titled(user, "old one", days_ago=40), titled(user, "new one", days_ago=0)
    page = organise(signed_in, old, "pin")
    assert page.index("Pinned<") < page.index(">old one<") < page.index("Today<") < page.index(">new one<")
    page = organise(signed_in, old, "archive")
    assert ">old one<" not in page
    assert "Archive (1)" in page
    assert ">old one<" not in signed_in.get("/").content.decode()
    archive = signed_in.get("/chat/?show=archive").content.decode()
    assert ">old one<" in archive
    assert ">new one<" not in archive
    assert signed_in.get(f"/chat/{old.id}/").status_code == HTTPStatus.OK
    assert "Nothing archived yet" in organise(signed_in, old, "unarchive", then="archive")
    page = signed_in.get("/chat/").content.decode()
    assert page.index(">new one<") < page.index(">old one<")
    assert "Pinned<" not in page
    assert Session.of(user.pk).get(id=new.id).pinned_at is None


def test_a_deleted_conversation_looks_missing_at_once_and_can_be_restored(
    signed_in: Client, user: User, session: Session, exchange: Exchange
) -> None:
    exchange("I adore marzipan", "Noted.")
    assert found(user, "marzipan")
    page = organise(signed_in, session, "delete")
    assert "You can undo this for ten minutes." in page
    assert "Just deleted" in page
    for address in (f"/chat/{session.id}/", f"/chat/{session.id}/brief/"):
        assert signed_in.get(address).status_code == HTTPStatus.NOT_FOUND
    assert signed_in.post(f"/chat/{session.id}/message/", {"text": "hi"}).status_code == HTTPStatus.NOT_FOUND
    assert "marzipan" not in signed_in.get("/").content.decode()
    assert not found(user, "marzipan")
    assert purge_deleted_sessions(now=timezone.now()) == []
    assert "Restored." in organise(signed_in, session, "restore")
    assert signed_in.get(f"/chat/{session.id}/").status_code == HTTPStatus.OK
    assert found(user, "marzipan")


def test_after_ten_minutes_its_rows_are_gone_and_what_it_cost_stays(
    signed_in: Client, user: User, session: Session, exchange: Exchange
) -> None:
    turn = exchange("I adore marzipan", "Noted.")
    ModelUsage.of(user.pk).create(session=session, purpose=UsagePurpose.TURN, model="m", input_tokens=7)
    organise(signed_in, session, "delete")
    running = Turn.unscoped.filter(session=session)
    running.update(status=TurnStatus.RUNNING, ended_at=None)
    later = timezone.now() + UNDO_TIME + timedelta(seconds=1)
    assert purge_deleted_sessions(now=later) == [], turn
    running.update(status=TurnStatus.STOPPED, ended_at=timezone.now())
    assert purge_deleted_sessions(now=later) == [session.id]
    assert not Session.unscoped.filter(id=session.id).exists()
    assert not Message.unscoped.exists()
    assert not RecallPassage.of(user.pk).exists()
    assert ModelUsage.of(user.pk).get().input_tokens == 7
    restored = signed_in.post(f"/chat/{session.id}/organise/", {"do": "restore"})
    assert restored.status_code == HTTPStatus.NOT_FOUND


def test_a_running_turn_is_asked_to_stop(signed_in: Client, user: User, session: Session) -> None:
    turn = Turn.unscoped.create(session=session, status=TurnStatus.RUNNING)
    organise(signed_in, session, "delete")
    turn.refresh_from_db()
    assert turn.is_stop_requested


@pytest.mark.parametrize("do", ["pin", "archive", "delete", "restore", "nonsense"])
def test_nobody_organises_anothers_conversation(signed_in: Client, other_user: User, do: str) -> None:
    theirs = Session.of(other_user.pk).create(title="theirs", last_message_number=1)
    for session_id in (theirs.id, uuid.uuid4()):
        response = signed_in.post(f"/chat/{session_id}/organise/", {"do": do})
        assert response.status_code == HTTPStatus.NOT_FOUND
    theirs.refresh_from_db()
    assert (theirs.pinned_at, theirs.archived_at, theirs.deleted_at) == (None, None, None)


def found(user: User, words: str) -> list[str]:
    """Return the texts that recall finds."""
    hits = search(words, user_id=user.pk, now=timezone.now(), limit=10, bounds=Bounds())
    return [passage.text for passage in read_passages(hits, user_id=user.pk)]
