"""The page of what Sage remembers of a conversation."""

import re
from collections.abc import Iterator
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest_django import Settings

from coaching.job_queue.names import BRIEF_JOB, SUMMARY_JOB
from coaching.views import brief as brief_page
from coaching.views.brief import ASKED_ANEW, CHANGED, CORRECTED, REMOVED, RESTORED, UNDONE
from sessions_app.brief_corrections import CORRECTION_CHARACTERS, MAX_CORRECTIONS
from sessions_app.models import BriefCorrection, ModelUsage, Session, SessionBrief
from tests.pages.conftest import Exchange

pytestmark = pytest.mark.django_db

LINES = ("Hannah is your sister [1, 2]", "You want to work less [3]", "You <b>rest</b> on Sundays [5; 99]")


@pytest.fixture(autouse=True)
def _fresh_limit() -> Iterator[None]:
    brief_page._anew._made.clear()
    yield
    brief_page._anew._made.clear()


@pytest.fixture
def remembered(session: Session, exchange: Exchange) -> SessionBrief:
    """A brief of the first two of three exchanges."""
    for number in range(3):
        exchange(f"Message {number}", f"Answer {number}")
    session.refresh_from_db()
    session.brief_covers = 4
    session.save()
    text = "\n".join(f"- {line}" for line in LINES)
    brief: SessionBrief = SessionBrief.unscoped.create(
        session=session, version=1, text=text, covers_from=1, covers_until=4
    )
    return brief


def address_of(session: Session) -> str:
    return f"/chat/{session.id}/brief/"


def shown(client: Client, session: Session) -> str:
    response = client.get(address_of(session))
    assert response.status_code == HTTPStatus.OK
    return response.content.decode()


def send(client: Client, session: Session, **form: object) -> tuple[Any, str]:
    """Post the form and return the response with the page that follows it."""
    response = client.post(address_of(session), form)
    if response.status_code != HTTPStatus.SEE_OTHER:
        return response, response.content.decode()
    assert response["Location"] == address_of(session)
    return response, shown(client, session)


def lines_in(page: str) -> list[str]:
    found = re.findall(r'<p class="remembered-text"[^>]*><bdi>(.*?)</bdi>', page)
    return [str(line) for line in found]


@pytest.mark.usefixtures("remembered")
def test_it_shows_the_lines_what_they_cover_and_where_they_come_from(
    signed_in: Client, session: Session
) -> None:
    page = shown(signed_in, session)
    assert lines_in(page) == [
        "Hannah is your sister",
        "You want to work less",
        "You &lt;b&gt;rest&lt;/b&gt; on Sundays",
    ]
    assert "2 later messages aren’t included yet." in page
    links = re.findall(r'class="citation" href="([^"]+)"', page)
    answer = session.messages.get(number=2)
    assert links == [
        f"/chat/{session.id}/#message-1",
        f"/chat/{session.id}/#turn-{answer.turn_id}",
        f"/chat/{session.id}/#message-3",
        f"/chat/{session.id}/#message-5",
    ]
    menu = signed_in.get(f"/chat/{session.id}/menu/").content.decode()
    assert address_of(session) in menu
    conversation = signed_in.get(f"/chat/{session.id}/").content.decode()
    for link in links:
        assert f'id="{link.partition("#")[2]}"' in conversation


def test_a_citation_of_an_old_message_leads_to_the_page_that_shows_it(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    for number in range(60):
        exchange(f"Message {number}", f"Answer {number}")
    SessionBrief.unscoped.create(
        session=session, version=1, text="- You rest [3]", covers_from=1, covers_until=120
    )
    (link,) = re.findall(r'class="citation" href="([^"]+)"', shown(signed_in, session))
    assert link == f"/chat/{session.id}/?before=15#message-3"
    assert 'id="message-3"' in signed_in.get(link).content.decode()
    assert 'id="message-3"' not in signed_in.get(f"/chat/{session.id}/").content.decode()


def test_before_there_is_one_it_says_so(signed_in: Client, session: Session) -> None:
    assert "Nothing yet." in shown(signed_in, session)
    response, _ = send(signed_in, session, do="anew")
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


@pytest.mark.usefixtures("remembered")
def test_a_line_is_corrected_removed_and_brought_back(signed_in: Client, session: Session) -> None:
    _, page = send(signed_in, session, do="correct", version=1, line=0, words="Anna is your sister")
    assert CORRECTED in page
    assert lines_in(page)[-1] == "Anna is your sister"
    assert "Hannah is your sister" not in lines_in(page)
    _, page = send(signed_in, session, do="strike", version=1, line=1)
    assert REMOVED in page
    assert "You want to work less" not in lines_in(page)
    session.refresh_from_db()
    assert session.brief_revision == 2
    rows = BriefCorrection.unscoped.order_by("pk").values_list("kind", "line", "words")
    assert list(rows) == [("correction", LINES[0], "Anna is your sister"), ("strike", LINES[1], "")]
    strike = BriefCorrection.unscoped.get(kind="strike")
    _, page = send(signed_in, session, do="undo", correction=strike.pk)
    assert RESTORED in page
    assert "You want to work less" in lines_in(page)
    assert SessionBrief.unscoped.count() == 1
    response, page = send(signed_in, session, do="undo", correction=strike.pk)
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert CHANGED in page


@pytest.mark.usefixtures("remembered")
def test_a_correction_can_be_about_no_line(signed_in: Client, session: Session) -> None:
    for _ in range(2):
        send(signed_in, session, do="correct", words="It was Anna,\n not Hannah")
    assert BriefCorrection.unscoped.get().words == "It was Anna, not Hannah"


REFUSED: tuple[dict[str, object], ...] = (
    {},
    {"do": "burn"},
    {"do": "correct", "words": " "},
    {"do": "correct", "words": "x" * (CORRECTION_CHARACTERS + 1)},
    {"do": "correct", "words": "x\0y"},
    {"do": "correct", "words": "Anna", "version": 1, "line": 3},
    {"do": "correct", "words": "Anna", "version": 2, "line": 0},
    {"do": "correct", "words": "Anna", "line": "first"},
    {"do": "strike"},
    {"do": "undo"},
    {"do": "undo", "correction": 2**70},
)


@pytest.mark.usefixtures("remembered")
def test_what_it_cannot_do_is_refused_with_a_sentence(signed_in: Client, session: Session) -> None:
    for form in REFUSED:
        response, page = send(signed_in, session, **form)
        assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY, form
        assert 'role="alert"' in page, form
    assert not BriefCorrection.unscoped.exists()


@pytest.mark.usefixtures("remembered")
def test_a_person_has_a_bounded_number_of_corrections(
    signed_in: Client, session: Session, other_user: User
) -> None:
    elsewhere = Session.unscoped.create(user=session.user)
    for place, count in (
        (elsewhere, MAX_CORRECTIONS - 1),
        (Session.unscoped.create(user=other_user), MAX_CORRECTIONS),
    ):
        for number in range(count):
            BriefCorrection.unscoped.create(session=place, kind="correction", words=f"Correction {number}")
    _, page = send(signed_in, session, do="correct", words="The last one")
    assert CORRECTED in page
    for form in ({"do": "correct", "words": "One more"}, {"do": "strike", "version": 1, "line": 0}):
        response, page = send(signed_in, session, **form)
        assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        assert f"up to {MAX_CORRECTIONS} corrections across all your conversations" in page
    response, page = send(signed_in, session, do="correct", words="One more")
    assert "One more" in page, "what was written isn't lost"
    BriefCorrection.of(session.user_id).filter(session=elsewhere).first().delete()  # type: ignore[union-attr]  # there is one
    _, page = send(signed_in, session, do="correct", words="One more")
    assert CORRECTED in page


def strike_first(client: Client, session: Session, *later: str) -> tuple[int, str]:
    """Strike the first line, then store versions with these texts; return the strike and the page."""
    send(client, session, do="strike", version=1, line=0)
    for version, text in enumerate(later, start=2):
        SessionBrief.unscoped.create(
            session=session, version=version, text=text, covers_from=5, covers_until=6, cost_micro_usd=7
        )
    strike = BriefCorrection.unscoped.get(kind="strike")
    return strike.pk, shown(client, session)


def test_a_line_is_back_at_once_when_its_strike_is_undone_after_a_later_version(
    signed_in: Client, session: Session, remembered: SessionBrief
) -> None:
    strike, page = strike_first(signed_in, session, "- You have a cat [4]\n- Your cat is old [5]")
    assert lines_in(page) == ["You have a cat", "Your cat is old"]
    send(signed_in, session, do="strike", version=2, line=1)
    _, page = send(signed_in, session, do="undo", correction=strike)
    assert RESTORED in page
    assert lines_in(page) == ["Hannah is your sister", "You have a cat"]
    restored = SessionBrief.unscoped.get(version=3)
    assert restored.text == "- Hannah is your sister [1, 2]\n- You have a cat [4]"
    assert (restored.covers_from, restored.covers_until, restored.cost_micro_usd) == (5, 6, 0)
    assert SessionBrief.unscoped.get(version=2).text == "- You have a cat [4]\n- Your cat is old [5]"


def test_a_line_of_a_withdrawn_version_doesnt_come_back(
    signed_in: Client, session: Session, remembered: SessionBrief
) -> None:
    strike, _ = strike_first(signed_in, session, "- You have a cat [4]")
    SessionBrief.unscoped.filter(pk=remembered.pk).update(is_withdrawn=True)
    _, page = send(signed_in, session, do="undo", correction=strike)
    assert UNDONE in page
    assert lines_in(page) == ["You have a cat"]


@pytest.mark.usefixtures("remembered")
def test_it_is_written_anew_at_most_once_a_minute(signed_in: Client, session: Session, user: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_jobs")
    _, page = send(signed_in, session, do="anew")
    assert ASKED_ANEW in page
    job = ProcrastinateJob.objects.get(task_name=BRIEF_JOB)
    assert job.args == {"session_id": str(session.id), "is_anew": True}
    assert job.scheduled_at is None
    response, _ = send(signed_in, session, do="anew")
    assert response.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert 0 < int(response["Retry-After"]) <= 60


@pytest.mark.usefixtures("remembered")
def test_it_is_written_anew_within_the_daily_budget_alone(
    signed_in: Client, session: Session, user: User, settings: Settings
) -> None:
    settings.SAGE_DAILY_TOKENS = 10
    used = ModelUsage.unscoped.create(user=user, model="m", output_tokens=10)
    response, page = send(signed_in, session, do="anew")
    assert response.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert "Today’s budget is used up" in page
    jobs = ProcrastinateJob.objects.filter(task_name=BRIEF_JOB, args__session_id=str(session.id))
    assert not jobs.exists()
    ModelUsage.unscoped.filter(pk=used.pk).update(created_at=timezone.now() - timedelta(hours=25))
    _, page = send(signed_in, session, do="anew")
    assert ASKED_ANEW in page
    assert jobs.get().args["is_anew"]


def test_a_brief_that_was_withdrawn_is_not_shown(
    signed_in: Client, session: Session, remembered: SessionBrief
) -> None:
    remembered.is_withdrawn = True
    remembered.save()
    assert lines_in(shown(signed_in, session)) == []
    response, _ = send(signed_in, session, do="strike", version=1, line=0)
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


def test_the_page_shows_what_other_conversations_are_told(
    signed_in: Client, session: Session, remembered: SessionBrief
) -> None:
    SessionBrief.unscoped.update(left_open=LINES[1])
    said = shown(signed_in, session)
    assert '<q dir="auto">Message 0</q> … <q dir="auto">Message 2</q>' in said
    assert "<li><bdi>You want to work less</bdi></li>" in said
    Session.unscoped.update(summary="You talked about <b>rest</b>.", summary_covers=6)
    assert "<bdi>You talked about &lt;b&gt;rest&lt;/b&gt;.</bdi>" in shown(signed_in, session)
    signed_in.post(address_of(session), {"do": "strike", "version": 1, "line": 1})
    said = shown(signed_in, session)
    assert "Only its day and its kind, for now." in said
    assert "Still open" not in said
    assert ProcrastinateJob.objects.filter(task_name=SUMMARY_JOB, status="todo").exists()
