"""Reminders reach the person's browser, encrypted, and their mailbox; once, and only if they are wanted."""

import json
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.test import Client
from procrastinate.contrib.django.models import ProcrastinateJob
from py_vapid import Vapid02
from pytest_django import Settings

from coaching.models import PushDevice, Reminder, ReminderKind, SentReminder
from coaching.reminders.devices import MAX_FAILURES, Push
from coaching.reminders.due import LATEST, claim_due
from coaching.reminders.preferences import switch_off
from coaching.reminders.push import PushSender
from coaching.reminders.senders import Answer, PushNotTakenError, use_sender
from sessions_app.database import in_database
from tests.jobs.conftest import WorkOff, make_due, practice, queue, work_off
from tests.reminders.conftest import ORIGIN, reminded
from tests.reminders.push_service import PushService, Subscription, device_of, push_service

__all__ = ["practice", "queue", "work_off"]

pytestmark = pytest.mark.django_db(transaction=True)

# In the future of the database's clock, by which retries wait.
DUE = datetime(2035, 11, 14, 8, tzinfo=UTC)


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    """It is eight."""
    with time_machine.travel(DUE, tick=True) as traveller:
        yield traveller


@pytest.fixture
async def service() -> AsyncIterator[PushService]:
    """A push service, which is this process's public internet."""
    async with push_service() as service:
        with use_sender(service.sender()):
            yield service


async def remind(work_off: WorkOff) -> None:
    """Claim what is due and send it."""
    await in_database(claim_due, now=datetime.now(UTC))
    await work_off()


# --- Push -----------------------------------------------------------------------------------------


async def test_a_browser_can_read_its_reminder_and_the_push_service_cannot(
    user: User, service: PushService, work_off: WorkOff, settings: Settings
) -> None:
    subscription = service.subscribe()
    await in_database(device_of, user, subscription)
    await in_database(reminded, user, by_push=True, by_mail=False)
    await remind(work_off)
    await remind(work_off)
    (received,) = service.received
    message = json.loads(subscription.decrypt(received.body))
    assert message == {
        "kind": "day",
        "name": "day",
        "title": "Time to plan your day",
        "text": "Take a few minutes to choose what matters today.",
    }
    assert b"plan" not in received.body
    headers = received.headers
    assert (headers["Content-Encoding"], headers["Topic"]) == ("aes128gcm", "sage-day")
    assert 0 < int(headers["TTL"]) <= 4 * 3600
    assert Vapid02.verify(headers["Authorization"])
    assert mail.outbox == []


async def test_a_forgotten_browser_is_forgotten_and_a_passing_problem_is_tried_again(
    user: User, service: PushService, work_off: WorkOff
) -> None:
    for path in ("/gone", "/missing", "/fine"):
        await in_database(device_of, user, service.subscribe(path))
    await in_database(reminded, user, by_push=True, by_mail=False)
    service.statuses = [410, 404, 503]
    await remind(work_off)
    assert await in_database(
        lambda: [urlsplit(device.endpoint).path for device in PushDevice.of(user.pk)]
    ) == ["/fine"]
    await in_database(make_due)
    await work_off()
    assert [received.path for received in service.received] == ["/gone", "/missing", "/fine", "/fine"]
    assert (await in_database(PushDevice.of(user.pk).get)).failures == 0


async def test_a_service_that_is_down_is_given_up_after_some_attempts(
    user: User, service: PushService, work_off: WorkOff
) -> None:
    device = await in_database(device_of, user, service.subscribe())
    await in_database(reminded, user, by_push=True, by_mail=False)
    service.statuses = [500] * 50
    await remind(work_off)
    for _ in range(6):
        await in_database(make_due)
        await work_off()
    assert len(service.received) == 4
    assert (await in_database(PushDevice.of(user.pk).get)).failures == 4
    await in_database(PushDevice.of(user.pk).update, failures=MAX_FAILURES - 1)
    await in_database(SentReminder.of(user.pk).delete)
    service.statuses = [403]
    await remind(work_off)
    assert not await in_database(PushDevice.unscoped.filter(pk=device.pk).exists)


async def test_a_person_s_browsers_are_sent_to_one_at_a_time_and_one_that_fails_holds_up_no_other(
    user: User, other_user: User, service: PushService, work_off: WorkOff
) -> None:
    for person, paths in ((user, "abc"), (other_user, "d")):
        for path in paths:
            await in_database(device_of, person, service.subscribe(f"/{path}"))
        await in_database(reminded, person, by_push=True, by_mail=False)
    await in_database(claim_due, now=DUE)
    assert await in_database(_locks) == {f"push:{user.pk}": 3, f"push:{other_user.pk}": 1}
    service.statuses = [503]
    await work_off()
    assert [received.path for received in service.received] == ["/a", "/b", "/c", "/d"]
    await in_database(make_due)
    await work_off()
    assert [received.path for received in service.received] == ["/a", "/b", "/c", "/d", "/a"]


def _locks() -> Mapping[str, int]:
    return Counter(ProcrastinateJob.objects.values_list("lock", flat=True))


async def test_nothing_inside_the_network_is_reached_and_no_redirect_followed(
    service: PushService, settings: Settings
) -> None:
    subscription = service.subscribe()
    with pytest.raises(PushNotTakenError):
        await PushSender().send(push_to(subscription))
    named = Subscription(f"http://inside.example:{service.port}/push")

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    with pytest.raises(PushNotTakenError):
        await PushSender(resolve=resolve).send(push_to(named))
    assert service.received == []
    service.statuses = [307]
    assert await service.sender().send(push_to(subscription)) is Answer.REFUSED
    assert len(service.received) == 1


async def test_a_silent_service_is_left_after_a_while(settings: Settings) -> None:
    with silent_server() as port:
        sender = PushSender(allowed=frozenset({("127.0.0.1", port)}), seconds=0.2)
        with pytest.raises(PushNotTakenError):
            await sender.send(push_to(Subscription(f"http://127.0.0.1:{port}/")))


async def test_keys_that_are_none_are_refused_without_a_request(service: PushService) -> None:
    push = push_to(service.subscribe(), p256dh="BA" + "A" * 85)
    assert await service.sender().send(push) is Answer.REFUSED
    assert service.received == []


def push_to(subscription: Subscription, **fields: str) -> Push:
    form = {**subscription.form, **fields}
    return Push(device_id=1, topic="sage-day", payload="{}", **form)


@contextmanager
def silent_server() -> Iterator[int]:
    """Accept connections and never answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        yield port


# --- Mail -----------------------------------------------------------------------------------------


async def test_a_mail_is_sent_once_and_can_be_stopped_by_one_post_without_signing_in(
    user: User, work_off: WorkOff
) -> None:
    await in_database(reminded, user)
    await in_database(reminded, user, ReminderKind.EVENING)
    await remind(work_off)
    await remind(work_off)
    sent = {message.subject: message for message in mail.outbox}
    assert len(sent) == len(mail.outbox) == 2
    message = sent["Time to plan your day"]
    assert message.to == [user.email]
    assert f"{ORIGIN}/reminders/day/" in message.body
    off = message.extra_headers["List-Unsubscribe"].strip("<>")
    assert message.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert off in message.body
    assert isinstance(message, EmailMultiAlternatives)
    ((html, _kind),) = message.alternatives
    assert f'<a href="{off}">Stop this reminder</a>' in str(html)
    assert "<" not in message.body
    path = off.removeprefix(ORIGIN)
    page = await in_database(Client().get, path)
    assert b"Stop reminder" in page.content
    assert await in_database(Reminder.of(user.pk).filter(by_mail=True).count) == 2
    strict = Client(enforce_csrf_checks=True)
    done = await in_database(strict.post, path, {"List-Unsubscribe": "One-Click"})
    assert done.status_code == 200
    assert [row.kind for row in await in_database(list, Reminder.of(user.pk).filter(by_mail=True))] == [
        "evening"
    ]
    for wrong in (path[:-2] + "/", path.replace("/off/", "/off/x")):
        assert (await in_database(strict.post, wrong)).status_code == 404


async def test_no_mail_goes_to_an_address_that_was_not_confirmed(user: User, work_off: WorkOff) -> None:
    await in_database(reminded, user)
    await in_database(EmailAddress.objects.filter(user=user).update, verified=False)
    await in_database(EmailAddress.objects.create, user=user, email="second@example.org", verified=True)
    await remind(work_off)
    assert mail.outbox == []


async def test_nothing_is_sent_that_was_switched_off_or_came_too_late(
    user: User, other_user: User, service: PushService, work_off: WorkOff, clock: time_machine.Traveller
) -> None:
    for person in (user, other_user):
        await in_database(reminded, person, by_push=True)
        await in_database(device_of, person, service.subscribe(f"/{person.pk}"))
    await in_database(claim_due, now=DUE)
    await in_database(switch_off, user_id=user.pk, kind="day")
    clock.move_to(DUE + LATEST + timedelta(seconds=1))
    await work_off()
    assert (mail.outbox, service.received) == ([], [])


async def test_an_account_that_ends_in_between_gets_nothing(
    user: User, service: PushService, work_off: WorkOff
) -> None:
    await in_database(reminded, user, by_push=True)
    await in_database(device_of, user, service.subscribe())
    await in_database(claim_due, now=DUE)
    await in_database(User.objects.filter(pk=user.pk).update, is_active=False)
    await work_off()
    assert (mail.outbox, service.received) == ([], [])


async def test_a_mail_that_a_dead_worker_had_begun_is_not_sent_again(user: User, work_off: WorkOff) -> None:
    await in_database(reminded, user)
    await in_database(claim_due, now=DUE)
    await in_database(SentReminder.of(user.pk).update, mail_begun_at=DUE)
    await work_off()
    assert mail.outbox == []


async def test_a_mail_server_that_is_down_is_tried_again(
    user: User, work_off: WorkOff, settings: Settings
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    await in_database(reminded, user)
    await remind(work_off)
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    await in_database(make_due)
    await work_off()
    assert len(mail.outbox) == 1
    assert await in_database(ProcrastinateJob.objects.exclude(status="succeeded").count) == 0
