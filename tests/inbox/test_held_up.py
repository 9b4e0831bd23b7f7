"""No mail, no person and no failure holds up the mail of others."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import override_settings
from pytest_django import Settings

from coaching.inbox import state, taking
from coaching.inbox.place import InboxPlace
from coaching.inbox.polling import Reading
from coaching.models import Document, InboxAddress, InboxMail, InboxRefusal, InboxState, InboxWaiting
from tests.inbox.conftest import NOW, Inbox
from tests.inbox.lying_server import NO, Answer, lying_server, uids_in, with_mails
from tests.inbox.mails import SERVER, Mail

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def said(user: User, confirm: Callable[[User], None]) -> dict[str, Answer]:
    """What a server says that has three mails of a person."""
    confirm(user)
    to = f"sage+{InboxAddress.of(user.pk).create().token}@in.example"
    return with_mails({n: Mail(to=to, message_id=f"<{n}@a.example>").written() for n in (1, 2, 3)})


def no_to_first(answer: Answer) -> Answer:
    """Say no to whatever concerns the first mail."""
    return lambda line: NO if 1 in uids_in(line) else answer(line)


def read(place: InboxPlace, **given: Any) -> Reading:
    hours = given.pop("hours", 0)
    reading = Reading(place, server=SERVER, clock=lambda: NOW + timedelta(hours=hours), **given)
    reading.run(is_due_only=False)
    return reading


@pytest.mark.parametrize("kind", ["SIZE", "HEADER", "BODY"])
def test_a_mail_that_the_server_does_not_hand_over_is_tried_again_and_then_refused(
    trusted: Path, said: dict[str, Answer], kind: str
) -> None:
    with lying_server(trusted, {**said, kind: no_to_first(said[kind])}) as place:
        reading = read(place)
        assert (reading.error, reading.counts) == ("", {"taken": 2})
        waiting = InboxWaiting.unscoped.get()
        assert (waiting.uid, waiting.user_id, waiting.due_at) == (1, None, NOW + timedelta(hours=1))
        read(place, hours=2)
        waiting = InboxWaiting.unscoped.get()
        assert (waiting.since, waiting.due_at) == (NOW, NOW + timedelta(hours=3))
        read(place, hours=7)
    assert not InboxWaiting.unscoped.exists()
    assert InboxRefusal.unscoped.get().reason == "unreadable"


def test_a_reading_that_ends_at_a_mail_begins_behind_it_the_next_time(
    trusted: Path, said: dict[str, Answer], user: User
) -> None:
    def break_off(line: bytes) -> bytes:
        return b"HTTP/1.1 200 OK\r\n" if 1 in uids_in(line) else said["BODY"](line)

    with lying_server(trusted, {**said, "BODY": break_off}) as place:
        assert read(place).error == "protocol"
        assert InboxState.objects.get().failures == 1
        reading = read(place)
        assert (reading.error, reading.counts) == ("", {"taken": 2})
    with lying_server(trusted, said) as place:
        assert read(place, hours=1).counts == {"taken": 1}
    assert Document.of(user.pk).count() == 3


def test_a_mail_with_which_an_unforeseen_error_happens_is_set_aside_and_the_reading_waits(
    trusted: Path, said: dict[str, Answer]
) -> None:
    with lying_server(trusted, said) as place:
        with override_settings(SAGE_MAX_FILES="many"), pytest.raises(TypeError):
            read(place)
        found = InboxState.objects.get()
        assert (found.failures, found.error) == (1, "TypeError")
        assert found.next_try_at == NOW + timedelta(minutes=1)
        assert InboxWaiting.unscoped.get().uid == 1
        assert read(place).counts == {"taken": 2}
        assert read(place, hours=1).counts == {"taken": 1}


def test_a_server_that_hands_over_nothing_fails(trusted: Path, said: dict[str, Answer]) -> None:
    with lying_server(trusted, {**said, "HEADER": lambda _: NO}) as place:
        assert read(place).error == "protocol"
    assert InboxState.objects.get().failures == 1
    assert not InboxRefusal.unscoped.exists()


def test_a_refused_move_stops_no_taking_and_is_tried_again(
    trusted: Path, said: dict[str, Answer], user: User
) -> None:
    with lying_server(trusted, {**said, "MOVE": lambda _: NO}) as place:
        reading = read(place)
        assert (reading.error, reading.counts) == ("move", {"taken": 3})
    found = InboxState.objects.get()
    assert (found.failures, found.error, found.failing_since, found.next_try_at) == (0, "move", NOW, None)
    with lying_server(trusted, {**said, "MOVE": no_to_first(lambda _: b"")}) as place:
        read(place)
        assert InboxMail.of(user.pk).get(is_moved=False).uid == 1
    with lying_server(trusted, said) as place:
        assert read(place).error == ""
    assert not InboxMail.of(user.pk).filter(is_moved=False).exists()
    assert InboxState.objects.get().error == ""


def test_a_reading_that_takes_long_ends_after_a_mail_and_is_no_failure(
    trusted: Path, said: dict[str, Answer]
) -> None:
    with lying_server(trusted, said) as place:
        assert [read(place, seconds=0).counts["taken"] for _ in range(4)] == [1, 1, 1, 0]
    found = InboxState.objects.get()
    assert (found.failures, found.read_at) == (0, NOW)


def test_failures_after_mails_were_taken_are_not_several_in_a_row(
    trusted: Path, said: dict[str, Answer]
) -> None:
    InboxState.objects.create(pk=1, failures=5, failing_since=NOW - timedelta(days=1), error="timeout")
    last: Answer = lambda line: b"HTTP/1.1\r\n" if 3 in uids_in(line) else said["BODY"](line)  # noqa: E731
    with lying_server(trusted, {**said, "BODY": last}) as place:
        assert read(place).counts == {"taken": 2}
    found = InboxState.objects.get()
    assert (found.failures, found.next_try_at) == (1, NOW + timedelta(minutes=1))


def test_another_mailbox_is_read_from_its_beginning(trusted: Path, said: dict[str, Answer]) -> None:
    InboxState.objects.create(pk=1, place_digest="a", uid_validity=7, last_uid=1_000)
    with lying_server(trusted, said) as place:
        assert read(place).counts == {"taken": 3}
        assert read(place).counts == {}
        assert read(replace(place, folder="Other")).counts == {"known": 3}


def test_new_mails_come_before_those_that_waited(trusted: Path, said: dict[str, Answer], user: User) -> None:
    with lying_server(trusted, said) as place:
        InboxState.objects.create(pk=1, place_digest=place.digest, uid_validity=7, last_uid=2)
        InboxWaiting.of(user.pk).create(uid=1, since=NOW, due_at=NOW)
        read(place, seconds=0)
    assert InboxMail.of(user.pk).get().uid == 3


def test_what_is_fetched_for_a_person_has_a_limit_a_day_also_in_vain(
    inbox: Inbox, user: User, confirm: Callable[[User], None]
) -> None:
    confirm(user)
    mail = Mail(to=inbox.address_of(user)).written()
    address = InboxAddress.of(user.pk)
    for _ in range(2):
        inbox.deliver(mail)
    assert inbox.read().counts == {"taken": 1, "known": 1}
    assert address.get().fetched_bytes == 2 * len(mail)
    inbox.deliver(mail)
    address.update(fetched_bytes=taking.FETCHED_A_DAY - len(mail) + 1)
    assert inbox.read().counts == {"waiting": 1}
    inbox.now = NOW + timedelta(days=1)
    assert inbox.read().counts == {"known": 1}
    assert address.get().fetched_bytes == len(mail)


def test_nothing_is_fetched_for_a_full_library(
    inbox: Inbox, user: User, confirm: Callable[[User], None]
) -> None:
    confirm(user)
    inbox.deliver(Mail(to=inbox.address_of(user)).written())
    with override_settings(SAGE_MAX_FILES=0):
        assert inbox.read().counts == {"waiting": 1}
    assert InboxAddress.of(user.pk).get().fetched_bytes == 0


def while_fetching(said: Mapping[str, Answer], act: Callable[[], object]) -> dict[str, Answer]:
    """Do something while a mail is fetched."""

    def body(line: bytes) -> bytes:
        try:
            act()
        finally:
            connection.close()
        return said["BODY"](line)

    return {**said, "BODY": body}


@pytest.mark.parametrize(
    "act",
    [lambda user: user.delete(), lambda user: User.objects.filter(pk=user.pk).update(is_active=False)],
    ids=["deleted", "blocked"],
)
def test_mail_of_a_person_who_is_gone_meanwhile_is_refused_and_stops_nothing(
    trusted: Path, said: dict[str, Answer], user: User, act: Callable[[User], object]
) -> None:
    with lying_server(trusted, while_fetching(said, lambda: act(User.objects.get(pk=user.pk)))) as place:
        reading = read(place)
    assert (reading.error, reading.counts) == ("", {"refused": 3})
    refusal = InboxRefusal.unscoped.get()
    assert (refusal.reason, refusal.count, refusal.user_id) == ("address", 3, None)
    assert not Document.unscoped.exists()


def test_a_command_that_was_replaced_says_so(
    trusted: Path, said: dict[str, Answer], settings: Settings, user: User
) -> None:
    other_reader = while_fetching(said, lambda: state.take_lease(now=NOW, is_due_only=False))
    with lying_server(trusted, other_reader) as place:
        settings.SAGE_INBOX, settings.SAGE_INBOX_AUTHSERV_ID = place, SERVER
        with pytest.raises(CommandError, match="Another reader"):
            call_command("read_inbox")
    assert not Document.of(user.pk).exists()
