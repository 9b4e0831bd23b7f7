"""A mail of the mailbox waits once, whoever it is for; without a person, too."""

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.db.migrations.loader import MigrationLoader

from coaching.models import InboxWaiting
from tests.inbox.conftest import NOW

BUILDS = ("coaching", "0068_mail_waits_once")


def waits(user: User | None, uid: int) -> InboxWaiting:
    return InboxWaiting(user=user, uid=uid, since=NOW, due_at=NOW)


@pytest.mark.django_db
def test_the_database_itself_refuses_that_a_mail_waits_twice(user: User, other_user: User) -> None:
    for first, second in ((None, None), (None, user), (user, other_user)):
        with transaction.atomic():
            waits(first, 7).save()
            with pytest.raises(IntegrityError, match="inbox_mail_waits_once"), transaction.atomic():
                waits(second, 7).save()
            InboxWaiting.unscoped.all().delete()


@pytest.mark.django_db(transaction=True)
def test_of_mails_that_waited_twice_the_last_decision_stays_and_a_broken_upgrade_can_be_repeated(
    user: User,
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE coaching_inboxwaiting DROP CONSTRAINT inbox_mail_waits_once")
    InboxWaiting.unscoped.bulk_create([waits(None, 7), waits(user, 7), waits(None, 8), waits(None, 8)])
    loader = MigrationLoader(connection)
    state = loader.project_state(BUILDS)
    for _attempt in range(2):
        for operation in loader.disk_migrations[BUILDS].operations:
            with connection.schema_editor(atomic=False) as editor:
                operation.database_forwards("coaching", editor, state, state)
    assert list(InboxWaiting.unscoped.values_list("uid", "user")) == [(7, user.pk), (8, None)]
    with pytest.raises(IntegrityError, match="inbox_mail_waits_once"):
        waits(None, 8).save()
