"""*Settings → Your data* names all that is stored of a person, and everybody who gets something of it."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from allauth.idp.oidc.models import Client as OAuthClient
from allauth.idp.oidc.models import Token
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from coaching.inbox.place import place_of
from coaching.models import CalendarKind, CalendarSource, ProgramToken, PushDevice
from coaching.personal_data.ownership import owned_models
from coaching.programs.tokens import make_token
from coaching.views.what_is_kept import KEPT
from tests.pages.test_settings import page_of, words_of

pytestmark = pytest.mark.django_db

PAGE = "/settings/data/"
NOTHING = "What leaves this server Nothing: the practice model runs locally. "


def with_variables(settings: Settings, **changed: Any) -> None:
    settings.ENVIRONMENT = configured.ENVIRONMENT.model_copy(update=changed)


def test_each_kind_of_a_persons_rows_is_part_of_one_row_of_the_page() -> None:
    """A new model needs a row on that page, or a place in one: `coaching/views/what_is_kept.py`."""
    named = [label for row in KEPT for label in row.models]
    assert sorted(named) == sorted(owned.label for owned in owned_models())


def test_the_page_shows_each_row_with_a_link_to_what_it_names(signed_in: Client) -> None:
    page = page_of(signed_in, PAGE)
    for row in KEPT:
        assert str(row.name) in page
        assert str(row.text) in page
        if row.page:
            assert f'<a href="{reverse(row.page)}">{row.name}</a>' in page


def test_with_the_practice_model_alone_nothing_leaves(signed_in: Client) -> None:
    words = words_of(page_of(signed_in, PAGE))
    assert NOTHING in words
    assert "All of it is in this server’s database and in its data folder." in words
    assert "backup is made" not in words


MODEL = {"IS_PRACTICE_MODEL": False}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (MODEL | {"ANTHROPIC_BASE_URL": ""}, "To the AI model at api.anthropic.com: your message"),
        (
            MODEL | {"ANTHROPIC_BASE_URL": "http://u:p@models.example:1/x"},
            "To the AI model at models.example: ",
        ),
        ({"SAGE_TRANSCRIBE_URL": "https://ears.example/v1"}, "To ears.example, which turns them into words"),
        ({"HAS_MAIL": True}, "By mail, to your address"),
        (
            {"SAGE_BACKUP_DIR": Path("/b"), "SAGE_BACKUP_KEY": "key"},
            "each night, encrypted, and kept for a week",
        ),
        ({"SAGE_BACKUP_DIR": Path("/b"), "SAGE_BACKUP_KEY": ""}, "each night and kept for a week"),
    ],
)
def test_who_gets_something_is_named_where_it_is_set(
    signed_in: Client, settings: Settings, changed: Mapping[str, object], said: str
) -> None:
    assert said not in words_of(page_of(signed_in, PAGE))
    for name, value in changed.items():
        setattr(settings, name, value)
    assert said in words_of(page_of(signed_in, PAGE))


def test_a_model_file_of_the_server_sends_nothing_away(signed_in: Client, settings: Settings) -> None:
    settings.IS_PRACTICE_MODEL, settings.SAGE_MODEL_FILE = False, Path("m.gguf")
    settings.ANTHROPIC_BASE_URL = "http://127.0.0.1:9"
    words = words_of(page_of(signed_in, PAGE))
    assert "What leaves this server Nothing: the AI model runs on this server. " in words


@pytest.mark.parametrize("address", ["http://127.0.0.1:8080", "http://localhost:11434/v1", "http://[::1]:1"])
def test_a_models_server_on_this_machine_is_said_to_be_here_and_that_it_may_pass_words_on(
    signed_in: Client, settings: Settings, address: str
) -> None:
    settings.IS_PRACTICE_MODEL, settings.SAGE_MODEL_FILE = False, None
    settings.ANTHROPIC_BASE_URL = address
    words = words_of(page_of(signed_in, PAGE))
    assert "To the AI model at" not in words
    assert "goes to a server on this machine, and no further unless that server passes it on." in words
    assert "Nothing" not in words.partition("What leaves this server")[2].partition(".")[0]


def test_storage_reports_and_a_mailbox_on_this_machine_leave_nothing(
    signed_in: Client, settings: Settings
) -> None:
    with_variables(
        settings,
        s3_bucket="sage",
        s3_endpoint_url="http://localhost:9000",
        sentry_dsn="http://key@127.0.0.1/1",
        otlp_endpoint="http://[::1]:4318",
    )
    settings.SAGE_INBOX = place_of("imaps://sage%40sage.example:password@localhost/INBOX")
    words = words_of(page_of(signed_in, PAGE))
    assert NOTHING in words
    assert "recordings are in the object store on this machine." in words


def test_storage_and_reports_elsewhere_are_named_by_host(signed_in: Client, settings: Settings) -> None:
    with_variables(
        settings,
        s3_bucket="sage",
        s3_endpoint_url="https://objects.example",
        sentry_dsn="https://key@errors.example/1",
        otlp_endpoint="http://traces.example:4318",
    )
    words = words_of(page_of(signed_in, PAGE))
    for host in ("recordings are at objects.example.", "To errors.example:", "To traces.example:"):
        assert host in words
    assert "key@" not in words
    with_variables(settings, s3_bucket="sage", s3_endpoint_url="")
    assert "recordings are at Amazon S3." in words_of(page_of(signed_in, PAGE))


def test_what_comes_by_mail_is_said_with_its_mailbox(signed_in: Client, settings: Settings) -> None:
    settings.SAGE_INBOX = place_of("imaps://sage%40sage.example:password@imap.example/INBOX")
    assert "comes by a mailbox at imap.example." in words_of(page_of(signed_in, PAGE))


def test_who_gets_something_by_a_persons_choice_is_said_to_that_person_alone(
    signed_in: Client, user: User
) -> None:
    other = User.objects.create_user("other")
    for owner in (other, user):
        PushDevice.unscoped.create(
            user=owner, endpoint=f"https://push.example/{owner.pk}", p256dh="k", auth="a"
        )
        now = timezone.now()
        CalendarSource.unscoped.create(
            user=owner,
            kind=CalendarKind.FEED,
            origin="https://feed.example/secret",
            content=b"",
            expanded_on=now.date(),
            read_at=now,
            tried_at=now,
            next_try_at=now,
        )
        make_token(user_id=owner.pk, name="Shortcut", scopes={"read"}, days=1)
        words = words_of(page_of(signed_in, PAGE))
        assert (NOTHING in words) is (owner == other)
    assert "Nothing for Sage’s answers: the practice model runs locally." in words
    for said in (
        "Notifications to your devices",
        "Requests for the calendars",
        "What your programs may read",
    ):
        assert said in words
    assert "feed.example" not in words


@pytest.mark.parametrize(
    ("scopes", "days", "is_said"),
    [("read", 1, True), ("chat write", 1, True), ("capture write", 1, False), ("read", -1, False)],
)
def test_only_programs_that_may_read_now_are_told_of(
    signed_in: Client, user: User, scopes: str, days: int, is_said: bool
) -> None:
    said, now = "What your programs may read", timezone.now()
    times = {"made_at": now - timedelta(days=9), "expires_at": now + timedelta(days=days)}
    ProgramToken.of(user.pk).create(name="Shortcut", scopes=scopes.split(), **times)
    assert (said in words_of(page_of(signed_in, PAGE))) is is_said
    ProgramToken.of(user.pk).delete()
    connected = OAuthClient.objects.create(id="connected", name="Connected", secret="!")
    given = Token(client=connected, user=user, type=Token.Type.REFRESH_TOKEN, expires_at=times["expires_at"])
    given.set_scopes(scopes.split())
    given.save()
    assert (said in words_of(page_of(signed_in, PAGE))) is is_said
