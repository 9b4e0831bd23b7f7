"""Recall of next steps: with the person's words and how it went, once accepted, and only by their owner."""

import importlib
from datetime import date
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from coaching.library.clients import own_client
from coaching.models import ActionItem, ActionState, RecallPassage, RecallSource
from coaching.recall.search import Bounds
from coaching.tools.foreign import names_in_passages
from tests.browsers import browser_of
from tests.library.rows import make_client
from tests.recall.history import found
from tests.recall.test_library import ALL, document

pytestmark = pytest.mark.django_db

migration: Any = importlib.import_module("coaching.migrations.0047_recall_steps")
QUOTE = "I'll ask the vet about the wombat on Thursday."


def step(user: User, title: str = "Ask the vet", **values: Any) -> ActionItem:
    values = {"client": own_client(user.pk), "quote": QUOTE, "message_number": 3, **values}
    return ActionItem.of(user.pk).create(title=title, due_date=date(2026, 12, 3), **values)


def test_a_step_is_found_by_title_words_and_how_it_went(user: User) -> None:
    asked = step(user)
    ActionItem.of(user.pk).update(outcome="She prescribed eucalyptus.")
    for question in ("vet", "wombat", "eucalyptus"):
        (passage,) = found(user, question)
        assert (passage.hit.source, passage.hit.file_id) == (RecallSource.STEP, asked.pk)
        assert (passage.title, passage.hit.moment) == ("Ask the vet", asked.created_at)
        assert passage.text == f"Ask the vet\n{QUOTE}\nShe prescribed eucalyptus."


@pytest.mark.parametrize("state", [ActionState.PROPOSED, ActionState.DISMISSED])
def test_what_was_only_suggested_or_taken_back_is_not_found(user: User, state: ActionState) -> None:
    step(user)
    ActionItem.of(user.pk).update(state=state)
    assert found(user, "wombat", bounds=ALL) == []
    ActionItem.of(user.pk).update(state=ActionState.DROPPED)
    assert len(found(user, "wombat")) == 1
    ActionItem.of(user.pk).get().delete()
    assert RecallPassage.of(user.pk).count() == 0


def test_what_is_withheld_is_found_on_a_page_only(user: User) -> None:
    letter = document(user, "letter.pdf")
    step(user, document=letter, message_number=None)
    (passage,) = found(user, "wombat")
    assert names_in_passages(user.pk, [passage]) == ("letter.pdf",)
    type(letter).of(user.pk).update(is_withheld=True)
    assert found(user, "wombat") == []
    assert [each.hit.source for each in found(user, "wombat", bounds=ALL)] == [RecallSource.WITHHELD_STEP]
    type(letter).of(user.pk).update(is_withheld=False)
    assert len(found(user, "wombat")) == 1


def test_the_persons_own_words_are_no_text_of_others(user: User) -> None:
    step(user)
    assert names_in_passages(user.pk, found(user, "wombat")) == ()


def test_steps_of_other_clients_and_people_are_out_of_reach(user: User, other_user: User) -> None:
    anna = make_client(user, "Anna")
    step(user, client=anna)
    step(other_user)
    assert len(found(user, "wombat", bounds=Bounds(reached=[anna.pk]))) == 1
    assert found(user, "wombat", bounds=Bounds(reached=[own_client(user.pk).pk])) == []
    assert len(found(user, "wombat", bounds=Bounds(client_id=anna.pk))) == 1
    assert found(user, "wombat", bounds=Bounds(client_id=own_client(user.pk).pk)) == []


def test_the_search_page_names_it_and_leads_to_it(user: User) -> None:
    asked = step(user)
    browser = browser_of(user)
    page = browser.get("/search/?q=wombat").content.decode()
    assert f'href="/library/actions/{asked.pk}/"' in page
    assert "Next step" in page


def test_what_was_there_before_the_migration_is_indexed_as_the_triggers_would(user: User) -> None:
    step(user)
    step(user, "Feed it", document=document(user, "a.pdf", is_withheld=True))
    step(user, "Maybe", state=ActionState.PROPOSED)
    names = ("source", "file_id", "part", "piece", "moment", "lexemes")
    steps = RecallPassage.of(user.pk).filter(source__startswith="step")
    before = set(steps.values_list(*names))
    assert len(before) == 2
    steps.delete()
    for _ in range(2):
        with connection.cursor() as cursor:
            assert migration.index_batch(cursor, 0) is not None
        assert set(steps.values_list(*names)) == before
