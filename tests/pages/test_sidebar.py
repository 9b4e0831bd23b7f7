"""The sidebar's list: keyset pages of conversations, and what its forms are answered with."""

import re
import time
import uuid
from datetime import timedelta
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from sessions_app.listing import ListPlace, list_sessions
from sessions_app.models import Session

pytestmark = pytest.mark.django_db(transaction=True)

PART = {"HX-Request": "true"}
ROW = re.compile(r'id="sidebar-([0-9a-f-]{36})"')
MORE = re.compile(r'hx-get="([^"]+)"')


def store(user: User, count: int, *, pinned: int = 0) -> list[uuid.UUID]:
    """Store conversations, two of each moment, the first of them pinned; return their ids in order."""
    now = timezone.now()
    rows = [
        Session(
            user_id=user.pk,
            title=f"Talk {number}",
            last_message_number=1,
            last_active_at=now - timedelta(hours=number // 2),
            pinned_at=now - timedelta(hours=number // 2) if number < pinned else None,
        )
        for number in range(count)
    ]
    Session.unscoped.bulk_create(rows)
    rows.sort(key=lambda row: (row.pinned_at is not None, row.pinned_at or row.last_active_at, row.id))
    return [row.id for row in reversed(rows)]


def ask(client: Client, path: str = "/chat/sidebar/") -> str:
    response = client.get(path, headers=PART)
    assert response.status_code == HTTPStatus.OK
    return response.content.decode()


@pytest.mark.parametrize(
    ("count", "pinned", "limit"), [(0, 0, 3), (6, 0, 3), (7, 3, 3), (9, 4, 2), (5, 5, 2)]
)
def test_every_conversation_is_on_exactly_one_page(user: User, count: int, pinned: int, limit: int) -> None:
    expected = store(user, count, pinned=pinned)
    found: list[uuid.UUID] = []
    place: ListPlace | None = None
    while True:
        page, place = list_sessions(user_id=user.pk, after=place, limit=limit)
        found += [row.id for row in page]
        assert len(page) == limit or place is None
        if place is None:
            break
    assert found == expected


def test_pages_of_the_list_follow_each_other_without_a_heading_twice(signed_in: Client, user: User) -> None:
    expected = [str(session_id) for session_id in store(user, 100, pinned=2)]
    page = ask(signed_in)
    found, headings = ROW.findall(page), re.findall("<h3>([^<]+)", page)
    while more := re.search(r'hx-get="([^"]+)"', page):
        page = ask(signed_in, more[1])
        found += ROW.findall(page)
        headings += re.findall("<h3>([^<]+)", page)
    assert found == expected
    assert headings[0] == "Pinned"
    assert len(headings) == len(set(headings))


@pytest.mark.slow
def test_of_five_thousand_conversations_the_page_and_the_list_stay_small_and_quick(
    signed_in: Client, user: User, session: Session
) -> None:
    page = f"/chat/{session.id}/"
    signed_in.get(page)
    before = len(signed_in.get(page).content)
    store(user, 5_000, pinned=20)
    assert abs(len(signed_in.get(page).content) - before) < 100  # a token's length varies
    ask(signed_in)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        text = ask(signed_in)
        times.append(time.perf_counter() - began)
    assert len(text.encode()) < 150_000
    assert min(times) < 0.4  # the bar is 100 ms on a quiet machine


def test_unused_archived_deleted_and_others_conversations_are_not_in_the_list(
    signed_in: Client, user: User, other_user: User
) -> None:
    now = timezone.now()
    fields = {"title": "hidden", "last_message_number": 1}
    Session.of(user.pk).create(title="hidden")
    Session.of(user.pk).create(**fields, archived_at=now)
    Session.of(user.pk).create(**fields, deleted_at=now)
    Session.of(other_user.pk).create(**fields)
    page = ask(signed_in)
    assert "hidden" not in page
    assert "No conversations yet." in page


@pytest.mark.parametrize("after", ["", "x", "r1", f"p{'9' * 17}.{'0' * 32}", f"r-1.{'0' * 32}", "\x00"])
def test_a_place_that_is_none_shows_a_page(signed_in: Client, user: User, after: str) -> None:
    store(user, 1)
    response = signed_in.get("/chat/sidebar/", {"after": after}, headers=PART)
    assert response.status_code == HTTPStatus.OK


def test_without_htmx_the_list_is_the_page_of_all_conversations(signed_in: Client) -> None:
    assert signed_in.get("/chat/sidebar/")["Location"] == "/chat/"


def test_forms_of_a_row_are_answered_with_the_row_or_the_list(signed_in: Client, user: User) -> None:
    (first, second) = store(user, 2)

    def send(do: str) -> tuple[str, str]:
        form = {"do": do, "then": "sidebar"}
        response = signed_in.post(f"/chat/{second}/organise/", form, headers=PART)
        return response.content.decode(), response.headers.get("HX-Retarget", "")

    part, target = send("pin")
    assert ROW.findall(part) == [str(second), str(first)]
    assert target == "#sidebar-list"
    part, target = send("delete")
    assert (ROW.findall(part), target) == ([str(second)], "")
    assert "Deleted. Files that Sage wrote are kept." in part
    assert 'value="restore"' in part
    assert "Talk" in (part := send("restore")[0])
    assert "data-pinned" in part
    assert 'value="unarchive"' in send("archive")[0]
    assert ROW.findall(send("unarchive")[0]) == [str(second)]
    part, target = send("nonsense")
    assert ("couldn’t read" in part, target) == (True, "find .form-notice")


def test_a_title_is_changed_in_its_row(signed_in: Client, user: User) -> None:
    (session_id,) = store(user, 1)

    def rename(title: str) -> tuple[int, str, str]:
        form = {"title": title, "then": "sidebar"}
        response = signed_in.post(f"/chat/{session_id}/title/", form, headers=PART)
        return response.status_code, response.content.decode(), response.headers.get("HX-Retarget", "")

    status, part, target = rename("<b>Mine</b>")
    assert (status, ROW.findall(part), target) == (HTTPStatus.OK, [str(session_id)], "")
    assert "&lt;b&gt;Mine&lt;/b&gt;</a>" in part
    status, part, target = rename("x" * 81)
    assert (status, target) == (HTTPStatus.UNPROCESSABLE_ENTITY, "find .form-notice")
    assert "A title can have up to 80 characters." in part
