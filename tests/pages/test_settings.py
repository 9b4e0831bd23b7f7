"""The settings page, and the detected time zone."""

import re
from datetime import UTC, date, datetime
from http import HTTPStatus
from typing import Any

import pytest
import time_machine
from allauth.mfa.totp.internal.auth import TOTP
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from coaching.models import Profile, TimezoneSource
from sessions_app.models import ModelUsage, Session, TurnStatus
from tests.conftest import PASSWORD
from tests.form_fields import form_with
from tests.pages.conftest import Exchange

pytestmark = pytest.mark.django_db


USAGE = "/settings/usage/"


def page_of(client: Client, address: str = "/settings/") -> str:
    response = client.get(address)
    assert response.status_code == HTTPStatus.OK
    return response.content.decode()


def words_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def fields(**changed: str) -> dict[str, str]:
    return {"name": "Ada", "timezone": "Europe/Berlin", "checkin_weekday": "2", **changed}


def use(user: User, *, at: datetime, **fields: Any) -> None:
    row = ModelUsage.unscoped.create(user=user, model="claude-sonnet-5-5", **fields)
    ModelUsage.unscoped.filter(pk=row.pk).update(created_at=at)


def test_the_account_menu_shows_the_initial_of_the_name(signed_in: Client, user: User) -> None:
    assert '<span class="initial" aria-hidden="true">A</span>' in page_of(signed_in, "/safety/")
    Profile.unscoped.update_or_create(user=user, defaults={"name": "noor"})
    assert '<span class="initial" aria-hidden="true">N</span>' in page_of(signed_in, "/safety/")


def test_settings_are_changed_by_a_form(signed_in: Client, user: User) -> None:
    Profile.unscoped.create(user=user, checkin_weekday=6, next_checkin_on=date(2026, 11, 29))
    with time_machine.travel(datetime(2026, 11, 22, 12, tzinfo=UTC), tick=False):
        response = signed_in.post("/settings/", fields(name="  Ada \n <Lovelace>  "))
        assert response["Location"] == "/settings/"
        page = page_of(signed_in)
    profile = Profile.unscoped.get(user=user)
    assert profile.name == "Ada <Lovelace>"
    assert (profile.timezone, profile.timezone_source) == ("Europe/Berlin", TimezoneSource.USER)
    assert "Settings saved." in page
    assert 'value="Ada &lt;Lovelace&gt;"' in page
    assert 'name="timezone" value="Europe/Berlin"' in page
    assert '<option value="Europe/Berlin">Berlin, Germany (UTC+01:00)</option>' in page
    assert "Your next check-in: Wednesday, 2 December." in page


@pytest.mark.parametrize(
    "wrong",
    [
        {"timezone": "Mars/Olympus"}, {"timezone": ""}, {"timezone": "/etc"}, {"timezone": "x" * 101},
        {"checkin_weekday": "7"}, {"checkin_weekday": "x"}, {"name": "a" * 101}, {"name": "a\x00b"},
    ],
)  # fmt: skip
def test_wrong_settings_change_nothing_and_say_so(
    signed_in: Client, user: User, wrong: dict[str, str]
) -> None:
    Profile.unscoped.create(user=user, name="Before", timezone="Asia/Tokyo")
    response = signed_in.post("/settings/", fields(**wrong))
    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert 'role="alert"' in response.content.decode()
    profile = Profile.unscoped.get(user=user)
    assert (profile.name, profile.timezone, profile.checkin_weekday) == ("Before", "Asia/Tokyo", 6)


def test_the_version_that_runs_here_is_shown(signed_in: Client) -> None:
    assert f"Sage {configured.SAGE_VERSION} runs here." in words_of(page_of(signed_in, "/settings/about/"))


def test_every_page_leads_to_the_settings_and_they_to_all_that_is_set_elsewhere(
    signed_in: Client, user: User
) -> None:
    assert 'href="/settings/"' in page_of(signed_in, "/")
    page = page_of(signed_in)
    pages = ("sign-in", "calendar", "usage", "data", "about")
    for address in (f"/settings/{name}/" for name in pages):
        assert f'href="{address}"' in page
        assert page_of(signed_in, address).count(' aria-current="page"') == 1
    assert 'href="/settings/delete/"' in page_of(signed_in, "/settings/data/")
    page = page_of(signed_in, "/settings/sign-in/")
    for address in ("/accounts/password/change/", "/accounts/email/", "/accounts/2fa/"):
        assert f'href="{address}"' in page
    assert "Two-step sign-in Off" in words_of(page)
    TOTP.activate(user, "JBSWY3DPEHPK3PXP")
    assert "Two-step sign-in On" in words_of(page_of(signed_in, "/settings/sign-in/"))


def test_a_month_is_the_persons_own_and_is_added_up_by_purpose(
    signed_in: Client, user: User, other_user: User
) -> None:
    Profile.unscoped.create(user=user, timezone="Asia/Tokyo")
    october = datetime(2026, 10, 31, 18, 59, tzinfo=UTC)
    november = datetime(2026, 10, 31, 19, 1, tzinfo=UTC)  # 04:01 in Tokyo
    use(user, at=october, input_tokens=9_000_000, cost_micro_usd=9_000_000)
    use(
        user,
        at=november,
        input_tokens=1000,
        output_tokens=50,
        cache_read_tokens=200,
        cost_micro_usd=1_234_567,
    )
    use(user, at=november, purpose="summary", output_tokens=7, cost_micro_usd=400)
    use(user, at=november, purpose="brief", output_tokens=3, cost_micro_usd=None)
    use(other_user, at=november, input_tokens=5_000_000, cost_micro_usd=5_000_000)
    with time_machine.travel(datetime(2026, 11, 5, tzinfo=UTC), tick=False):
        text = words_of(page_of(signed_in, USAGE))
    assert "November so far" in text
    assert "1,260 tokens, cost: $1.23 ." in text
    assert "Conversations 1 1,250 $1.23" in text
    assert "Summaries 1 7 under $0.01" in text
    assert "Remembering long conversations 1 3 not known" in text
    assert "Not included: 1 request with no known price" in text


def test_a_month_without_any_known_price_is_not_shown_as_free(signed_in: Client, user: User) -> None:
    use(user, at=datetime.now(UTC), output_tokens=3, cost_micro_usd=None)
    text = words_of(page_of(signed_in, USAGE))
    assert "3 tokens, cost: not known ." in text
    assert "$0.00" not in text


def test_turns_of_the_month_are_counted(
    signed_in: Client, session: Session, exchange: Exchange, user: User
) -> None:
    exchange("One", "Answer")
    exchange("Two", None, status=TurnStatus.FAILED)
    use(user, at=datetime.now(UTC), output_tokens=1, cost_micro_usd=1)
    assert "2 messages answered, 1 tokens" in words_of(page_of(signed_in, USAGE))


def test_the_rest_of_the_daily_budget_is_shown(signed_in: Client, user: User, settings: Settings) -> None:
    settings.SAGE_DAILY_TOKENS = None
    assert "left today" not in page_of(signed_in, USAGE)
    settings.SAGE_DAILY_TOKENS = 10_000
    assert "10,000 of 10,000 tokens left today." in page_of(signed_in, USAGE)
    use(user, at=datetime.now(UTC), input_tokens=2_500)
    page = page_of(signed_in, USAGE)
    assert "7,500 of 10,000 tokens left today." in page
    assert '<progress id="budget" value="2500" max="10000">' in page
    assert "in about 24 hours" in page
    use(user, at=datetime.now(UTC), input_tokens=20_000)
    used_up = page_of(signed_in, USAGE)
    assert "0 of 10,000 tokens left today." in used_up
    assert "Sage answers again in about 24 hours." in used_up


# --- Time zone ----------------------------------------------------------------------------------


def sign_up(client: Client, **changed: str) -> Profile | None:
    response = client.post(
        "/accounts/signup/",
        {"email": "new@example.org", "password1": PASSWORD, "password2": PASSWORD, **changed},
    )
    assert response.status_code == HTTPStatus.FOUND, response.content
    return Profile.unscoped.filter(user__email="new@example.org").first()


def test_the_browsers_time_zone_comes_along_when_somebody_signs_up(client: Client) -> None:
    assert "data-browser-timezone" in page_of(client, "/accounts/signup/")
    profile = sign_up(client, timezone="America/Sao_Paulo")
    assert profile is not None
    assert (profile.timezone, profile.timezone_source) == ("America/Sao_Paulo", TimezoneSource.BROWSER)


@pytest.mark.parametrize("sent", ["", "Mars/Olympus", "a" * 5000])
def test_signing_up_needs_no_time_zone(client: Client, sent: str) -> None:
    profile = sign_up(client, timezone=sent)
    assert profile is not None
    assert (profile.timezone, profile.timezone_source) == ("UTC", TimezoneSource.NOBODY)
    assert "doesn’t know your time zone yet" in words_of(page_of(client, "/"))


def test_who_signs_up_says_what_sage_calls_them(client: Client) -> None:
    assert page_of(client, "/accounts/signup/").index('name="name"') < page_of(
        client, "/accounts/signup/"
    ).index('name="email"')
    profile = sign_up(client, name="  Ada \n Lovelace ")
    assert profile is not None
    assert profile.name == "Ada Lovelace"
    assert "Welcome, Ada Lovelace." in page_of(client, "/welcome/")
    assert ", Ada Lovelace." in page_of(client, "/")
    client.logout()
    fields = {"email": "x@example.org", "password1": PASSWORD, "password2": PASSWORD, "name": "a" * 101}
    assert client.post("/accounts/signup/", fields).status_code == HTTPStatus.OK


def test_who_is_nowhere_yet_is_asked_once(signed_in: Client, user: User) -> None:
    assert "doesn’t know your time zone yet" in words_of(page_of(signed_in, "/"))
    response = signed_in.post("/settings/timezone/", {"timezone": "UTC", "back": "/"})
    assert response["Location"] == "/"
    assert "your time zone yet" not in words_of(page_of(signed_in, "/"))
    signed_in.cookies["sage_timezone"] = "Europe/Berlin"
    assert "Use Berlin" in words_of(page_of(signed_in, "/"))
    signed_in.post("/settings/timezone/", {"timezone": "UTC", "back": "/"})
    assert 'class="offer"' not in page_of(signed_in, "/")
    profile = Profile.unscoped.get(user=user)
    assert (profile.timezone, profile.earlier_timezones) == ("UTC", "")


def test_another_time_zone_of_the_browser_is_offered_until_it_is_taken_or_refused(
    signed_in: Client, user: User
) -> None:
    signed_in.cookies["sage_timezone"] = "Europe/Berlin"
    assert 'class="offer"' not in page_of(signed_in, "/")
    signed_in.cookies["sage_timezone"] = "Asia/Tokyo"
    assert "uses the time in Berlin. Your browser is set to Tokyo." in words_of(page_of(signed_in, "/"))
    signed_in.post("/settings/timezone/", {"timezone": "Europe/Berlin", "back": "/"})
    assert 'class="offer"' not in page_of(signed_in, "/")
    assert "Your browser is set to another time zone: Tokyo." in words_of(page_of(signed_in))
    signed_in.post("/settings/timezone/", {"timezone": "Asia/Tokyo"})
    assert 'class="offer"' not in page_of(signed_in)
    assert Profile.unscoped.get(user=user).timezone == "Asia/Tokyo"
    signed_in.cookies["sage_timezone"] = "Europe/Berlin"
    assert "uses the time in Tokyo. Your browser is set to Berlin." in words_of(page_of(signed_in, "/"))


@pytest.mark.parametrize(
    "back",
    ["https://evil.example/", "//evil.example", "javascript:alert(1)", "", "nowhere", "session", "export"],
)
def test_the_way_back_leads_nowhere_else(signed_in: Client, back: str) -> None:
    response = signed_in.post("/settings/timezone/", {"timezone": "Asia/Tokyo", "back": back})
    assert response["Location"] == "/settings/"


@pytest.mark.parametrize("sent", ["Mars/Olympus", "", "UTC\x00"])
def test_what_is_no_time_zone_is_not_taken(signed_in: Client, user: User, sent: str) -> None:
    response = signed_in.post("/settings/timezone/", {"timezone": sent})
    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert not Profile.unscoped.filter(user=user).exclude(timezone="UTC").exists()


def test_a_form_that_was_opened_before_sets_nothing_back(signed_in: Client, user: User) -> None:
    Profile.unscoped.create(user=user, name="Ada", timezone="Europe/Berlin")
    shown = form_with(page_of(signed_in), "checkin_weekday")
    signed_in.post("/settings/timezone/", {"timezone": "Asia/Tokyo", "back": "/"})
    assert signed_in.post("/settings/", shown | {"name": "Ada L."}).status_code == HTTPStatus.FOUND
    profile = Profile.unscoped.get(user=user)
    assert (profile.name, profile.timezone) == ("Ada L.", "Asia/Tokyo")
    stale = signed_in.post("/settings/", shown | {"name": "Countess", "language": "de"})
    page = stale.content.decode()
    assert stale.status_code == HTTPStatus.CONFLICT
    assert 'dir="auto">Ada L.<' in page
    profile.refresh_from_db()
    assert (profile.name, profile.language) == ("Ada L.", "")
    again = form_with(page, "checkin_weekday")
    assert [again[name] for name in ("name", "timezone", "language")] == [
        ["Countess"],
        ["Asia/Tokyo"],
        ["de"],
    ]
    signed_in.post("/settings/", again)
    profile.refresh_from_db()
    assert (profile.name, profile.timezone, profile.language) == ("Countess", "Asia/Tokyo", "de")
