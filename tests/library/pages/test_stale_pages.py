"""Two tabs with the same step or entry: what the older one sends changes nothing that it doesn't show."""

from datetime import date
from http import HTTPStatus
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from coaching.library.clients import own_client
from coaching.library.drafts import NewAction, NewEntry
from coaching.library.proposals import propose
from coaching.models import ActionItem, KnowledgeEntry, LibraryEffect, MadeBy
from tests.browsers import page_of
from tests.form_fields import form_with

pytestmark = pytest.mark.django_db

DUE = date(2031, 12, 1)
PART = {"HX-Request": "true"}


def add_step(user: User, *, made_by: MadeBy = MadeBy.USER, **values: Any) -> ActionItem:
    given = {"title": "Water the plants", "due_date": DUE, "repeats": "daily", **values}
    new = NewAction(client_id=own_client(user.pk).pk, **given)
    return propose(user_id=user.pk, new=new, made_by=made_by, is_accepted=made_by == MadeBy.USER)


def address_of(row: ActionItem | KnowledgeEntry) -> str:
    return f"/library/{'actions' if isinstance(row, ActionItem) else 'knowledge'}/{row.pk}/"


# --- the date of a tick ------------------------------------------------


@pytest.mark.parametrize("place", ["/", "/library/actions/", "{step}"])
def test_a_second_tick_of_the_same_date_changes_nothing_and_says_so(
    signed_in: Browser, user: User, place: str
) -> None:
    step = add_step(user)
    ticked = form_with(page_of(signed_in, place.format(step=address_of(step))), "done") | {"done": "1"}
    is_page = "{" in place
    headers = None if is_page else PART
    first = signed_in.post(address_of(step), ticked, headers=headers)
    assert first.status_code == (HTTPStatus.SEE_OTHER if is_page else HTTPStatus.OK)
    again = signed_in.post(address_of(step), ticked | {"outcome": "All green."}, headers=headers)
    said = again.content.decode()
    assert again.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "already marked this as done for that date" in said
    step.refresh_from_db()
    assert step.due_date == date(2031, 12, 2)
    assert not is_page or "All green." in said, "what was typed is lost"
    fresh = form_with(said, "done") | {"done": "1"}
    assert fresh["occurrence"] == ["2031-12-02"]
    signed_in.post(address_of(step), fresh, headers=headers)
    step.refresh_from_db()
    assert step.due_date == date(2031, 12, 3)


def test_without_a_script_a_second_tick_says_so_on_the_next_page(signed_in: Browser, user: User) -> None:
    step = add_step(user)
    ticked = form_with(page_of(signed_in, "/library/actions/"), "done") | {"done": "1"}
    signed_in.post(address_of(step), ticked)
    again = signed_in.post(address_of(step), ticked, follow=True)
    assert "already marked this as done for that date" in again.content.decode()
    step.refresh_from_db()
    assert step.due_date == date(2031, 12, 2)


def test_the_palette_ticks_the_date_that_it_shows_and_undoes_that_alone(
    signed_in: Browser, user: User
) -> None:
    step = add_step(user)
    assert 'data-occurrence="2031-12-01"' in signed_in.get("/palette/", headers=PART).content.decode()
    tick = {"done": "1", "then": "palette", "occurrence": "2031-12-01", "effect": ""}
    answer = signed_in.post(address_of(step), tick, headers=PART).content.decode()
    newest = LibraryEffect.of(user.pk).first()
    assert newest is not None
    assert f'data-effect="{newest.pk}"' in answer
    again = signed_in.post(address_of(step), tick, headers=PART)
    assert again.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert 'data-occurrence="2031-12-02"' in again.content.decode()
    undo = {"then": "palette", "occurrence": "", "effect": newest.pk}
    for status in (HTTPStatus.OK, HTTPStatus.UNPROCESSABLE_ENTITY):
        assert signed_in.post(f"{address_of(step)}undo/", undo, headers=PART).status_code == status
    step.refresh_from_db()
    assert (step.state, step.due_date) == ("open", DUE)


def test_a_date_that_is_none_is_a_bad_request(signed_in: Browser, user: User) -> None:
    step = add_step(user)
    assert signed_in.post(address_of(step), {"done": "1", "occurrence": "soon"}).status_code == 400
    assert signed_in.post(f"{address_of(step)}undo/", {"effect": "x"}).status_code == 400


# --- undo and dismiss ------------------------------------------------


def test_undo_in_a_second_tab_undoes_nothing_else(signed_in: Browser, user: User) -> None:
    step = add_step(user, repeats="")
    signed_in.post(address_of(step), {"done": "1"})
    undo = form_with(page_of(signed_in, address_of(step)), "effect")
    said = [
        signed_in.post(f"{address_of(step)}undo/", undo, follow=True).content.decode() for _tab in range(2)
    ]
    assert "Undone." in said[0]
    assert "This has already been undone." in said[1]
    step.refresh_from_db()
    assert step.state == "open"
    undo = form_with(page_of(signed_in, address_of(step)), "effect")
    signed_in.post(address_of(step), {"do": "drop"})
    changed = signed_in.post(f"{address_of(step)}undo/", undo, follow=True).content.decode()
    assert "This has changed since then" in changed
    step.refresh_from_db()
    assert step.state == "dropped"


def test_a_step_whose_adding_was_undone_is_restored_on_its_page(signed_in: Browser, user: User) -> None:
    step = add_step(user)
    page = page_of(signed_in, address_of(step))
    undo = form_with(page, "effect")
    answer = signed_in.post(f"{address_of(step)}undo/", undo)
    assert answer.headers["Location"] == address_of(step)
    assert address_of(step) not in page_of(signed_in, "/library/actions/")
    assert address_of(step) in page_of(signed_in, "/library/actions/?done=1")
    refused = signed_in.post(address_of(step), form_with(page, "title") | {"title": "Water them"})
    assert (refused.status_code, "restore it on its page" in refused.content.decode()) == (422, True)
    assert form_with(refused.content.decode(), "title")["title"] == ["Water them"]
    restored = signed_in.post(address_of(step), {"do": "restore"})
    assert restored.headers["Location"] == address_of(step)
    step.refresh_from_db()
    assert (step.state, step.due_date) == ("open", DUE)
    assert address_of(step) in page_of(signed_in, "/library/actions/")


def test_undo_on_a_notes_page_takes_back_what_it_says_once_and_nothing_that_came_later(
    signed_in: Browser, user: User
) -> None:
    new = NewEntry(client_id=own_client(user.pk).pk, title="Rent", content="It is due on the first.")
    entry = propose(user_id=user.pk, new=new, made_by=MadeBy.USER, is_accepted=True)
    undos = []
    for title in ("Rent of the flat", "Rent of the yard"):
        signed_in.post(address_of(entry), {"title": title, "content": entry.content})
        newest = LibraryEffect.of(user.pk).filter(entry=entry).latest("id")
        undos.append(f"/library/effects/{newest.pk}/undo/")
        assert undos[-1] in page_of(signed_in, address_of(entry))
    titles = []
    for undo in (undos[0], undos[1], undos[1], undos[0]):
        said = signed_in.post(undo, follow=True).content.decode()
        entry.refresh_from_db()
        titles.append((entry.title, "Undone." in said))
    assert titles == [
        ("Rent of the yard", False),
        ("Rent of the flat", True),
        ("Rent of the flat", False),
        ("Rent", True),
    ]


def test_dismiss_in_an_old_tab_leaves_what_was_accepted(signed_in: Browser, user: User) -> None:
    step = add_step(user, made_by=MadeBy.PIPELINE)
    new = NewEntry(client_id=own_client(user.pk).pk, title="Rent", content="It is due on the first.")
    entry = propose(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE)
    for row, state in ((step, "open"), (entry, "accepted")):
        signed_in.post(address_of(row), {"do": "accept"})
        stale = signed_in.post(address_of(row), {"do": "dismiss"})
        assert stale.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        assert "so it wasn’t dismissed" in stale.content.decode()
        row.refresh_from_db()
        assert row.state == state


def test_a_dismissed_suggestion_is_a_suggestion_again_once_it_is_restored(
    signed_in: Browser, user: User
) -> None:
    step = add_step(user, made_by=MadeBy.PIPELINE)
    new = NewEntry(client_id=own_client(user.pk).pk, title="Rent", content="It is due on the first.")
    entry = propose(user_id=user.pk, new=new, made_by=MadeBy.PIPELINE)
    for row, listed in ((step, "/library/actions/?done=1"), (entry, "/library/knowledge/")):
        for _again in range(2):
            signed_in.post(address_of(row), {"do": "dismiss"})
        assert address_of(row) in page_of(signed_in, listed)
        assert 'value="restore"' in page_of(signed_in, address_of(row))
        signed_in.post(address_of(row), {"do": "restore"})
        row.refresh_from_db()
        assert row.state == "proposed"


# --- forms ------------------------------------------------


def test_two_forms_that_change_different_fields_of_a_step_keep_both(signed_in: Browser, user: User) -> None:
    step = add_step(user, due_time=None, description="Two\r\nlines")
    shown = form_with(page_of(signed_in, address_of(step)), "title")
    later = {"description": "Not the cactus", "due_date": "2031-12-24", "due_time": "18:30"}
    weekly = {"repeats": "weekly", "days": ["mon", "thu"]}
    assert signed_in.post(address_of(step), shown | later | weekly).status_code == HTTPStatus.SEE_OTHER
    assert signed_in.post(address_of(step), shown | {"title": "Water"}).status_code == HTTPStatus.SEE_OTHER
    step.refresh_from_db()
    assert (step.title, step.description) == ("Water", "Not the cactus")
    assert (str(step.due_date), str(step.due_time), step.repeats) == ("2031-12-24", "18:30:00", "mon,thu")
    shown = form_with(page_of(signed_in, address_of(step)), "title")
    assert signed_in.post(address_of(step), shown | {"priority": "high"}).status_code == HTTPStatus.SEE_OTHER
    step.refresh_from_db()
    assert (str(step.due_date), step.repeats, step.priority) == ("2031-12-24", "mon,thu", "high")


def test_where_both_changed_the_same_field_of_a_step_both_are_shown(signed_in: Browser, user: User) -> None:
    step = add_step(user)
    shown = form_with(page_of(signed_in, address_of(step)), "title")
    theirs = {"description": "Theirs", "due_date": "2031-12-24", "repeats": "monthly", "owner": "Ada"}
    signed_in.post(address_of(step), shown | theirs)
    mine = {"description": "Mine", "due_date": "2031-12-25", "repeats": "", "title": "Water"}
    stale = signed_in.post(address_of(step), shown | mine)
    page = stale.content.decode()
    assert stale.status_code == HTTPStatus.CONFLICT
    assert "Nothing is saved yet" in page
    others = ('dir="auto">Theirs<', 'dir="auto">Wednesday, 24 December 2031<', 'dir="auto">every month<')
    assert all(text in page for text in others)
    step.refresh_from_db()
    assert (step.title, step.description, step.owner) == ("Water the plants", "Theirs", "Ada")
    again = form_with(page, "title")
    assert again["owner"] == ["Ada"], "what only the other one changed"
    assert signed_in.post(address_of(step), again).status_code == HTTPStatus.SEE_OTHER
    step.refresh_from_db()
    assert (step.title, step.description, step.owner) == ("Water", "Mine", "Ada")
    assert (str(step.due_date), step.repeats) == ("2031-12-25", "")


def test_other_days_of_the_week_are_kept_where_the_other_one_changed_the_repetition(
    signed_in: Browser, user: User
) -> None:
    step = add_step(user, repeats="mon")
    shown = form_with(page_of(signed_in, address_of(step)), "title")
    signed_in.post(address_of(step), shown | {"repeats": "daily", "days": []})
    stale = signed_in.post(address_of(step), shown | {"days": ["tue"]})
    page = stale.content.decode()
    assert (stale.status_code, 'dir="auto">every day<' in page) == (HTTPStatus.CONFLICT, True)
    again = form_with(page, "title")
    assert (again["repeats"], again["days"]) == (["weekly"], ["tue"])
    assert signed_in.post(address_of(step), again).status_code == HTTPStatus.SEE_OTHER
    step.refresh_from_db()
    assert step.repeats == "tue"


def test_a_form_that_does_not_say_what_was_shown_stores_all_its_fields_once_it_is_right(
    signed_in: Browser, user: User
) -> None:
    step = add_step(user)
    given = {
        "title": "Water",
        "owner": "Ada",
        "priority": "high",
        "due_date": "2031-12-25",
        "due_time": "25:00",
    }
    refused = signed_in.post(address_of(step), given)
    assert refused.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    again = form_with(refused.content.decode(), "title") | {"due_time": "18:30"}
    assert not [name for name in again if name.startswith("initial-")], "its author's values weren't shown"
    assert signed_in.post(address_of(step), again).status_code == HTTPStatus.SEE_OTHER
    step.refresh_from_db()
    assert (step.title, step.owner, step.priority, step.repeats) == ("Water", "Ada", "high", "")
    assert (str(step.due_date), str(step.due_time)) == ("2031-12-25", "18:30:00")


@pytest.mark.parametrize(
    "given",
    [
        {"repeats": "weekly", "days": []},
        {"repeats": "weekly", "days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]},
        {"title": "Water  the   roses"},
    ],
)
def test_a_form_that_arrives_twice_is_no_conflict(
    signed_in: Browser, user: User, given: dict[str, Any]
) -> None:
    step = add_step(user, repeats="monthly")
    shown = form_with(page_of(signed_in, address_of(step)), "title")
    for _twice in range(2):
        assert signed_in.post(address_of(step), shown | given).status_code == HTTPStatus.SEE_OTHER
    assert LibraryEffect.of(user.pk).filter(action_item=step).count() == 2, "added, and changed once"


def test_a_refusal_of_a_merged_step_shows_what_is_stored(signed_in: Browser, user: User) -> None:
    step = add_step(user, repeats="")
    shown = form_with(page_of(signed_in, address_of(step)), "title")
    signed_in.post(address_of(step), shown | {"due_date": "", "owner": "Ada"})
    refused = signed_in.post(address_of(step), shown | {"repeats": "daily"})
    page = refused.content.decode()
    assert (refused.status_code, "needs a due date" in page) == (422, True)
    again = form_with(page, "title")
    assert [again["due_date"], again["repeats"], again["owner"]] == [[""], ["daily"], ["Ada"]]


def test_two_forms_of_an_entry_lose_nothing(signed_in: Browser, user: User) -> None:
    new = NewEntry(client_id=own_client(user.pk).pk, title="Rent", content="It is due\non the first.")
    entry = propose(user_id=user.pk, new=new, made_by=MadeBy.USER, is_accepted=True)
    shown = form_with(page_of(signed_in, address_of(entry)), "title")
    signed_in.post(address_of(entry), shown | {"content": "It is due on the third."})
    signed_in.post(address_of(entry), shown | {"title": "The rent"})
    entry.refresh_from_db()
    assert (entry.title, entry.content) == ("The rent", "It is due on the third.")
    stale = signed_in.post(address_of(entry), shown | {"content": "It is due on the fifth."})
    page = stale.content.decode()
    assert (stale.status_code, 'dir="auto">It is due on the third.<' in page) == (409, True)
    entry.refresh_from_db()
    assert entry.content == "It is due on the third."
    again = form_with(page, "title")
    assert again["title"] == ["The rent"]
    signed_in.post(address_of(entry), again)
    entry.refresh_from_db()
    assert entry.content == "It is due on the fifth."
