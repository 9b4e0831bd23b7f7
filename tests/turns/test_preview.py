"""`manage.py show_prompt`: the next request as text, without a write, for the person's own conversations."""

import io
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from pytest_django import Settings

from coaching.models import Profile
from sessions_app import session_services
from sessions_app.models import Message, Session, SessionKind, SessionStatus
from tests.conftest import MakeUser
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db(transaction=True)


def shown(user: User, **options: Any) -> str:
    """Return what the command prints, in a transaction that can't write."""
    said = io.StringIO()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
        call_command("show_prompt", user=user.username, stdout=said, **options)
    return said.getvalue()


def test_a_new_conversation_of_any_kind_is_shown_and_nothing_is_written(user: User) -> None:
    text = shown(user)
    assert "===== tool: save_file" in text
    assert "You are Sage, a life coach" in text
    assert '<skill name="first-talk">' in text
    assert text.endswith("(the next message)\n")
    assert '<skill name="close-day">' in shown(user, kind=SessionKind.CLOSE_DAY)
    assert not [model for model in (Session, Message, Profile) if model.unscoped.exists()]


def test_the_parts_add_up_to_the_whole(user: User) -> None:
    lines = shown(user, kind=SessionKind.OPEN_DAY, text="Good morning.").split("\n\n")[0].splitlines()
    whole = int(lines[1].split()[2].replace(",", ""))
    parts = {name.strip(): int(tokens.replace(",", "")) for tokens, name in map(split_line, lines[2:])}
    assert parts.pop("conversation") > 0
    assert sum(parts.values()) == whole
    assert parts["system"] > 2_000
    assert "opening: skill:open-day" in parts


def test_the_most_tokens_are_those_of_the_context(user: User, settings: Settings) -> None:
    assert " of 15,000 without the conversation" in shown(user)
    settings.SAGE_CONTEXT_TOKENS = 8_192
    first = shown(user).splitlines()[1]
    most = int(first.split()[4].replace(",", ""))
    assert 3_000 < most < 8_192 / 1.6
    assert int(first.split()[2].replace(",", "")) <= most


def split_line(line: str) -> tuple[str, str]:
    tokens, _, name = line.strip().partition("  ")
    return tokens, name


def test_words_of_danger_are_noticed_as_they_would_be(user: User) -> None:
    text = shown(user, text="I want to kill myself tonight.")
    assert '<skill name="crisis-support">' in text


def test_words_of_grief_bring_its_own_approach_and_no_crisis_text(user: User) -> None:
    text = shown(user, text="My mum died in March and I miss her.")
    assert '<skill name="grief">' in text
    assert '<skill name="crisis-support">' not in text
    assert "help_lines country" not in text


def test_only_an_open_conversation_of_that_person_is_shown(user: User, make_user: MakeUser) -> None:
    session = open_conversation(user)
    assert "(the next message)" in shown(user, session=session.id)
    for other, number in ((make_user("eve"), session.id), (user, uuid.uuid4())):
        with pytest.raises(CommandError, match="has no conversation"):
            shown(other, session=number)
    session_services.end_session(user_id=user.pk, session_id=session.id, status=SessionStatus.ABANDONED)
    with pytest.raises(CommandError, match="has ended"):
        shown(user, session=session.id)
