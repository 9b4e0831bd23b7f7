"""What the palette offers: one's own conversations, next steps and words, and ticks that can be undone."""

from datetime import date, timedelta

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from coaching.library.clients import own_client
from coaching.models import ActionItem, ActionState
from coaching.views.palette import CONVERSATIONS
from sessions_app.models import Session
from tests.recall.history import talk

pytestmark = pytest.mark.django_db

PART = {"HX-Request": "true"}


def offered(browser: Client, query: str = "") -> str:
    response = browser.get("/palette/", {"q": query}, headers=PART)
    assert response.status_code == 200
    return response.content.decode()


def titled(user: User, title: str, *, hours_ago: int = 0) -> Session:
    session = Session.of(user.pk).create(title=title, last_message_number=1)
    at = timezone.now() - timedelta(hours=hours_ago)
    Session.of(user.pk).filter(id=session.id).update(last_active_at=at)
    return session


def step(user: User, title: str, **values: object) -> ActionItem:
    return ActionItem.of(user.pk).create(client=own_client(user.pk), title=title, state="open", **values)


def tick(browser: Client, item: ActionItem, to: str = "") -> HttpResponse:
    response = browser.post(
        f"/library/actions/{item.pk}/{to}", {"done": "1", "then": "palette"}, headers=PART
    )
    assert isinstance(response, HttpResponse)
    return response


def test_without_words_it_offers_what_was_done_last_and_what_is_next(signed_in: Client, user: User) -> None:
    talks = [titled(user, f"Talk {number}", hours_ago=number) for number in range(CONVERSATIONS + 1)]
    item = step(user, "Call Anna")
    page = offered(signed_in)
    places = [page.index(f'href="/chat/{session.id}/"') for session in talks[:-1]]
    assert places == sorted(places)
    assert str(talks[-1].id) not in page
    assert f'data-post="/library/actions/{item.pk}/"' in page
    assert "results" not in page


def test_words_find_titles_first_and_then_places_in_other_texts(signed_in: Client, user: User) -> None:
    named = titled(user, "About the red tandem")
    said = talk(user, "Anna sold her tandem", "When?")
    step(user, "Sell the tandem")
    step(user, "Call Anna")
    page = offered(signed_in, "tandem")
    assert page.index(f'href="/chat/{named.id}/"') < page.index("Sell the tandem") < page.index("<mark>")
    assert f'href="/chat/{said.id}/#message-1"' in page
    assert "Call Anna" not in page
    assert "3 results" in page
    assert f'href="/chat/{named.id}/"' in offered(signed_in, "TANDEM red")
    assert "Nothing found" in offered(signed_in, "heron 100%")


def test_what_is_somebody_elses_is_not_offered(signed_in: Client, other_user: User) -> None:
    titled(other_user, "A secret tandem")
    talk(other_user, "A secret tandem of hers")
    step(other_user, "Hide the secret tandem")
    for query in ("", "tandem", "secret"):
        assert "tandem" not in offered(signed_in, query)


def test_a_tick_is_shown_with_undo_and_can_be_undone(signed_in: Client, user: User) -> None:
    item = step(user, "Call Anna")
    answer = tick(signed_in, item).content.decode()
    item.refresh_from_db()
    assert item.state == ActionState.DONE
    assert f'data-post="/library/actions/{item.pk}/undo/"' in answer
    assert 'data-said="Done."' in answer
    assert "Undo" in strip_tags(answer)
    answer = tick(signed_in, item, "undo/").content.decode()
    item.refresh_from_db()
    assert item.state == ActionState.OPEN
    assert f'data-post="/library/actions/{item.pk}/"' in answer
    assert 'data-said="Undone."' in answer
    assert "Undone" not in signed_in.get("/").content.decode(), "no page says it again"


def test_a_step_that_repeats_says_when_it_is_due_again(signed_in: Client, user: User) -> None:
    item = step(user, "Water the fern", due_date=date(2026, 11, 20), repeats="fri")
    assert "It is due again on Friday" in tick(signed_in, item).content.decode()


def test_a_tick_that_is_refused_says_why(signed_in: Client, user: User) -> None:
    item = step(user, "Call Anna")
    answer = tick(signed_in, item, "undo/")
    assert answer.status_code == 422
    assert f'data-post="/library/actions/{item.pk}/"' in answer.content.decode()


def test_without_a_script_it_is_the_search_and_signed_out_the_sign_in_page(signed_in: Client) -> None:
    assert signed_in.get("/palette/?q=a+b")["Location"] == "/search/?q=a+b"
    response = Client().get("/palette/?q=a", headers=PART)
    assert response["Location"].startswith("/accounts/login/")


@pytest.mark.slow
def test_too_many_lookups_are_refused_with_the_wait_and_the_search_goes_on(
    signed_in: Client, user: User
) -> None:
    for _ in range(60):
        offered(signed_in)
    refused = signed_in.get("/palette/", headers=PART)
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 60
    assert "too often" in strip_tags(refused.content.decode())
    assert signed_in.get("/search/?q=word").status_code == 200


def test_every_page_has_it_and_without_a_script_a_link_to_the_search(signed_in: Client, user: User) -> None:
    session = titled(user, "Talk")
    for address in ("/", f"/chat/{session.id}/", "/settings/", "/library/", "/accounts/email/"):
        page = signed_in.get(address).content.decode()
        assert page.count('id="palette"') == 1
        assert '<a class="icon-button" id="palette-open" href="/search/"' in page
    assert 'id="palette"' not in Client().get("/accounts/login/").content.decode()
