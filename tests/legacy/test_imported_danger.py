"""Words of danger in an import raise no card and count nowhere; recent ones make Sage careful."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from coaching.models import CardCount
from coaching.safety.card import RECENT
from coaching.turns.preview import preview_request
from sessions_app.models import SafetyVerdict, Session
from tests.legacy.test_import_command import one_session, run_import, write

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = "I want to end it tonight."


@pytest.fixture
def imported(tmp_path: Path, user: User) -> User:
    """Somebody with two conversations that hold the same words, of last week and of years ago."""
    old = timezone.now() - timedelta(days=800)
    sessions = [_session("old", old), _session("new", timezone.now() - RECENT / 2)]
    run_import(write(tmp_path, {"sessions": sessions}), user)
    return user


def _session(key: str, said_at: Any) -> dict[str, Any]:
    texts = (("user", "Hello."), ("user", WORDS), ("assistant", "Please call somebody."), ("user", "I will."))
    messages = [
        {
            "id": f"{key}-{place}",
            "role": role,
            "content": text,
            "created_at": (said_at + timedelta(minutes=place)).isoformat(),
        }
        for place, (role, text) in enumerate(texts)
    ]
    session: dict[str, Any] = one_session(*messages, id=key)["sessions"][0]
    return session


def request_of(user: User, key: str | None) -> str:
    """Return the text of the next request, in that conversation or in a new one."""
    session = Session.of(user.pk).get(metadata__imported_id=key) if key else None
    return preview_request(user_id=user.pk, now=timezone.now(), session=session).to_text()


def test_no_card_is_shown_stored_or_counted(imported: User, client: Client) -> None:
    client.force_login(imported)
    for session in Session.of(imported.pk):
        page = client.get(f"/chat/{session.pk}/").content.decode()
        assert WORDS in page
        assert "safety-card" not in page
    assert not SafetyVerdict.of(imported.pk).exists()
    assert not CardCount.objects.exists()
    header = request_of(imported, None)
    assert "Last session" in header
    assert "card with help lines" not in header


def test_sage_takes_care_where_it_was_said_a_few_days_ago(imported: User) -> None:
    recent, old = request_of(imported, "new"), request_of(imported, "old")
    assert ("<offer arc=" in recent, '<skill name="crisis-support">' in recent) == (False, True)
    assert ("<offer arc=" in old, '<skill name="crisis-support">' in old) == (False, False)
    assert "in another program" in old, "it is remembered everywhere"
    # The section says that the page shows a card, and it shows none.
    assert 'shown="yes">' not in recent
