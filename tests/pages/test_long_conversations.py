"""A conversation of thousands of messages: the page shows its end, with links to earlier ones."""

import re
import time
from http import HTTPStatus

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from coaching.transcript.rows import PAGE_MESSAGES
from sessions_app.models import Message, MessageRole, Session, Turn, TurnStatus
from tests.browsers import page_of
from tests.pages.conftest import Exchange
from tests.patience import patience
from tests.thoroughness import size

pytestmark = pytest.mark.django_db

OPEN_SECONDS = 1.0
"""Alone it takes a fifth of it."""


def fill(session: Session, exchanges: int) -> None:
    """Store so many exchanges, the messages numbered from 1."""
    turns = Turn.unscoped.bulk_create(
        Turn(session=session, status=TurnStatus.COMPLETED, stop_reason="end_turn", ended_at=timezone.now())
        for _ in range(exchanges)
    )
    Message.unscoped.bulk_create(
        Message(session=session, turn=turn, number=2 * place + offset, role=role, content=f"{role} {place}")
        for place, turn in enumerate(turns)
        for offset, role in ((1, MessageRole.USER), (2, MessageRole.ASSISTANT))
    )
    session.last_message_number = 2 * exchanges
    session.save()


def numbers_in(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'<li[^>]* data-number="([0-9]+)"', page)]


def link_in(page: str, words: str) -> str | None:
    found = re.search(rf'href="([^"]+)"[^>]*>{words}</a>', page)
    return found[1] if found else None


@pytest.mark.slow
def test_thousands_of_messages_open_quickly_at_their_end(signed_in: Client, session: Session) -> None:
    messages = size(1_000, long=5_000)
    fill(session, messages // 2)
    address = f"/chat/{session.id}/"
    page_of(signed_in, address)
    began = time.monotonic()
    with CaptureQueriesContext(connection) as statements:
        page = page_of(signed_in, address)
    assert time.monotonic() - began < OPEN_SECONDS * patience()
    assert numbers_in(page) == list(range(messages + 1 - PAGE_MESSAGES, messages + 1))
    assert len(statements) < 15
    assert len(page) < 110_000


def test_every_message_is_on_one_of_the_pages_back_and_forth(signed_in: Client, session: Session) -> None:
    fill(session, 70)
    address = f"/chat/{session.id}/"
    page = page_of(signed_in, address)
    seen, earliest = numbers_in(page), ""
    while (link := link_in(page, "Show earlier messages")) is not None:
        earliest = address + link
        page = page_of(signed_in, earliest)
        seen = numbers_in(page) + seen
    assert seen == list(range(1, 141))
    forth = [numbers_in(page)]
    while (link := link_in(page, "Show later messages")) is not None:
        page = page_of(signed_in, address + link)
        forth.append(numbers_in(page))
    assert forth[0] == list(range(1, 21))
    assert forth[1] == list(range(21, 81))
    assert link_in(page, "Jump to latest") == address
    assert "ws-connect" not in page
    assert 'id="composer"' not in page
    assert "Edit</a>" not in page


def test_a_phone_hides_the_practice_banner_only_where_a_composer_says_the_same(
    signed_in: Client, session: Session, settings: LazySettings
) -> None:
    settings.IS_PRACTICE_MODEL = True
    fill(session, 70)
    newest = page_of(signed_in, address := f"/chat/{session.id}/")
    earlier = page_of(signed_in, f"{address}{link_in(newest, 'Show earlier messages')}")
    assert '<body class="has-sidebar has-composer"' in newest
    assert "Sage is a script here and can be wrong." in newest
    assert '<body class="has-sidebar"' in earlier
    assert "A script answers here." in earlier


def test_an_answer_never_stands_without_its_question(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    exchange("Without an answer", None, status=TurnStatus.STOPPED)
    for number in range(PAGE_MESSAGES // 2):
        exchange(f"Said {number}", f"Answered {number}")
    exchange("Newest, without an answer", None, status=TurnStatus.STOPPED)
    numbers = numbers_in(page_of(signed_in, f"/chat/{session.id}/"))
    assert len(numbers) == PAGE_MESSAGES - 1
    assert numbers[0] % 2 == 0  # the questions behind the first message, which had no answer


@pytest.mark.parametrize("before", ["0", "1", "-1", "x", "", "99999999999999999999", "\u0663", "1e3", "%00"])
def test_a_strange_number_shows_the_conversation_itself(
    signed_in: Client, session: Session, exchange: Exchange, before: str
) -> None:
    exchange("Hello", "Hi")
    response = signed_in.get(f"/chat/{session.id}/?before={before}", follow=True)
    assert response.status_code == HTTPStatus.OK
    assert 'id="composer"' in response.content.decode()


def test_anothers_past_is_like_a_missing_one(client: Client, session: Session, exchange: Exchange) -> None:
    exchange("Hello", "Hi")
    client.force_login(User.objects.create_user("eve", password="x"))
    assert client.get(f"/chat/{session.id}/?before=5").status_code == HTTPStatus.NOT_FOUND
