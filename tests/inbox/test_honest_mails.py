"""Honest mails become documents once each, whatever happens to the worker, within the limits."""

import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import override_settings

from coaching.inbox import taking
from coaching.inbox.mailbox import open_mailbox
from coaching.models import Document, InboxAddress, InboxMail, InboxRefusal, InboxState, InboxWaiting
from coaching.sandbox.limits import MEGABYTE
from tests.forked import ForkedProcess
from tests.inbox.conftest import NOW, Inbox
from tests.inbox.mails import ADA, SERVER, Mail, passed
from tests.live_sage import url_of_test_database
from tests.thoroughness import size

pytestmark = pytest.mark.django_db(transaction=True)

MAILS, KILLS = 20, size(3, long=10)
SECONDS = 120.0


def honest(inbox: Inbox, user: User, number: int = 1, **fields: str) -> bytes:
    """Return one of several mails of a person to their own address."""
    given: dict[str, Any] = {"body": f"Number {number}.\n", **fields}
    return Mail(to=inbox.address_of(user), message_id=f"<{number}@example.org>", **given).written()


@pytest.mark.parametrize(
    "sender",
    [
        ADA,
        f"<{ADA}>",
        "Ada Lovelace <ADA@Example.org>",
        f'"Lovelace, Ada (home)" <{ADA}>',
        f"=?utf-8?q?Ada_L=C3=B6velace?= <{ADA}>",
        f'"{ADA}" <{ADA}>',
    ],
)
def test_a_mail_becomes_a_document_with_its_subject_as_name(
    inbox: Inbox, user: User, confirm: Callable[[User], None], sender: str
) -> None:
    confirm(user)
    dkim = 'dkim=pass header.d=example.org header.b="a;b="'
    said = f"{SERVER} 1;\r\n {dkim} ;\r\n\tDMARC = pass (p=none) header.from = EXAMPLE.ORG;"
    mail = honest(inbox, user, sender=sender, said=said, subject="=?utf-8?q?Miete_f=C3=BCr?= ../5 \\ 7")
    inbox.deliver(mail)
    assert inbox.read().counts == {"taken": 1}
    (document,) = Document.of(user.pk)
    assert document.name == "Miete für ..-5 - 7.eml"
    assert document.size == len(mail)
    row = InboxMail.of(user.pk).get()
    assert (row.document_id, row.size, row.is_moved, row.taken_at) == (document.pk, len(mail), True, NOW)
    assert (inbox.left, inbox.moved) == (0, [mail])
    assert not InboxRefusal.unscoped.exists()


@pytest.mark.slow
def test_mails_arrive_once_each_although_the_worker_is_killed(
    inbox: Inbox, user: User, confirm: Callable[[User], None], tmp_path: Path, trusted: Path
) -> None:
    confirm(user)
    for number in range(MAILS):
        inbox.deliver(honest(inbox, user, number))
    seen = []
    for kill in range(KILLS):
        process, log = start_reader(inbox, tmp_path)
        deadline = time.monotonic() + SECONDS
        while process.poll() is None and InboxMail.of(user.pk).count() <= kill * MAILS // (KILLS + 1):
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.002)
        process.kill()
        process.wait(SECONDS)
        seen.append(InboxMail.of(user.pk).count())
        assert Document.of(user.pk).count() == seen[-1]
    assert seen == sorted(seen)
    assert 0 < seen[0] < MAILS
    process, log = start_reader(inbox, tmp_path)
    assert process.wait(SECONDS) == 0, log.read_text()
    assert Document.of(user.pk).count() == InboxMail.of(user.pk).filter(is_moved=True).count() == MAILS
    assert len({document.sha256 for document in Document.of(user.pk)}) == MAILS
    assert (inbox.left, len(inbox.moved)) == (0, MAILS)


def start_reader(inbox: Inbox, folder: Path) -> tuple[ForkedProcess, Path]:
    """Start `manage.py read_inbox`, which does what the job does; return it and its output."""
    log = folder / f"{time.monotonic_ns()}.log"
    environment = os.environ | {
        "DATABASE_URL": url_of_test_database(),
        "DJANGO_SETTINGS_MODULE": "sage.settings",
        "EMAIL_URL": "smtp://localhost:25",
        "SAGE_DATA_DIR": str(folder),
        "SAGE_INBOX_AUTHSERV_ID": SERVER,
        "SAGE_INBOX_URL": inbox.url,
    }
    return ForkedProcess(("manage.py", "read_inbox"), environment=environment, log=log), log


def test_the_51st_mail_of_a_day_waits_for_the_next(
    inbox: Inbox, user: User, other_user: User, confirm: Callable[[User], None]
) -> None:
    confirm(user)
    confirm(other_user)
    taken_before(user, taking.MAILS_A_DAY - 1, size=1)
    for number in range(3):
        inbox.deliver(honest(inbox, user, number))
    inbox.deliver(honest(inbox, other_user, sender=other_user.email, said=passed("example.org")))
    assert inbox.read().counts == {"taken": 2, "waiting": 2}
    assert (Document.of(user.pk).count(), Document.of(other_user.pk).count(), inbox.left) == (1, 1, 2)
    # Not before the person's next day, which begins at 04:00.
    inbox.now = NOW + timedelta(hours=15)
    assert not inbox.read().counts
    inbox.now = NOW + timedelta(hours=16)
    assert inbox.read().counts == {"taken": 2}
    assert (Document.of(user.pk).count(), inbox.left) == (3, 0)
    assert not InboxWaiting.unscoped.exists()
    assert not InboxRefusal.unscoped.exists()


def test_more_than_100_mb_of_a_day_wait(inbox: Inbox, user: User, confirm: Callable[[User], None]) -> None:
    confirm(user)
    taken_before(user, 1, size=taking.BYTES_A_DAY - 1_000)
    inbox.deliver(honest(inbox, user, 1, body="a" * 900))
    assert inbox.read().counts == {"waiting": 1}
    inbox.now = NOW + timedelta(days=1)
    assert inbox.read().counts == {"taken": 1}


def test_a_mail_waits_for_room_in_the_library_for_thirty_days(
    inbox: Inbox, user: User, confirm: Callable[[User], None]
) -> None:
    confirm(user)
    inbox.deliver(honest(inbox, user))
    with override_settings(SAGE_MAX_FILES=0):
        assert inbox.read().counts == {"waiting": 1}
        inbox.now = NOW + timedelta(days=2)
        assert inbox.read().counts == {"waiting": 1}
        inbox.now = NOW + timedelta(days=31)
        assert inbox.read().counts == {"refused": 1}
    assert InboxRefusal.of(user.pk).get().reason == "room"
    assert (Document.of(user.pk).count(), inbox.left) == (0, 1)
    assert not InboxWaiting.unscoped.exists()


def test_no_more_than_500_mails_of_a_person_wait(
    inbox: Inbox, user: User, confirm: Callable[[User], None]
) -> None:
    confirm(user)
    taken_before(user, taking.MAILS_A_DAY, size=1)
    later = NOW + timedelta(days=1)
    InboxWaiting.unscoped.bulk_create(
        InboxWaiting(user=user, uid=1_000 + number, since=NOW, due_at=later)
        for number in range(taking.MAX_WAITING - 1)
    )
    # Their numbers belong to this mailbox.
    with open_mailbox(inbox.place) as box:
        InboxState.objects.create(pk=1, place_digest=inbox.place.digest, uid_validity=box.uid_validity)
    for number in range(2):
        inbox.deliver(honest(inbox, user, number))
    assert inbox.read().counts == {"waiting": 1, "refused": 1}
    assert InboxRefusal.of(user.pk).get().reason == "waiting"


def test_a_waiting_mail_is_decided_anew(inbox: Inbox, user: User, confirm: Callable[[User], None]) -> None:
    confirm(user)
    inbox.deliver(honest(inbox, user))
    with override_settings(SAGE_MAX_FILES=0):
        assert inbox.read().counts == {"waiting": 1}
    InboxAddress.of(user.pk).update(token="b" * 20)
    inbox.now = NOW + timedelta(days=2)
    assert inbox.read().counts == {"refused": 1}
    assert InboxRefusal.unscoped.get().user_id is None


def test_a_mailbox_that_was_numbered_anew_is_read_anew(
    inbox: Inbox, user: User, confirm: Callable[[User], None]
) -> None:
    confirm(user)
    inbox.deliver(honest(inbox, user))
    assert inbox.read().counts == {"taken": 1}
    InboxState.objects.update(uid_validity=1, last_uid=4_000_000)
    inbox.deliver(honest(inbox, user))
    inbox.deliver(honest(inbox, user, 2))
    assert inbox.read().counts == {"known": 1, "taken": 1}


def test_a_mail_over_the_limit_of_uploads_is_refused(
    inbox: Inbox, user: User, confirm: Callable[[User], None]
) -> None:
    confirm(user)
    inbox.deliver(honest(inbox, user), hole=MEGABYTE)
    with override_settings(SAGE_MAX_UPLOAD_MB=1):
        assert inbox.read().counts == {"refused": 1}
    assert InboxRefusal.of(user.pk).get().reason == "large"


def taken_before(user: User, count: int, *, size: int) -> None:
    """Let so many mails be taken earlier on the same day."""
    InboxMail.unscoped.bulk_create(
        InboxMail(
            user=user,
            message_digest=str(number),
            body_digest="",
            size=size,
            uid_validity=1,
            uid=number,
            is_moved=True,
            taken_at=NOW - timedelta(hours=1),
        )
        for number in range(count)
    )
