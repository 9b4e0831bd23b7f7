"""The pages without JavaScript."""

import dataclasses
import re
import uuid
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPStatus
from typing import cast

import pytest
import time_machine
from django.conf import LazySettings
from django.contrib.auth.models import AnonymousUser, User
from django.core import mail
from django.db import connections, transaction
from django.db.models.signals import post_save, pre_save
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.test import Client, RequestFactory
from django.utils import timezone

from coaching.library.clients import create_client
from coaching.models import ClientType, FileType, Profile, SessionScope, TimezoneSource
from coaching.views.new_conversation import ATTEMPTS
from sage.not_allowed import not_allowed_page
from sessions_app.models import Message, Session, SessionStatus, TitleSource, TurnStatus
from sessions_app.organising import remove_if_empty
from sessions_app.text import MAX_MESSAGE_CHARACTERS
from tests.browsers import browser_of, page_of
from tests.conftest import PASSWORD
from tests.pages.conftest import Exchange, KeepFile
from tests.sage.test_accounts import until_sent

pytestmark = pytest.mark.django_db


def test_an_anonymous_visitor_learns_what_sage_is_and_can_sign_in(client: Client) -> None:
    response = client.get("/", follow=True)
    assert response.redirect_chain == [("/accounts/login/", 302)]
    assert "Sage is a life coach" in response.content.decode()
    for address in ("/chat/", "/files/", f"/chat/{uuid.uuid4()}/", "/files/life-map/career.md"):
        assert client.get(address).url.startswith("/accounts/login/?next=")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("moment", "greeting", "day"),
    [
        ("2026-11-21T07:30:00", "Good morning", "Saturday, 21 November"),
        ("2026-11-21T13:00:00", "Good afternoon", "Saturday, 21 November"),
        ("2026-11-21T21:00:00", "Good evening", "Saturday, 21 November"),
        ("2026-11-22T00:30:00", "Good evening", "Saturday, 21 November"),
    ],
)
def test_home_greets_by_the_persons_own_clock(
    signed_in: Client, user: User, moment: str, greeting: str, day: str
) -> None:
    Profile.unscoped.create(user=user, name="Ada", timezone="Asia/Tokyo")
    local = datetime.fromisoformat(moment + "+09:00")
    with time_machine.travel(local.astimezone(UTC), tick=False):
        page = page_of(signed_in, "/")
    assert f"{greeting}, Ada." in page
    assert day in page


def test_the_browsers_time_zone_is_kept_once(signed_in: Client, user: User) -> None:
    signed_in.cookies["sage_timezone"] = "Not/AZone"
    page_of(signed_in, "/")
    assert Profile.unscoped.get(user=user).timezone == "UTC"
    signed_in.cookies["sage_timezone"] = "America/New_York"
    page_of(signed_in, "/")
    signed_in.cookies["sage_timezone"] = "Europe/Berlin"
    page_of(signed_in, "/")
    profile = Profile.unscoped.get(user=user)
    assert (profile.timezone, profile.timezone_source) == ("America/New_York", TimezoneSource.BROWSER)


@pytest.mark.slow
def test_every_page_says_that_the_practice_model_answers(
    signed_in: Client, client: Client, session: Session, settings: object
) -> None:
    for answers, is_said in ((True, True), (False, False)):
        settings.IS_PRACTICE_MODEL = answers  # type: ignore[attr-defined]
        for address in ("/", "/chat/", "/files/", f"/chat/{session.id}/", "/accounts/email/"):
            assert ("Practice model." in page_of(signed_in, address)) is is_said, address
        assert ("Practice model." in page_of(Client(), "/accounts/login/")) is is_said


def test_a_conversation_that_was_never_used_is_not_in_the_list(signed_in: Client, session: Session) -> None:
    unused = f'href="/chat/{session.id}/"'
    assert unused not in page_of(signed_in, "/chat/")
    Session.unscoped.filter(id=session.id).update(last_message_number=1)
    assert unused in page_of(signed_in, "/chat/")


@pytest.mark.django_db(transaction=True)
def test_a_conversation_begins_from_the_list(signed_in: Client, user: User) -> None:
    response = signed_in.post("/chat/new/", {"kind": "open_day"})
    session = Session.unscoped.get(user=user)
    assert response.status_code == HTTPStatus.FOUND
    assert response.url == f"/chat/{session.id}/"  # type: ignore[attr-defined]
    assert session.kind == "open_day"
    assert "A new day." in page_of(signed_in, f"/chat/{session.id}/")
    assert signed_in.post("/chat/new/", {"kind": "nonsense"}).status_code == HTTPStatus.BAD_REQUEST


@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_sent_twice_begins_one_conversation(signed_in: Client, user: User) -> None:
    def begin(**fields: str) -> str:
        return signed_in.post("/chat/new/", fields)["Location"]

    first = begin(kind="open_conversation", id="form-1")
    assert begin(kind="open_conversation", id="form-1") == first
    assert begin(kind="open_day", id="form-1") != first
    assert begin(kind="open_conversation", id="form-2") != first
    assert begin(kind="open_conversation") != begin(kind="open_conversation")
    assert Session.unscoped.filter(user=user).count() == 5
    for address in ("/", "/map/", "/chat/", "/files/", first):
        page = page_of(signed_in, address)
        forms = re.findall(r'action="/chat/new/".*?</form>', page, re.DOTALL)
        assert forms, address
        assert all('name="id" value="' in form for form in forms), address


@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_sent_with_other_words_begins_another_conversation(
    signed_in: Client, user: User
) -> None:
    def begin(text: str) -> str:
        form = {"kind": "open_conversation", "text": text, "id": "form-1"}
        return str(signed_in.post("/chat/new/", form)["Location"])

    places = [begin(text) for text in ("First\r\nwords", "Second words", "First\nwords", "Second words")]
    assert places[:2] == places[2:]
    assert places[0] != places[1]
    said = Message.unscoped.filter(role="user").order_by("id")
    assert [f"/chat/{message.session_id}/" for message in said] == places[:2]
    assert [message.content for message in said] == ["First\nwords", "Second words"]


@pytest.mark.django_db(transaction=True)
def test_a_form_without_an_id_that_asks_sage_to_begin_begins_once_a_day(user: User) -> None:
    with time_machine.travel("2026-11-18T12:00Z", tick=False) as clock:

        def close_day(_: int = 0) -> str:
            browser = browser_of(user)
            try:
                return str(browser.post("/chat/new/", {"kind": "close_day"})["Location"])
            finally:
                connections.close_all()

        with ThreadPoolExecutor(4) as pool:
            (place,) = set(pool.map(close_day, range(4)))
        Session.unscoped.filter(user=user).update(last_message_number=2, is_only_opened=False)
        assert close_day() == close_day() != place, "somebody has said something in it"
        clock.shift(timedelta(days=1))
        assert close_day() == close_day() != place
    assert Session.unscoped.filter(user=user, kind="close_day").count() == 3


@pytest.mark.django_db(transaction=True)
def test_starting_too_many_conversations_shows_the_wait_and_keeps_the_words(
    signed_in: Client, user: User, settings: LazySettings
) -> None:
    settings.SAGE_RATE_LIMIT = dataclasses.replace(settings.SAGE_RATE_LIMIT, turns=2, seconds=60)
    for _ in range(6):
        assert signed_in.post("/chat/new/", {"kind": "open_conversation"}).status_code == HTTPStatus.FOUND
    response = signed_in.post("/chat/new/", {"text": "What I had written"})
    assert response.status_code == HTTPStatus.TOO_MANY_REQUESTS
    page = response.content.decode()
    assert re.search(r"Please wait \d+ seconds", page)
    assert ">What I had written</textarea>" in page
    assert Session.unscoped.filter(user=user).count() == 6


def test_a_conversation_is_shown_as_it_was(signed_in: Client, session: Session, exchange: Exchange) -> None:
    first, second = "I'll *write* it.", "Done:\n\n- one"
    answer = f"{first}\n\n{second}"
    exchange(
        "Hello <b>you</b>",
        answer,
        metadata={
            "round_ends": [len(first), len(first), len(answer)],
            "notes": [{"round": 2, "text": "Looking it up."}],
            "tool_calls": [
                {"id": "1", "name": "save_file", "input": {}, "round": 1, "is_error": False,
                 "result": '{"success": true, "path": "life-map/career.md"}'},
                {"id": "2", "name": "save_file", "input": {}, "round": 1, "is_error": True, "result": "no"},
            ],
        },
    )  # fmt: skip
    page = page_of(signed_in, f"/chat/{session.id}/")
    assert "Hello &lt;b&gt;you&lt;/b&gt;" in page
    assert page.count('<section class="round">') == 3
    assert "<em>write</em>" in page
    assert page.index("<em>write</em>") < page.index("Looking it up.") < page.index("<li>one</li>")
    assert page.count('href="/files/life-map/career.md"') == 1


def test_days_are_the_persons_own(
    signed_in: Client, user: User, session: Session, exchange: Exchange
) -> None:
    Profile.unscoped.create(user=user, timezone="America/Los_Angeles")
    exchange("late", "yes", at=datetime(2026, 11, 21, 10, tzinfo=UTC))  # 02:00, still the 20th
    exchange("same day", "yes", at=datetime(2026, 11, 21, 11, 59, tzinfo=UTC))
    exchange("next day", "yes", at=datetime(2026, 11, 21, 12, 1, tzinfo=UTC))
    page = page_of(signed_in, f"/chat/{session.id}/")
    assert re.findall(r'id="day-([0-9-]+)"', page) == ["2026-11-20", "2026-11-21"]


def test_a_failed_turn_offers_to_try_again(signed_in: Client, session: Session, exchange: Exchange) -> None:
    exchange("Hi", None, status=TurnStatus.FAILED, user_notice="The model is overloaded.")
    page = page_of(signed_in, f"/chat/{session.id}/")
    assert "The model is overloaded." in page
    assert 'name="do" value="retry"' in page


def test_an_ended_conversation_has_no_socket(signed_in: Client, session: Session) -> None:
    Session.unscoped.filter(id=session.id).update(status=SessionStatus.COMPLETED, ended_at=timezone.now())
    page = page_of(signed_in, f"/chat/{session.id}/")
    assert "ws-connect" not in page
    assert "Start a new conversation…" in page


def test_recent_files_of_one_name_are_told_apart_and_captures_have_their_own_list(
    signed_in: Client, keep_file: KeepFile
) -> None:
    for path in ("daily-logs/2026-11-20.md", "day-plans/2026-11-20.md", "life-map/career.md"):
        keep_file(path, "x")
    thought = keep_file("captures/2026-11-20-101500.md", "A thought")
    thought.file_type = FileType.CAPTURE
    thought.save()
    page = page_of(signed_in, "/")
    recent = page[page.index('id="recent-files"') :]
    assert re.findall(r'class="ledger-title"[^>]*>([^<]+)<', recent) == [
        "Career", "Day plans: Friday, 20 November 2026", "Daily logs: Friday, 20 November 2026",
    ]  # fmt: skip


def test_files_are_shown_by_folder_as_page_raw_and_by_version(signed_in: Client, keep_file: KeepFile) -> None:
    old = "---\ntype: domain\nstatus: needs_attention\nthemes: [rest, no]\n---\n\nOld *words*"
    keep_file("life-map/career.md", old, "---\ntype: domain\n---\n\nNew **words**")
    keep_file("daily-logs/2026-11-20.md", "x")
    listed = page_of(signed_in, "/files/")
    assert listed.index("<bdi>Daily logs") < listed.index("<bdi>Life map")
    assert "Friday, 20 November 2026" in listed
    assert "<strong>words</strong>" in page_of(signed_in, "/files/life-map/career.md")
    before = page_of(signed_in, "/files/life-map/career.md?version=1")
    assert "<em>words</em>" in before
    assert "Needs attention" in before
    assert '<li dir="auto">rest</li>' in before
    assert "This is version 1 of 2" in before
    assert "New **words**" in page_of(signed_in, "/files/life-map/career.md?view=raw")


@pytest.mark.parametrize(
    "address",
    [
        "/files/nothing.md", "/files/../../etc/passwd", "/files/%2e%2e/%2e%2e/etc/passwd", "/files/%00",
        "/files/a%00b.md", "/files/%ff", "/files/%ed%a0%80.md", "/files//etc/passwd",
        "/files/life-map/career.md?version=0",
        "/files/life-map/career.md?version=99", "/files/life-map/career.md?version=x",
        "/files/life-map/career.md?version=-1", "/files/life-map/career.md?version=99999999999999999999",
        "/files/life-map/career.md?version=%00", "/files/" + "a" * 3000,
    ],
)  # fmt: skip
def test_a_strange_address_is_a_missing_page(signed_in: Client, keep_file: KeepFile, address: str) -> None:
    keep_file("life-map/career.md", "x")
    response = signed_in.get(address)
    assert response.status_code == HTTPStatus.NOT_FOUND
    assert "Page not found" in response.content.decode()


def test_a_download_is_an_attachment_that_stays_what_it_is(signed_in: Client, keep_file: KeepFile) -> None:
    keep_file('odd/na"me; x=ü.md', "<script>alert(1)</script>")
    response = signed_in.get("/files/odd/na%22me%3B%20x=%C3%BC.md?download=1")
    assert response.status_code == HTTPStatus.OK
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert response["X-Content-Type-Options"] == "nosniff"
    disposition = response["Content-Disposition"]
    assert disposition == "attachment; filename*=utf-8''odd-na_me%3B%20x%3D%C3%BC.md"
    assert response.content == b"<script>alert(1)</script>"


def test_empty_pages_say_what_will_be_there(signed_in: Client) -> None:
    assert "No files yet" in page_of(signed_in, "/files/")
    assert "No conversations yet" in page_of(signed_in, "/chat/")


@pytest.mark.django_db(transaction=True)
def test_a_password_is_reset_by_mail(client: Client, user: User) -> None:
    assert (
        client.post("/accounts/password/reset/", {"email": user.email}, follow=True).status_code
        == HTTPStatus.OK
    )
    until_sent()
    found = re.search(r"http://[^/]+(/accounts/password/reset/key/\S+)", str(mail.outbox[0].body))
    assert found
    form = client.get(found[1], follow=True)
    assert "Choose a new password" in form.content.decode()
    address = form.redirect_chain[-1][0]
    new = "another-good-password-9"
    client.post(address, {"password1": new, "password2": new}, follow=True)
    assert client.login(username=user.username, password=new)
    assert not client.login(username=user.username, password=PASSWORD)


def test_signing_up_is_closed_where_the_operator_says_so(client: Client, settings: object) -> None:
    settings.SAGE_SIGNUP = "closed"  # type: ignore[attr-defined]
    assert "Sign-up is closed" in page_of(client, "/accounts/signup/")
    assert "Create an account" not in page_of(client, "/accounts/login/")


def test_no_page_has_script_or_style_inside(signed_in: Client, session: Session, exchange: Exchange) -> None:
    exchange("Hi", "Hello")
    addresses = (
        "/",
        "/chat/",
        "/files/",
        f"/chat/{session.id}/",
        "/accounts/email/",
        "/accounts/password/change/",
    )
    for page in [page_of(signed_in, address) for address in addresses] + [
        page_of(Client(), "/accounts/signup/")
    ]:
        assert not re.search(r"<script(?![^>]*\ssrc=)", page)
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page)


def test_the_policy_allows_nothing_inline(client: Client) -> None:
    policy = client.get("/accounts/login/")["Content-Security-Policy"]
    assert "unsafe" not in policy
    for directive in ("default-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"):
        assert directive in policy


@pytest.mark.parametrize("path", ["/capture/all/", "/settings/timezone/", "/safety/country/"])
def test_an_address_that_only_takes_a_form_says_so_and_leads_on(signed_in: Client, path: str) -> None:
    page = signed_in.get(path)
    assert page.status_code == HTTPStatus.METHOD_NOT_ALLOWED
    assert page["Allow"] == "POST"
    assert 'href="/"' in page.content.decode()
    assert signed_in.put(path).content == b""


async def test_an_address_that_is_answered_in_the_event_loop_says_so_too(rf: RequestFactory) -> None:
    async def refuse(_request: HttpRequest) -> HttpResponseBase:
        return HttpResponseNotAllowed(["POST"])

    request = rf.get("/chat/new/")
    request.user = AnonymousUser()
    page = await cast("Awaitable[HttpResponseBase]", not_allowed_page(refuse)(request))
    assert isinstance(page, HttpResponse)
    assert (page.status_code, page["Allow"]) == (HTTPStatus.METHOD_NOT_ALLOWED, "POST")
    assert "This page can’t be opened directly" in page.content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_first_message_that_is_too_long_leaves_no_conversation_and_is_in_a_field(
    signed_in: Client, user: User
) -> None:
    client = create_client(user_id=user.pk, name="Acme", client_type=ClientType.COMPANY)
    text = "x" * (MAX_MESSAGE_CHARACTERS + 1)
    form = {"kind": "open_conversation", "text": text, "id": "form-1", "client": str(client.pk)}
    response = signed_in.post("/chat/new/", form)
    page = response.content.decode()
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "only 20,000 fit" in page
    assert f">{text}</textarea>" in page
    assert f'name="client" value="{client.pk}"' in page, "it would be about that client, too"
    assert not Session.unscoped.filter(user=user).exists()


@pytest.mark.django_db(transaction=True)
def test_a_first_message_over_the_rate_leaves_no_conversation_and_is_in_a_field(
    signed_in: Client, user: User, settings: LazySettings
) -> None:
    settings.SAGE_RATE_LIMIT = dataclasses.replace(settings.SAGE_RATE_LIMIT, turns=1, seconds=60)
    assert signed_in.post("/chat/new/", {"text": "Hello"}).status_code == HTTPStatus.FOUND
    response = signed_in.post("/chat/new/", {"text": "What I had written"})
    assert response.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert response["Retry-After"]
    assert ">What I had written</textarea>" in response.content.decode()
    assert Session.unscoped.filter(user=user).count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("times", "status"), [(1, HTTPStatus.TOO_MANY_REQUESTS), (9, HTTPStatus.UNPROCESSABLE_ENTITY)]
)
@pytest.mark.parametrize("is_before", [False, True])
def test_a_first_message_is_in_a_field_where_the_same_form_was_refused_and_has_removed_its_conversation(
    signed_in: Client, user: User, settings: LazySettings, times: int, status: HTTPStatus, is_before: bool
) -> None:
    about = create_client(user_id=user.pk, name="Acme", client_type=ClientType.COMPANY)
    settings.SAGE_RATE_LIMIT = dataclasses.replace(settings.SAGE_RATE_LIMIT, turns=1, seconds=60)
    assert signed_in.post("/chat/new/", {"text": "Hello"}).status_code == HTTPStatus.FOUND
    removed: list[uuid.UUID] = []

    def remove_by_other_form(instance: SessionScope, **_: object) -> None:
        """Remove the conversation before it is about a client, or afterwards."""
        removed.append(instance.session_id)
        removal = partial(remove_if_empty, user_id=user.pk, session_id=instance.session_id)
        if len(removed) <= times and is_before:
            with ThreadPoolExecutor(1) as executor:
                executor.submit(removal).result()
                executor.submit(connections.close_all).result()
        elif len(removed) <= times:
            transaction.on_commit(removal)

    saved = pre_save if is_before else post_save
    saved.connect(remove_by_other_form, sender=SessionScope)
    try:
        form = {"text": "I want to kill myself", "id": "form-1", "client": str(about.pk)}
        response = signed_in.post("/chat/new/", form)
    finally:
        saved.disconnect(remove_by_other_form, sender=SessionScope)
    page = response.content.decode()
    assert response.status_code == status
    assert ">I want to kill myself</textarea>" in page
    assert 'class="safety-card' in page
    assert len(removed) == min(times + 1, ATTEMPTS)
    assert Session.unscoped.filter(user=user).count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("language", "titles"),
    [
        ("en", ["Opening the day · 30 Nov", "Closing the day", "Weekly check-in", "Mapping your life", ""]),
        ("de", ["Tagesbeginn · 30. Nov.", "Tagesabschluss", "Wochenrückblick", "Lebenskarte", ""]),
        ("es", ["Empezar el día · 30 nov", "Cerrar el día", "Repaso semanal", "Trazar tu mapa", ""]),
    ],
)
def test_an_arcs_conversation_is_called_by_its_kind_and_the_persons_day(
    signed_in: Client, user: User, language: str, titles: list[str]
) -> None:
    Profile.unscoped.create(user=user, language=language, timezone="Pacific/Auckland")
    kinds = ["open_day", "close_day", "weekly_checkin", "life_mapping", "open_conversation"]
    with time_machine.travel("2026-11-29T18:00Z", tick=False):
        for kind in kinds:
            signed_in.post("/chat/new/", {"kind": kind, "id": kind})
    found = [Session.unscoped.get(user=user, kind=kind) for kind in kinds]
    assert all(session.title.startswith(title) for session, title in zip(found, titles, strict=True))
    assert found[-1].title == ""
    assert {session.title_source for session in found[:-1]} == {TitleSource.MODEL}


@pytest.mark.parametrize(
    ("missing", "shown", "hidden"),
    [([], "Your day is planned.", "That’s it for now."), (["x"], "That’s it for now.", "day is planned")],
)
def test_the_card_at_the_end_of_an_arc_says_that_all_is_done_only_if_nothing_was_left_open(
    signed_in: Client, user: User, missing: list[str], shown: str, hidden: str
) -> None:
    ended = Session.of(user.pk).create(
        kind="open_day",
        status=SessionStatus.COMPLETED,
        ended_at=timezone.now(),
        last_message_number=2,
        metadata={"arcs": [{"arc": "open_day", "still_missing": missing}]},
    )
    page = page_of(signed_in, f"/chat/{ended.id}/")
    assert f'id="ending-title">{shown}<' in page
    assert hidden not in page
    assert ("ended before everything was written down" in page) is bool(missing)
