"""Forged mails are left on the server, and only counted."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.inbox.addresses import renew_address
from coaching.models import Document, InboxMail, InboxRefusal
from tests.conftest import MakeUser
from tests.inbox.conftest import Inbox
from tests.inbox.mails import FORGERIES, Mail

pytestmark = pytest.mark.django_db(transaction=True)


def test_no_forgery_is_taken_and_each_is_counted_once(
    inbox: Inbox, user: User, other_user: User, make_user: MakeUser, confirm: Callable[[User], None]
) -> None:
    inactive, unconfirmed = make_user("mary", is_active=False), make_user("hopper")
    for each in (user, other_user, inactive):
        confirm(each)
    old = inbox.address_of(user)
    renew_address(user.pk)
    ada = inbox.address_of(user)
    plain = f"{inbox.place.local}@{inbox.place.domain}"
    addresses = {
        "ada": ada,
        "old": old,
        "grace": inbox.address_of(other_user),
        "inactive": inbox.address_of(inactive),
        "unconfirmed": inbox.address_of(unconfirmed),
        "plain": plain,
        "guessed": plain.replace("@", "+" + "a" * 20 + "@"),
        "elsewhere": ada.replace(inbox.place.domain, f"{inbox.place.domain}.evil.example"),
    }
    assert old != ada
    assert len(FORGERIES) >= 30
    expected: dict[tuple[str, str], int] = {}
    for forgery in FORGERIES.values():
        fields: dict[str, Any] = {"to": forgery.to.format(**addresses), **forgery.mail}
        inbox.deliver(Mail(**fields).written(), hole=forgery.hole)
        key = (forgery.counted_with, forgery.reason.value)
        expected[key] = expected.get(key, 0) + 1
    reading = inbox.read()
    assert reading.error == ""
    rows = InboxRefusal.unscoped.values_list("user__username", "reason", "count")
    assert {(name or "", reason): count for name, reason, count in rows} == expected
    assert (Document.unscoped.count(), InboxMail.unscoped.count()) == (0, 0)
    assert inbox.left == len(FORGERIES)
    assert inbox.moved == []

    # They aren't looked at again.
    assert not inbox.read().counts
    assert sum(InboxRefusal.unscoped.values_list("count", flat=True)) == len(FORGERIES)


def test_a_replay_is_taken_once(inbox: Inbox, user: User, confirm: Callable[[User], None]) -> None:
    confirm(user)
    mail = Mail(to=inbox.address_of(user))
    inbox.deliver(mail.written())
    assert inbox.read().counts == {"taken": 1}
    again = Mail(to=mail.to, first=(("Received", "from somebody else"),), subject="Again")
    inbox.deliver(mail.written())
    inbox.deliver(again.written())
    assert inbox.read().counts == {"known": 2}
    assert Document.of(user.pk).count() == 1
    # Also after its person has deleted it.
    Document.of(user.pk).delete()
    inbox.deliver(mail.written())
    assert inbox.read().counts == {"known": 1}
    assert Document.of(user.pk).count() == 0
    assert (inbox.left, len(inbox.moved)) == (0, 4)
