"""Every route by scope and person: what a token may do, and that another person's things look missing."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import date, time, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connections
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from coaching.api.docs import described
from coaching.api.routes import ROUTES
from coaching.files.safety_plans import PLAN_PATH
from coaching.library.clients import create_client
from coaching.library.removals import delete_client
from coaching.models import (
    ActionItem,
    ActionState,
    Capture,
    ClientType,
    FileType,
    LibraryEffect,
    ProgramToken,
    Scope,
    UserFile,
    UserFileVersion,
)
from sessions_app.models import Message, Session, ToolCallRecord, Turn
from sessions_app.rate import RateLimit
from tests.api.things import (
    ALL,
    FILE_PATH,
    NOTHING,
    OF_AN_OBJECT,
    REQUESTS,
    Things,
    ask,
    by_name,
    give_things,
    name_of,
    token,
)
from tests.browsers import browser_of, confirmed_browser_of, page_of
from tests.oauth.granted import granted_that_dont_hold
from tests.oauth.program import connect

pytestmark = pytest.mark.django_db(transaction=True)

SCOPES = {
    "POST /captures": "capture",
    "GET /files": "read",
    "POST /files": "write",
    "GET /files/{path:path}/versions/{int:version}": "read",
    "GET /files/{path:path}/versions": "read",
    "GET /files/{path:path}": "read",
    "PUT /files/{path:path}": "write",
    "GET /steps": "read",
    "POST /steps": "write",
    "GET /steps/{step_id}": "read",
    "PATCH /steps/{step_id}": "write",
    "GET /search": "read",
    "GET /documents": "read",
    "GET /documents/{document_id}": "read",
    "GET /summaries": "read",
    "GET /conversations": "chat",
    "POST /conversations": "chat",
    "GET /conversations/{uuid:conversation_id}": "chat",
    "GET /conversations/{uuid:conversation_id}/messages": "chat",
    "POST /conversations/{uuid:conversation_id}/messages": "chat",
    "GET /conversations/{uuid:conversation_id}/turns/{uuid:turn_id}": "chat",
}
NEEDS_A_RUNNER = "send_message"


@pytest.fixture(autouse=True)
def no_rates(settings: object) -> None:
    """A crowd of requests, and what other tests counted, don't matter here."""
    settings.SAGE_API_RATE = RateLimit(turns=10_000, seconds=60)  # type: ignore[attr-defined]
    cache.clear()


def counts() -> tuple[int, ...]:
    models = (Capture, UserFile, UserFileVersion, ActionItem, LibraryEffect, Session, Message)
    return tuple(model.unscoped.count() for model in models)


def plain(response: HttpResponse) -> tuple[int, str]:
    return response.status_code, response.content.decode()


def test_the_table_of_routes_is_the_one_that_was_agreed() -> None:
    assert {f"{route.method} {route.path}": route.scope.value for route in ROUTES} == SCOPES
    assert set(REQUESTS) == {name_of(route) for route in ROUTES}
    described_routes = {
        operation["operationId"] for path in described()["paths"].values() for operation in path.values()
    }
    assert described_routes == set(REQUESTS)


@pytest.mark.slow
def test_a_route_needs_its_own_scope_and_no_other(user: User, subtests: pytest.Subtests) -> None:
    things = give_things(user, "secret")
    secrets = {scope.value: token(user, scope.value) for scope in Scope}
    for name, route in by_name().items():
        before = counts()
        for scope, secret in secrets.items():
            if scope == route.scope:
                continue
            with subtests.test(f"{name} with {scope}"):
                response = ask(secret, name, things)
                assert response.status_code == 403
                assert f'scope="{route.scope}"' in response["WWW-Authenticate"]
                assert "secret" not in response.json()["error"]
        assert counts() == before
        if name == NEEDS_A_RUNNER:
            continue
        with subtests.test(name):
            response = ask(secrets[route.scope], name, things)
            assert response.status_code in route.returns, response.content


@pytest.mark.slow
def test_anothers_things_look_missing(user: User, other_user: User, subtests: pytest.Subtests) -> None:
    things = give_things(user, "secret")
    theirs = token(other_user, *ALL)
    before = counts()
    for name in OF_AN_OBJECT:
        with subtests.test(name):
            foreign, missing = ask(theirs, name, things), ask(theirs, name, NOTHING)
            assert plain(foreign) == plain(missing)
            assert foreign.status_code == 404
    for name in set(REQUESTS) - set(OF_AN_OBJECT):
        with subtests.test(name):
            response = ask(theirs, name, things)
            assert response.status_code < 300
            assert "secret" not in response.content.decode()
    assert counts()[5] == before[5] + 1, "only the conversation of their own"


@pytest.mark.slow
def test_tokens_that_dont_hold_are_all_answered_alike(
    user: User, other_user: User, settings: Settings
) -> None:
    settings.IDP_OIDC_RATE_LIMITS = False
    things = give_things(user, "secret")
    good = token(user)
    expired, revoked, disabled = token(user), token(user), token(other_user)
    rows = list(ProgramToken.of(user.pk).order_by("id"))
    past = timezone.now() - timedelta(days=1)
    ProgramToken.of(user.pk).filter(pk=rows[1].pk).update(made_at=past - timedelta(days=1), expires_at=past)
    rows[2].delete()
    for_mcp = connect(confirmed_browser_of(user))["access_token"]
    granted = granted_that_dont_hold(user, other_user).values()
    assert ask(good, "list_files", things).status_code == 200
    wrong = ("", "x", good[:-1], good + "a", good.upper(), "sage_" + "A" * 43)
    before = counts()
    responses = [
        ask(secret, name, things)
        for secret in (*wrong, expired, revoked, disabled, for_mcp, *granted)
        for name in REQUESTS
    ]
    answers = {(*plain(response), response["WWW-Authenticate"]) for response in responses}
    assert counts() == before
    assert len(answers) == 1
    ((status, words, challenge),) = answers
    assert (status, challenge) == (401, 'Bearer realm="Sage"')
    assert "token" in json.loads(words)["error"]
    assert Client().get("/api/files", headers={"Authorization": f"Basic {good}"}).status_code == 401


def test_cookies_open_nothing(user: User) -> None:
    things = give_things(user, "secret")
    browser = browser_of(user)
    for name in REQUESTS:
        assert ask("", name, things, client=browser).status_code == 401
    response = ask(token(user), "list_files", things, client=browser)
    assert response.status_code == 200
    assert not response.cookies


def test_a_token_and_a_person_have_rates(user: User, settings: object) -> None:
    settings.SAGE_API_RATE = RateLimit(turns=2, seconds=3600)  # type: ignore[attr-defined]
    secrets = [token(user, "read") for _ in range(3)]
    for secret in secrets[:2]:
        assert [ask(secret, "list_files", NOTHING).status_code for _ in range(2)] == [200, 200]
        refused = ask(secret, "list_files", NOTHING)
        assert refused.status_code == 429
        assert 0 < int(refused["Retry-After"]) <= 7200
        assert "too often" in refused.json()["error"]
    assert [ask(secrets[2], "list_files", NOTHING).status_code for _ in range(2)] == [200, 429]


def test_what_is_private_is_in_no_answer(user: User) -> None:
    things = give_things(user, "secret")
    secret = token(user)
    plan = Things(file=PLAN_PATH)
    for name in ("get_file", "list_versions", "get_version", "write_file"):
        assert plain(ask(secret, name, plan)) == plain(ask(secret, name, NOTHING))
    assert UserFile.of(user.pk).get(path=PLAN_PATH).version_number == 1
    reading = token(user, "read")
    whole = " ".join(
        ask(reading, name, things).content.decode()
        for name, route in by_name().items()
        if route.scope == Scope.READ
    )
    assert "secret work is fine" in whole
    assert "secret summary" in whole
    assert [never for never in ("plan", "withheld", "message", "title") if f"secret {never}" in whole] == []


def test_a_summary_of_a_conversation_about_the_safety_plan_is_given_to_no_program(user: User) -> None:
    things = give_things(user, "secret")
    secret = token(user, "read")
    for name in ("list_summaries", "find"):
        assert "secret summary" in ask(secret, name, things).content.decode()
    ToolCallRecord.unscoped.create(
        turn=Turn.of(user.pk).get(),
        round_number=1,
        position=0,
        tool_use_id="toolu_1",
        name="save_file",
        input={"file_type": "safety-plan", "content": "My plan"},
        state="answered",
        finished_at=timezone.now(),
    )
    for name in ("list_summaries", "find"):
        assert "secret summary" not in ask(secret, name, things).content.decode()
    assert ask(secret, "list_summaries", things).json()["total"] == 0


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("change_step", {}),
        ("change_step", {"priority": "low"}),
        ("write_file", {"text": "Mine.", "version": 1}),
        ("write_file", {"text": "secret work is fine.", "version": 1}),
        ("write_file", {"text": "Mine.", "version": 2}),
    ],
)
def test_a_program_that_only_writes_reads_nothing(user: User, name: str, body: dict[str, object]) -> None:
    things = give_things(user, "secret")
    response = ask(token(user, "write"), name, things, body=body)
    assert response.status_code in (200, 409)
    assert "secret" not in response.content.decode()


def test_the_total_counts_what_is_listed(user: User) -> None:
    things = give_things(user, "secret")
    UserFile.of(user.pk).create(path="life-map/home.md", file_type=FileType.DOMAIN)  # no version yet
    listed = ask(token(user), "list_files", things).json()
    assert listed["total"] == len(listed["items"]) == 1


def test_a_program_accepts_and_changes_no_suggestion(user: User) -> None:
    things = give_things(user, "secret")
    waiting = ActionItem.of(user.pk).get(pk=things.step)
    ActionItem.of(user.pk).filter(pk=waiting.pk).update(state=ActionState.PROPOSED, title="Call Mira")
    secret = token(user)
    assert ask(secret, "change_step", things).status_code == 404
    assert ask(secret, "get_step", things).status_code == 404
    assert ask(secret, "add_step", things).status_code == 201
    assert ActionItem.of(user.pk).get(pk=waiting.pk).state == ActionState.PROPOSED


def test_what_a_program_writes_has_its_name_and_is_undone_on_its_page(user: User) -> None:
    things = give_things(user, "secret")
    secret = token(user, name="Dial")
    assert ask(secret, "write_file", things).status_code == 200
    assert ask(secret, "write_file", things).status_code == 409, "it is based on version 1"
    step = ask(secret, "add_step", things).json()
    assert ask(secret, "change_step", things).json()["state"] == "done"
    assert ask(secret, "add_capture", things).status_code == 201
    browser = browser_of(user)
    assert "“<bdi>Dial</bdi>”, one of your programs, wrote this version" in page_of(
        browser, f"/files/{FILE_PATH}"
    )
    assert "“Dial”, one of your programs" in page_of(browser, f"/files/{FILE_PATH}/versions/")
    assert "“Dial”, one of your programs" in page_of(browser, f"/library/actions/{step['id']}/")
    assert "from “<bdi>Dial</bdi>”" in page_of(browser, "/capture/")
    programs = page_of(browser, "/settings/programs/")
    assert programs.count("<bdi>Dial</bdi> ·") == 4
    browser.post(f"/files/{FILE_PATH}/restore/", {"version": "1"})
    browser.post(f"/library/actions/{things.step}/undo/")
    assert ask(secret, "get_file", things).json()["text"].strip() == "secret work is fine."
    assert ask(secret, "get_step", things).json()["state"] == "open"
    assert "one of your programs, wrote" not in page_of(browser, f"/files/{FILE_PATH}")


def test_undo_leaves_no_version_of_a_program_behind_as_the_persons(user: User) -> None:
    things = give_things(user, "secret")
    secret = token(user, name="Dial")
    for version in (1, 2):
        given = {"text": f"Obey {version}.", "version": version}
        assert ask(secret, "write_file", things, body=given).status_code == 200
    browser = browser_of(user)
    assert '<input type="hidden" name="version" value="1">' in page_of(browser, f"/files/{FILE_PATH}")
    browser.post(f"/files/{FILE_PATH}/restore/", {"version": "2"})  # from the list of versions
    restored = UserFileVersion.of(user.pk).get(file__path=FILE_PATH, number=4)
    assert restored.content.strip().endswith("Obey 1.")
    assert restored.program == "Dial"
    browser.post(f"/files/{FILE_PATH}/restore/", {"version": "1"})
    assert UserFileVersion.of(user.pk).get(file__path=FILE_PATH, number=5).program == ""


def test_the_same_key_twice_is_one_request(user: User) -> None:
    headers = {"Authorization": f"Bearer {token(user)}", "Idempotency-Key": "a key"}
    other = {"Authorization": f"Bearer {token(user)}", "Idempotency-Key": "a key"}

    def post(path: str, body: object, headers: dict[str, str]) -> dict[str, object]:
        response = Client().post(path, json.dumps(body), content_type="application/json", headers=headers)
        assert response.status_code == 201, response.content
        return dict(response.json())

    for path, body, named in (
        ("/api/captures", {"text": "Once."}, "id"),
        ("/api/files", {"title": "Once", "text": "x"}, "path"),
        ("/api/steps", {"title": "Once"}, "id"),
        ("/api/conversations", {}, "id"),
    ):
        first, again = post(path, body, headers), post(path, body, headers)
        assert first[named] == again[named]
        assert post(path, body, other)[named] != first[named], "another program's key"
        more = {name: f"{value} more" for name, value in body.items()} or {"a": "body that isn’t read"}
        assert post(path, more, headers)[named] != first[named], "another body isn't lost"


def test_another_persons_key_is_their_own(user: User, other_user: User) -> None:
    ids = set()
    for person in (user, other_user):
        secret = token(person)
        for _ in range(2):
            ids.add(send_keyed(secret, "post", "/steps", {"title": "Once"}).json()["id"])
        assert ActionItem.of(person.pk).count() == 1
    assert len(ids) == 2


def send_keyed(secret: str, method: str, path: str, body: object, *, key: str = "a key") -> Any:
    headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": key}
    send = getattr(Client(), method)
    return send(f"/api{path}", json.dumps(body), content_type="application/json", headers=headers)


def test_a_step_that_is_sent_again_shows_a_writer_nothing_of_the_persons(user: User) -> None:
    secret = token(user, "write")
    body = {"title": "Call Mira", "description": "At noon."}
    first = send_keyed(secret, "post", "/steps", body).json()
    steps = ActionItem.of(user.pk).filter(pk=first["id"])
    steps.update(title="secret title", description="secret words", due_date="2027-01-01", state="dropped")
    again = send_keyed(secret, "post", "/steps", body).json()
    assert again == first | {"state": "dropped"}
    steps.update(state=ActionState.DISMISSED)
    assert send_keyed(secret, "post", "/steps", body).status_code == 404, "the person has undone it"
    assert ActionItem.of(user.pk).count() == 1


def test_a_step_that_the_person_has_deleted_isnt_made_again_by_the_same_request(user: User) -> None:
    secret, body = token(user, "write"), {"title": "Call Mira"}
    browser = browser_of(user)
    first = send_keyed(secret, "post", "/steps", body).json()["id"]
    assert browser.post(f"/library/actions/{first}/", {"do": "delete"}).status_code in (302, 303)
    assert not ActionItem.of(user.pk).exists()
    assert send_keyed(secret, "post", "/steps", body).status_code == 404
    assert not ActionItem.of(user.pk).exists()
    assert "Mira" not in str(LibraryEffect.of(user.pk).values()), "only its key is kept"
    other = {"title": "Call Ben"}
    made = send_keyed(secret, "post", "/steps", other).json()["id"]
    client = create_client(user_id=user.pk, name="Acme", client_type=ClientType.COMPANY)
    ActionItem.of(user.pk).filter(pk=made).update(client=client)
    delete_client(user_id=user.pk, client_id=client.pk)
    assert send_keyed(secret, "post", "/steps", other).status_code == 404, "it went with its client"


def test_a_note_that_is_sent_again_is_stored_once_whatever_the_person_calls_it(user: User) -> None:
    secret = token(user, "write")
    body = {"title": "Numbers", "text": "42"}
    first = send_keyed(secret, "post", "/files", body).json()
    UserFile.of(user.pk).update(title="secret name")
    UserFileVersion.of(user.pk).update(content="---\ntype: note\n---\n\nOf another day")
    again = send_keyed(secret, "post", "/files", body).json()
    assert (again["path"], again["title"]) == (first["path"], "Numbers")
    assert UserFile.of(user.pk).count() == 1


def test_a_repeating_step_thats_done_twice_by_one_request_moves_on_once(user: User) -> None:
    secret = token(user)
    body = {"title": "Water the plants", "due_date": "2027-01-04", "repeats": "weekly"}
    path = f"/steps/{send_keyed(secret, 'post', '/steps', body).json()['id']}"
    for _ in range(2):
        assert send_keyed(secret, "patch", path, {"state": "done"}).json()["state"] == "open"
    assert ActionItem.of(user.pk).get().due_date == date(2027, 1, 11)
    assert send_keyed(secret, "patch", path, {"title": "Water them"}).status_code == 200
    ActionItem.of(user.pk).update(title="Mine")
    assert send_keyed(secret, "patch", path, {"title": "Water them"}).status_code == 200
    assert ActionItem.of(user.pk).get().title == "Mine", "what the person wrote since stays"
    assert send_keyed(token(user), "patch", path, {"state": "done"}).status_code == 200
    assert ActionItem.of(user.pk).get().due_date == date(2027, 1, 18), "another program's key"


def test_a_program_that_names_the_date_does_a_repeating_step_once_for_it(user: User) -> None:
    secret = token(user)
    body = {"title": "Water", "due_date": "2027-01-04", "repeats": "weekly"}
    path = f"/steps/{send_keyed(secret, 'post', '/steps', body).json()['id']}"
    done = {"state": "done", "occurrence": "2027-01-04"}
    assert send_keyed(secret, "patch", path, done).status_code == 200
    assert send_keyed(secret, "patch", path, done).status_code == 200, "the same request"
    again = send_keyed(secret, "patch", path, done | {"title": "Twice"}, key="another")
    assert (again.status_code, "already marked this as done" in again.json()["error"]) == (409, True)
    item = ActionItem.of(user.pk).get()
    assert (item.due_date, item.title) == (date(2027, 1, 11), "Water")
    assert send_keyed(secret, "patch", path, {"occurrence": "soon"}).status_code == 422


def test_a_program_names_the_date_that_is_done_and_the_one_to_which_the_step_moves_on(user: User) -> None:
    secret = token(user)
    body = {"title": "Water", "due_date": "2027-01-04", "repeats": "weekly"}
    path = f"/steps/{send_keyed(secret, 'post', '/steps', body).json()['id']}"
    done = {"state": "done", "occurrence": "2027-01-04"}
    moved = done | {"due_date": "2027-01-13", "due_time": "18:30", "title": "Water them"}
    assert send_keyed(secret, "patch", path, moved, key="one").status_code == 200
    item = ActionItem.of(user.pk).get()
    assert (item.state, item.title, item.due_date, item.due_time) == (
        "open", "Water them", date(2027, 1, 13), time(18, 30)
    )  # fmt: skip
    assert [change.due_date for change in item.changes.filter(kind="done")] == [date(2027, 1, 4)]

    # The dates of a step as it was read: it moves on by itself, and neither goes back nor is done twice.
    for occurrence, status in (("2027-01-13", 200), ("2027-01-13", 409), ("2027-01-04", 409)):
        sent = {"state": "done", "occurrence": occurrence, "due_date": occurrence}
        assert send_keyed(secret, "patch", path, sent, key=f"{occurrence} {status}").status_code == status
    item.refresh_from_db()
    assert (item.due_date, item.changes.filter(kind="done").count()) == (date(2027, 1, 18), 2)
    last = {"state": "done", "occurrence": "2027-01-18", "repeats": ""}
    assert send_keyed(secret, "patch", path, last, key="last").json()["state"] == "done"


def test_a_step_that_is_done_and_repeats_from_then_on_moves_to_the_date_that_a_program_names(
    user: User,
) -> None:
    secret = token(user)
    made = send_keyed(secret, "post", "/steps", {"title": "Water", "due_date": "2027-01-04"}).json()
    sent = {"state": "done", "occurrence": "2027-01-04", "repeats": "weekly", "due_date": "2027-01-13"}
    assert send_keyed(secret, "patch", f"/steps/{made['id']}", sent, key="one").status_code == 200
    item = ActionItem.of(user.pk).get()
    assert (item.state, item.due_date) == ("open", date(2027, 1, 13))
    assert [change.due_date for change in item.changes.filter(kind="done")] == [date(2027, 1, 4)]


def test_a_file_that_is_written_again_by_one_request_is_written_once(user: User) -> None:
    give_things(user, "secret")
    secret, path = token(user, "write"), f"/files/{FILE_PATH}"
    body = {"text": "Rewritten.", "version": 1}
    first = send_keyed(secret, "put", path, body)
    assert first.status_code == 200
    assert send_keyed(secret, "put", path, body).json() == first.json()
    assert send_keyed(secret, "put", path, body | {"text": "Other."}).status_code == 409
    assert send_keyed(token(user, "write"), "put", path, body).status_code == 409, "another program's key"
    browser = browser_of(user)
    browser.post(f"/files/{FILE_PATH}/restore/", {"version": "1"})
    assert send_keyed(secret, "put", path, body).json()["version"] == first.json()["version"] == 2
    assert UserFileVersion.of(user.pk).filter(file__path=FILE_PATH).count() == 3


def test_a_file_that_is_written_by_one_request_twice_at_once_is_written_once(user: User) -> None:
    give_things(user, "secret")
    secret, path = token(user, "write"), f"/files/{FILE_PATH}"

    def write(_: int) -> tuple[int, int]:
        try:
            response = send_keyed(secret, "put", path, {"text": "Rewritten.", "version": 1})
            return response.status_code, response.json().get("version")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(write, range(4))) == [(200, 2)] * 4
    assert UserFileVersion.of(user.pk).filter(file__path=FILE_PATH).count() == 2


def test_every_route_that_writes_takes_a_key() -> None:
    assert {route.run for route in ROUTES if route.has_key} == {
        route.run for route in ROUTES if route.method != "GET"
    }


def test_the_conversations_of_a_program_are_those_that_the_page_lists(client: Client, user: User) -> None:
    """An arc that Sage has opened is one of them while it goes on."""
    rows: dict[str, dict[str, Any]] = {
        "talked": {"last_message_number": 2},
        "opened arc": {"kind": "open_day", "last_message_number": 1, "is_only_opened": True},
        "unread welcome": {"last_message_number": 1, "is_only_opened": True},
        "begun": {},
        "ended arc": {
            "kind": "open_day",
            "last_message_number": 1,
            "is_only_opened": True,
            "status": "abandoned",
            "ended_at": timezone.now(),
        },
        "put away": {"last_message_number": 2, "archived_at": timezone.now()},
        "deleted": {"last_message_number": 2, "deleted_at": timezone.now()},
    }
    ids = {title: Session.of(user.pk).create(title=title, **values).pk for title, values in rows.items()}
    listed = ask(token(user), "list_conversations", NOTHING).json()
    client.force_login(user)
    page = client.get("/chat/").content.decode()
    on_page = {title for title, pk in ids.items() if f'<a class="ledger-row" href="/chat/{pk}/' in page}
    assert on_page == {"talked", "opened arc"}
    assert {item["title"] for item in listed["items"]} == on_page
    assert listed["total"] == 2


def test_a_key_finds_a_conversation_again_until_the_person_deletes_it(user: User) -> None:
    headers = {"Authorization": f"Bearer {token(user)}", "Idempotency-Key": "mine"}
    first = Client().post("/api/conversations", headers=headers).json()
    sessions = Session.of(user.pk).filter(pk=first["id"])
    sessions.update(last_message_number=2)
    assert Client().post("/api/conversations", headers=headers).json() == first
    sessions.update(deleted_at=timezone.now())
    another = Client(raise_request_exception=False).post("/api/conversations", headers=headers)
    assert another.status_code == 201
    assert another.json()["id"] != first["id"]


@pytest.mark.parametrize(
    ("method", "path", "body", "words"),
    [
        ("post", "/captures", {"text": ""}, "“text” mustn’t be empty."),
        ("post", "/captures", {"text": "x" * 30_000}, "“text” may have up to 20,000 characters."),
        ("post", "/captures", {"text": 5}, "“text” has to be a text."),
        ("post", "/captures", {"text": None}, "“text” has to be a text."),
        ("post", "/captures", {}, "“text” is missing."),
        ("post", "/captures", {"txt": "x"}, "“text” is missing. “txt” isn’t known here."),
        ("post", "/captures", [], "The body has to be an object."),
        ("post", "/steps", {"title": ""}, "“title” mustn’t be empty."),
        (
            "post",
            "/steps",
            {"title": "a", "due_date": "soon"},
            "“due_date” has to be a date like 2026-11-30.",
        ),
        ("post", "/steps", {"title": "a", "due_time": "soon"}, "“due_time” has to be a time like 09:30."),
        (
            "post",
            "/steps",
            {"title": "a", "priority": "x"},
            "“priority” has to be one of these: low, medium or high.",
        ),
        ("put", "/files/log/a.md", {"text": "", "version": "x"}, "“version” has to be a whole number."),
        ("put", "/files/log/a.md", {"text": "", "version": 0}, "“version” has to be 1 or more."),
        ("get", "/files?limit=101", None, "“limit” may be 100 at most."),
        ("get", "/files?limit=x", None, "“limit” has to be a whole number."),
        ("get", "/search", None, "“q” is missing."),
        ("post", "/captures", {"\ud800": "x"}, "The body contains a character that can’t be stored."),
        ("put", "/files/log/a.md", {"text": "", "version": 1.5}, "“version” has to be a whole number."),
    ],
)
def test_a_value_that_cant_be_used_is_told_by_its_own_name(
    user: User, method: str, path: str, body: object, words: str
) -> None:
    given = (
        {}
        if body is None and method == "get"
        else {"data": json.dumps(body), "content_type": "application/json"}
    )
    response = getattr(Client(), method)(
        f"/api{path}", headers={"Authorization": f"Bearer {token(user)}"}, **given
    )
    assert (response.status_code, response.json()["error"]) == (422, words)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("post", "/captures", "{", 400),
        ("post", "/captures", "[]", 422),
        ("post", "/captures", "{}", 422),
        ("post", "/captures", '{"text": "  "}', 422),
        ("post", "/captures", '{"text": "\\u0000"}', 422),
        ("post", "/captures", '{"text": "\\ud800"}', 422),
        ("post", "/captures", '{"text": "x", "more": 1}', 422),
        ("post", "/captures", json.dumps({"text": "x" * 20_001}), 422),
        ("post", "/files", '{"title": "a", "text": "---\\na: 1\\n---\\n"}', 422),
        ("post", "/steps", '{"title": "a", "repeats": "daily"}', 422),
        ("post", "/steps", '{"title": "a", "due_date": "1066-01-01"}', 422),
        ("post", "/steps", '{"title": "a", "due_date": "2027-01-01", "due_time": "10:00+02:00"}', 422),
        ("post", "/captures", "[" * 100_000, 400),
        ("post", "/captures", f'{{"text": {"9" * 10_000}}}', 400),
        ("post", "/captures", '{"text": NaN}', 422),
        ("get", "/files?limit=101", "", 422),
        ("get", "/files?offset=-1", "", 422),
        ("get", "/search", "", 422),
        ("get", "/search?q=%00", "", 422),
        ("get", "/files/%00", "", 404),
        ("get", "/files/../../etc/passwd", "", 404),
        ("get", "/files/life-map/career.md/versions/99999999999999999999", "", 404),
        ("get", "/steps/0", "", 422),
        ("get", "/steps/9223372036854775808", "", 422),
        ("get", "/nothing", "", 404),
        ("delete", "/files/life-map/career.md", "", 405),
        ("get", "/captures", "", 405),
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    user: User, method: str, path: str, body: str, status: int
) -> None:
    headers = {"Authorization": f"Bearer {token(user)}"}
    before = counts()
    send = getattr(Client(raise_request_exception=False), method)
    given = {"data": body, "content_type": "application/json"} if body else {}
    response = send(f"/api{path}", headers=headers, **given)
    assert response.status_code == status, response.content
    assert response.json()["error"]
    assert counts() == before
