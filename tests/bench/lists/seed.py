"""Fills the lists of the person with a long history: captures, documents, knowledge and next steps."""

import sys
from datetime import timedelta

import django

django.setup()

# The models can be imported now, not before.
from django.contrib.auth.models import User  # noqa: E402 - needs Django set up
from django.db import connection, transaction  # noqa: E402 - needs Django set up
from django.utils import timezone  # noqa: E402 - needs Django set up

from coaching.library.clients import own_client  # noqa: E402 - needs Django set up
from coaching.models import (  # noqa: E402 - needs Django set up
    ActionItem,
    Capture,
    Document,
    DocumentState,
    KnowledgeEntry,
    UserFile,
)
from sessions_app.models import Session  # noqa: E402 - needs Django set up
from tests.bench.stocked import SUMMARY, stock_library  # noqa: E402 - needs Django set up


def fill_lists(count: int) -> None:
    """Fill every list of the person called `rich`; conversations and files are there already."""
    user = User.objects.get(username="rich")
    now = timezone.now()
    with connection.cursor() as cursor:
        # Thousands of rows are built between two statements.
        cursor.execute("SET idle_in_transaction_session_timeout = 0")
    with transaction.atomic():
        _spread_over_days(user, count)
        Capture.of(user.pk).bulk_create(
            Capture(user=user, file=file, captured_at=now - timedelta(hours=number))
            for number, file in enumerate(UserFile.of(user.pk).order_by("pk"))
        )
        stock_library(user, count)
        own = own_client(user.pk)
        document = Document.of(user.pk).earliest("pk")
        more = count - count // 10
        KnowledgeEntry.of(user.pk).bulk_create(
            KnowledgeEntry(user=user, client=own, document=document, title=f"Entry {number}", content=SUMMARY)
            for number in range(more)
        )
        ActionItem.of(user.pk).bulk_create(
            ActionItem(user=user, client=own, document=document, title=f"Something to do {number}")
            for number in range(more)
        )
        half = Document.of(user.pk).order_by("pk").values("pk")[: count // 2]
        Document.of(user.pk).filter(pk__in=half).update(state=DocumentState.REVIEW)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # as autovacuum would do


def _spread_over_days(user: User, count: int) -> None:
    now = timezone.now()
    sessions = list(Session.unscoped.filter(user=user).order_by("pk")[:count])
    for number, session in enumerate(sessions):
        session.last_active_at = now - timedelta(hours=5 * number)
    Session.unscoped.bulk_update(sessions, ["last_active_at"], batch_size=500)


if __name__ == "__main__":
    fill_lists(int(sys.argv[1]))
