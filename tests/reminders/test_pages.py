"""The reminder page without JavaScript, and the devices that its script adds."""

import re
from datetime import UTC, datetime, time, timedelta
from http import HTTPStatus
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from coaching.calendar.connection_rule import ConnectionRule
from coaching.models import PushDevice, Reminder, ReminderKind
from coaching.reminders import devices as reminder_devices
from coaching.reminders.devices import MAX_DEVICES
from coaching.reminders.vapid import public_key
from sessions_app import session_services
from sessions_app.models import SessionKind
from tests.browsers import browser_of
from tests.reminders.conftest import confirmed, reminded
from tests.reminders.push_service import Subscription, device_of

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/settings/reminders/"
TIMES = {"day-at": "07:15", "evening-at": "21:30", "check_in-at": "17:00", "steps-at": "08:00"}
PHONE = "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/142.0 Mobile Safari/537.36"
CONFIRM = "confirm your email address"
ADDRESS = "https://push.example/send/one"


@pytest.fixture
def signed_in(client: Client, user: User) -> Client:
    confirmed(user)
    client.force_login(user)
    return client


def checked(client: Client) -> list[str]:
    """Return the names of the boxes that are ticked."""
    page = client.get(PAGE).content.decode()
    return re.findall(r'name="([^"]+-by_\w+)"[^>]* checked', page)


def subscribe(client: Client, endpoint: str = ADDRESS, **changed: str) -> Any:
    form = {"do": "add", **Subscription(endpoint).form, **changed}
    return client.post(f"{PAGE}devices/", form, headers={"User-Agent": PHONE})


def test_reminders_are_off_at_first_and_stay_as_they_are_chosen(signed_in: Client, user: User) -> None:
    assert checked(signed_in) == []
    assert not Reminder.of(user.pk).exists()
    signed_in.post(PAGE, {**TIMES, "day-by_mail": "on"})
    chosen = {row.kind: (row.at, row.by_mail, row.by_push) for row in Reminder.of(user.pk)}
    assert chosen == {
        "day": (time(7, 15), True, False),
        "evening": (time(21, 30), False, False),
        "check_in": (time(17), False, False),
        "steps": (time(8), False, False),
    }
    assert Reminder.of(user.pk).get(kind="day").origin == "http://testserver"
    assert 'value="07:15"' in signed_in.get(PAGE).content.decode()
    assert checked(signed_in) == ["day-by_mail"]
    signed_in.post(PAGE, TIMES)
    assert not Reminder.of(user.pk).filter(by_mail=True).exists()


def test_saving_what_is_on_already_sends_nothing_later(signed_in: Client, user: User) -> None:
    """The moment from which a reminder counts moves only with its time, or when it is switched on."""
    row = reminded(user, at=time(7, 15))
    signed_in.post(PAGE, {**TIMES, "day-by_mail": "on"})
    assert Reminder.of(user.pk).get(kind="day").changed_at == row.changed_at
    signed_in.post(PAGE, {**TIMES, "day-at": "07:20", "day-by_mail": "on"})
    assert datetime.now(UTC) - Reminder.of(user.pk).get(kind="day").changed_at < timedelta(minutes=5)


def test_a_wrong_time_is_explained_and_nothing_saved(signed_in: Client, user: User) -> None:
    answer = signed_in.post(PAGE, {**TIMES, "day-at": "breakfast", "evening-by_mail": "on"})
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "such as 08:00" in answer.content.decode()
    assert 'value="breakfast"' in answer.content.decode()
    assert not Reminder.of(user.pk).exists()


def test_only_ways_that_work_are_offered(signed_in: Client, user: User, settings: Settings) -> None:
    assert "day-by_push" not in signed_in.get(PAGE).content.decode()
    subscribe(signed_in)
    assert "day-by_push" in signed_in.get(PAGE).content.decode()
    settings.SAGE_VAPID_PRIVATE_KEY, settings.HAS_MAIL = "", False
    page = signed_in.get(PAGE).content.decode()
    assert "by_push" not in page
    assert "by_mail" not in page
    assert "neither email nor notifications are set up" in page


def test_mail_is_offered_once_the_address_is_confirmed(signed_in: Client, user: User) -> None:
    assert CONFIRM not in signed_in.get(PAGE).content.decode()
    EmailAddress.objects.update(verified=False)
    page = signed_in.get(PAGE).content.decode()
    assert CONFIRM in page
    assert "by_mail" not in page
    assert "neither email nor notifications are set up" not in page
    signed_in.post(PAGE, {**TIMES, "day-by_mail": "on"})
    assert not Reminder.of(user.pk).filter(by_mail=True).exists()


def test_a_browser_is_added_once_named_and_forgotten(signed_in: Client, user: User) -> None:
    assert subscribe(signed_in).status_code == HTTPStatus.NO_CONTENT
    assert subscribe(signed_in).status_code == HTTPStatus.NO_CONTENT
    device = PushDevice.of(user.pk).get()
    assert device.name == "Chrome, Android"
    page = signed_in.get(PAGE).content.decode()
    assert "Chrome, Android" in page
    assert ADDRESS not in page
    signed_in.post(f"{PAGE}devices/{device.pk}/forget/")
    assert not PushDevice.of(user.pk).exists()
    subscribe(signed_in)
    signed_in.post(f"{PAGE}devices/", {"do": "forget", "endpoint": ADDRESS})
    assert not PushDevice.of(user.pk).exists()


def test_a_browser_belongs_to_whoever_signed_in_on_it_last(
    signed_in: Client, user: User, other_user: User
) -> None:
    subscribe(signed_in)
    theirs = browser_of(other_user)
    theirs.post(f"{PAGE}devices/", {"do": "forget", "endpoint": ADDRESS})
    assert PushDevice.of(user.pk).exists()
    subscribe(theirs)
    assert PushDevice.unscoped.get().user == other_user


def test_a_person_has_so_many_devices_and_no_more(signed_in: Client, user: User) -> None:
    for number in range(MAX_DEVICES):
        device_of(user, Subscription(f"https://push.example/{number}"))
    subscribe(signed_in)
    kept = {device.endpoint for device in PushDevice.of(user.pk)}
    assert len(kept) == MAX_DEVICES
    assert ADDRESS in kept
    assert "https://push.example/0" not in kept


def test_a_name_that_leads_inside_is_refused_when_it_is_added(
    signed_in: Client, user: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"inner": ["1.1.1.1", "10.0.0.1"], "sage": ["1.1.1.1"], "push": ["8.8.8.8"], "testserver": []}

    async def resolve(host: str, port: int) -> list[str]:
        return known[host.partition(".")[0]]

    settings.ALLOWED_HOSTS = ["testserver", "sage.example"]
    monkeypatch.setattr(reminder_devices, "_rule", ConnectionRule(resolve=resolve))
    for host in ("inner.example", "sage.example"):
        answer = subscribe(signed_in, f"https://{host}/x")
        assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        assert answer.json()["error"] == reminder_devices.UNUSABLE
    assert not PushDevice.of(user.pk).exists()
    assert subscribe(signed_in).status_code == HTTPStatus.NO_CONTENT


@pytest.mark.parametrize(
    "changed",
    [
        {"endpoint": "http://push.example/plain"},
        {"endpoint": "https://push.example:8443/port"},
        {"endpoint": "https://me:secret@push.example/"},
        {"endpoint": "https://127.0.0.1/"},
        {"endpoint": "https://[fd00::1]/"},
        {"endpoint": "https://localhost/x"},
        {"endpoint": "https://localhost./x"},
        {"endpoint": "https://2130706433/x"},
        {"endpoint": "https://printer.local/x"},
        {"endpoint": "push.example/bare"},
        {"endpoint": "https://push.example/" + "x" * 1000},
        {"p256dh": "short"},
        {"auth": "AAAA"},
        {"auth": "ääää"},
        {"do": "anything"},
    ],
)
def test_what_is_no_browsers_address_is_refused(
    signed_in: Client, user: User, changed: dict[str, str]
) -> None:
    answer = subscribe(signed_in, **changed)
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert answer.json()["error"]
    assert not PushDevice.of(user.pk).exists()


def test_a_reminder_opens_the_conversation_that_has_begun_and_otherwise_home(
    signed_in: Client, user: User
) -> None:
    assert signed_in.get("/reminders/day/")["Location"] == "/"
    session = session_services.open_session(user_id=user.pk, kind=SessionKind.OPEN_DAY)
    session.last_message_number = 1
    session.save()
    assert signed_in.get("/reminders/day/")["Location"] == f"/chat/{session.pk}/"
    assert signed_in.get(f"/reminders/{ReminderKind.EVENING}/")["Location"] == "/"
    assert signed_in.get("/reminders/lunch/").status_code == HTTPStatus.NOT_FOUND


def test_the_public_key_is_that_of_the_private_one() -> None:
    """From the example in RFC 8291, section 5."""
    private = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    assert public_key(private) == (
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
    )
    assert public_key("") == ""
