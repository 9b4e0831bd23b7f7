"""Settings → Model: who answers, and what operators see of the server."""

import re
from datetime import UTC, datetime
from http import HTTPStatus

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from coaching.model_client.places import FIRST_PLACE, PLACES, Rank
from sessions_app.models import ModelUsage
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)

ADDRESS = "/settings/model/"
AT = datetime(2026, 11, 24, 9, 30, tzinfo=UTC)


@pytest.fixture
def anothers_model(settings: Settings) -> None:
    """A model whose server takes no connection; its address has a password."""
    settings.IS_PRACTICE_MODEL = False
    settings.ANTHROPIC_BASE_URL = "http://me:secret-word@127.0.0.1:9/api"
    settings.SAGE_MODEL = "some-model"
    settings.SAGE_CONTEXT_TOKENS = 8_192


def words_of(client: Client) -> str:
    response = client.get(ADDRESS)
    assert response.status_code == HTTPStatus.OK
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


def used(user: User, **fields: int) -> None:
    with time_machine.travel(AT, tick=False):
        ModelUsage.unscoped.create(user=user, model="some-model", **fields)


@pytest.mark.usefixtures("anothers_model")
def test_each_person_sees_the_name_of_the_model_and_nothing_of_its_server(signed_in: Client) -> None:
    page = words_of(signed_in)
    assert "The model some-model , a program." in page
    for words in ("For operators", "127.0.0.1", "secret-word", "SAGE_BRIEF_MODEL"):
        assert words not in page


def test_without_a_model_the_guided_tour_is_named(signed_in: Client) -> None:
    assert "The guided tour answers: a script with rules" in words_of(signed_in)


@pytest.mark.usefixtures("anothers_model")
def test_operators_see_the_server_its_pace_and_its_queue(
    operator: User, other_user: User, settings: Settings
) -> None:
    settings.SAGE_MODEL_CONCURRENCY = 2
    used(other_user, input_tokens=900, output_tokens=100, first_token_ms=3_000, duration_ms=23_000)
    used(other_user, input_tokens=9_000, output_tokens=10, duration_ms=1_000)  # not streamed
    client = Client()
    assert client.login(username=operator.username, password=PASSWORD)
    assert PLACES.take(2, Rank.TURN) == FIRST_PLACE
    try:
        page = words_of(client)
    finally:
        PLACES.give_back(FIRST_PLACE)
        PLACES.close()
    assert "127.0.0.1:9" in page
    assert "secret-word" not in page
    assert "24 November 2026" in page
    assert "Reads 300 tokens a second" in page
    assert "Writes 5.0 tokens a second" in page
    assert "8,192 tokens, so requests are compact" in page
    assert "Calls at once 2, of which 1 now" in page
    assert "Safety checks" in page


@pytest.mark.usefixtures("anothers_model")
def test_what_nobody_knows_yet_is_said_to_be_unknown(operator: User) -> None:
    client = Client()
    assert client.login(username=operator.username, password=PASSWORD)
    page = words_of(client)
    assert "Last answer none so far" in page
    assert "Reads not known yet" in page
    assert "no limit" in page
