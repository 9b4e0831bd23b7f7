"""The rows that the version of cfaedee really left, and what the tests of completed imports begin with.

`cfaedee.json` was read from a database into which that version had imported the exports, after this
version's migrations. Titles follow those of the exports, which became longer.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.models import Message, Session, Turn
from tests.legacy.real_exports import EXPORTS
from tests.legacy.test_completed_whole import make_as_before
from tests.legacy.test_import_command import run_import
from tests.legacy.test_whole_exports import written

pytestmark = pytest.mark.django_db(transaction=True)

LEFT: dict[str, Any] = json.loads(Path(__file__).with_name("cfaedee.json").read_text())


def rows_of_sessions(user: User) -> list[dict[str, Any]]:
    return [
        {
            "imported_id": session.metadata["imported_id"],
            "keys": sorted(session.metadata),
            "title": session.title,
            "last_message_number": session.last_message_number,
            "imported_until": session.imported_until,
            "turns": [
                [turn.status, turn.message_number, turn.is_withdrawn, turn.messages.count()]
                for turn in Turn.within(session).order_by("pk")
            ],
            "messages": [
                [said.number, said.role, said.client_id, said.content, said.metadata]
                for said in Message.within(session).order_by("number")
            ],
        }
        for session in Session.of(user.pk).order_by("started_at", "title")
    ]


@pytest.mark.parametrize("name", EXPORTS)
def test_what_is_made_as_before_is_what_that_version_left(name: str, tmp_path: Path, user: User) -> None:
    run_import(written(tmp_path, EXPORTS[name]()), user)
    make_as_before(user)
    assert in_any_order_of_turns(rows_of_sessions(user)) == in_any_order_of_turns(LEFT[name])


def in_any_order_of_turns(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Turns that began at once have random ids; the messages say in which order they are."""
    return [each | {"turns": sorted(each["turns"], key=str)} for each in rows]
