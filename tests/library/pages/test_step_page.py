"""The page of a next step: its form, what became of it, where it comes from, and Undo."""

import re
from datetime import date, time, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client as Browser
from django.utils import timezone

from coaching.library.clients import own_client
from coaching.library.drafts import NewAction, NewEntry
from coaching.library.proposals import propose
from coaching.models import ActionItem, KnowledgeEntry, MadeBy, StepChange
from coaching.steps.repeats import DAYS
from sessions_app.models import Session
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db

DUE = date(2026, 12, 3)
FORM = {"title": "Call Mum", "priority": "medium"}


def add_step(user: User, **values: Any) -> ActionItem:
    new = NewAction(client_id=own_client(user.pk).pk, **{"title": "Call Mum", "due_date": DUE, **values})
    made_by = MadeBy.CHAT if "session_id" in values else MadeBy.USER
    return propose(user_id=user.pk, new=new, made_by=made_by, is_accepted=True)


def page_of(browser: Browser, step: ActionItem) -> str:
    return browser.get(f"/library/actions/{step.pk}/").content.decode()


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"repeats": "daily"}, "daily"),
        ({"repeats": "monthly", "days": ["mon"]}, "monthly"),
        ({"repeats": "weekly"}, "thu"),
        ({"repeats": "weekly", "days": ["thu", "mon"]}, "mon,thu"),
        ({"repeats": ""}, ""),
    ],
)
def test_the_form_sets_a_time_and_a_repetition_and_shows_them_again(
    signed_in: Browser, user: User, given: dict[str, Any], stored: str
) -> None:
    step = add_step(user)
    form = FORM | {"due_date": "2026-12-03", "due_time": "18:30"} | given
    assert signed_in.post(f"/library/actions/{step.pk}/", form).status_code == 303
    step.refresh_from_db()
    assert (step.due_time, step.repeats) == (time(18, 30), stored)
    page = page_of(signed_in, step)
    assert "Thursday, 3 December 2026</time>, 18:30" in page
    assert ("every day" in page, "weekly on Monday, Thursday" in page) == (stored == "daily", "," in stored)
    assert re.findall(r'name="days" value="(\w+)"[^>]* checked', page) == [
        day for day in stored.split(",") if day in DAYS
    ]
    assert 'type="time" name="due_time" value="18:30"' in page


def test_what_the_form_refuses_stays_in_it(signed_in: Browser, user: User) -> None:
    step = add_step(user)
    wrong = [
        ({"repeats": "daily", "title": "Call her"}, "needs a due date"),
        ({"due_date": "9999-12-31"}, "between 1970 and 2199"),
        ({"due_time": "25:00", "due_date": "2026-12-03"}, "Enter a valid time."),
        ({"repeats": "often"}, "is not one of the available choices"),
    ]
    for given, sentence in wrong:
        answer = signed_in.post(f"/library/actions/{step.pk}/", FORM | given)
        page = answer.content.decode()
        assert (answer.status_code, sentence in page) == (422, True), given
        assert all(f'value="{value}"' in page for value in given.values() if value != "often")
    added = signed_in.post("/library/actions/", FORM | {"client": own_client(user.pk).pk, "repeats": "daily"})
    assert (added.status_code, "needs a due date" in added.content.decode()) == (422, True)


def test_a_step_is_done_or_dropped_in_ones_own_words_and_reopened(signed_in: Browser, user: User) -> None:
    step = add_step(user)
    address = f"/library/actions/{step.pk}/"
    for given, state, says in [
        ({"done": "1", "outcome": "We talked for an hour."}, "done", "We talked for an hour."),
        ({"done": "0"}, "open", "Mark as done"),
        ({"do": "drop", "outcome": "She is away."}, "dropped", "She is away."),
    ]:
        answer = signed_in.post(address, given | {"then": "step"})
        assert answer.headers["Location"] == address
        step.refresh_from_db()
        page = page_of(signed_in, step)
        assert (step.state, says in page) == (state, True)
    history = page.partition('id="history"')[2]
    order = ["Dropped", "Opened again", "Done", "Next step added"]
    places = [history.index(word) for word in order]
    assert places == sorted(places)
    assert [change.outcome for change in StepChange.of(user.pk).order_by("id")] == [
        "We talked for an hour.", "", "She is away.",
    ]  # fmt: skip
    long = signed_in.post(address, {"done": "1", "outcome": "x" * 2_001})
    assert long.status_code == 422
    step.refresh_from_db()
    assert step.state == "dropped"
    closed = signed_in.get("/library/actions/?done=1").content.decode()
    assert ">Call Mum<" in closed
    assert ">Call Mum<" not in signed_in.get("/library/actions/").content.decode()


def test_undo_takes_back_the_newest_change_for_a_day(signed_in: Browser, user: User) -> None:
    step = add_step(user)
    address, undo = f"/library/actions/{step.pk}/", f"/library/actions/{step.pk}/undo/"
    signed_in.post(address, FORM | {"due_date": "2026-12-05"})
    page = page_of(signed_in, step)
    assert "Due: Thursday, 3 December 2026 → Saturday, 5 December 2026" in page
    assert page.count(undo) == 1
    assert signed_in.post(undo).headers["Location"] == address
    step.refresh_from_db()
    assert step.due_date == DUE
    assert "Undone" in page_of(signed_in, step)
    with time_machine.travel(timezone.now() + timedelta(hours=25)):
        assert undo not in page_of(signed_in, step)
        late = signed_in.post(undo, follow=True)
        assert "more than a day ago" in late.content.decode()
    assert signed_in.post(undo).headers["Location"] == address, "that it was added"
    step.refresh_from_db()
    assert step.state == "dismissed"
    assert signed_in.get(undo).status_code == 405


@pytest.mark.parametrize("kind", ["actions", "knowledge"])
def test_what_was_dismissed_is_restored_or_deleted_and_not_edited(
    signed_in: Browser, user: User, kind: str
) -> None:
    if kind == "actions":
        row: ActionItem | KnowledgeEntry = add_step(user)
        signed_in.post(f"/library/actions/{row.pk}/undo/")
    else:
        entry = NewEntry(client_id=own_client(user.pk).pk, title="Coffee", content="Black.")
        row = propose(user_id=user.pk, new=entry, made_by=MadeBy.PIPELINE)
        signed_in.post(f"/library/knowledge/{row.pk}/", {"do": "dismiss"})
    address = f"/library/{kind}/{row.pk}/"
    page = signed_in.get(address).content.decode()
    assert re.findall(r'name="do" value="(\w+)"', page) == ["restore", "delete"]
    refused = signed_in.post(address, FORM | {"do": "save", "title": "What was typed", "content": "Black."})
    assert "What was typed" in refused.content.decode(), "of a page that was opened before"
    signed_in.post(address, {"do": "restore"})
    assert 'value="save"' in signed_in.get(address).content.decode()


def test_the_list_of_what_is_done_says_what_is_below_it(signed_in: Browser, user: User) -> None:
    empty = "Steps that you tick off or drop will appear here."
    assert f"{empty}</p>" in signed_in.get("/library/actions/?done=1").content.decode()
    signed_in.post(f"/library/actions/{add_step(user).pk}/undo/")
    page = signed_in.get("/library/actions/?done=1").content.decode()
    assert f"{empty} What you dismissed or undid is listed below.</p>" in page
    assert ">Call Mum<" in page


def test_a_step_shows_its_sentence_and_the_conversation_at_its_message(
    signed_in: Browser, user: User
) -> None:
    session = open_conversation(user)
    said = {"quote": "I’ll call Mum.", "message_number": 3, "session_id": session.id}
    step = add_step(user, **said)
    for title, last, address in (
        ("About Mum", 9, f"/chat/{session.id}/#message-3"),
        ("", 100, f"/chat/{session.id}/?before=15#message-3"),
    ):
        Session.of(user.pk).filter(id=session.id).update(title=title, last_message_number=last)
        page = page_of(signed_in, step)
        assert ">I’ll call Mum.</blockquote>" in page
        assert f'<a href="{address}"><bdi>{title or session.get_kind_display()}</bdi></a>' in page


def test_a_box_on_home_stays_on_home(signed_in: Browser, user: User) -> None:
    step = add_step(user)
    address = f"/library/actions/{step.pk}/"
    part = signed_in.post(address, {"done": "1", "then": "home"}, headers={"HX-Request": "true"})
    assert 'aria-checked="true"' in part.content.decode()
    assert 'name="then" value="home"' in part.content.decode()
    assert signed_in.post(address, {"done": "0", "then": "home"}).headers["Location"] == "/#steps"
