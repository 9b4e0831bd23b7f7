"""A program's search finds a next step by its title and description, not by what the person said of it."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from coaching.library.clients import own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.models import ActionItem, MadeBy
from tests.api.things import token

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def step(user: User) -> ActionItem:
    new = NewAction(client_id=own_client(user.pk).pk, title="Call my mother", description="About the garden")
    step = propose(user_id=user.pk, new=new, made_by=MadeBy.USER, is_accepted=True)
    ActionItem.of(user.pk).filter(pk=step.pk).update(
        quote="I will call my mother on Thursday, because Tom and Jo left me.", outcome="She wept."
    )
    return step


@pytest.mark.parametrize("words", ["mother", "garden", "calling mother"])
@pytest.mark.usefixtures("step")
def test_its_title_and_description_are_found_and_given(user: User, words: str) -> None:
    items = _found(user, words)
    assert [(item["title"], item["excerpt"]) for item in items] == [("Call my mother", "About the garden")]


@pytest.mark.parametrize("words", ["Tom", "Jo", "Thursday", "wept"])
@pytest.mark.usefixtures("step")
def test_what_was_said_of_it_is_neither_found_nor_given(user: User, words: str) -> None:
    assert not _found(user, words)


def _found(user: User, words: str) -> list[dict[str, str]]:
    bearer = {"Authorization": f"Bearer {token(user, 'read')}"}
    answer = Client().get("/api/search", {"q": words}, headers=bearer)
    assert answer.status_code == 200
    items: list[dict[str, str]] = answer.json()["items"]
    return items
