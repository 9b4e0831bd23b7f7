"""What the files of a release contain: one person with what pages show, and one with a row in every table.

`manage.py shell` of that release runs `fill` (`tests.releases.__main__`). Passwords and secrets are only
those of these files.
"""

import asyncio
import json
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.files.drafts import build_draft
from coaching.files.objects import store_object_now
from coaching.models import FileSource, FileType
from sessions_app.models import TurnStatus
from sessions_app.turn_endings import Ending, close_turn
from tests.backups.people import make_person
from tests.files.storing import store_file
from tests.library.rows import make_client, make_document
from tests.stored_turns import open_conversation, open_turn, store_round

EMAIL, PASSWORD = "ada@example.org", "correct-horse-battery-staple"
SECOND_FACTOR = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
LETTER = b"Dear Ada,\nthe lease of the red boat ends on 30 June.\n"


def fill(expected: str) -> None:
    """Fill the database and the storage; write which page must show what."""
    user = User.objects.create_user("ada", EMAIL, PASSWORD, first_name="Ada")
    EmailAddress.objects.create(user=user, email=EMAIL, verified=True, primary=True)
    TOTP.activate(user, SECOND_FACTOR)
    pages: dict[str, str] = {}
    session = open_conversation(user)
    key = open_turn(session)
    store_round(key, text="A numbat sleeps in a log.")
    close_turn(key, Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn"))
    pages[f"/chat/{session.id}/"] = "A numbat sleeps in a log."
    path = asyncio.run(_store_note(user))
    pages[f"/files/{path}"] = "Less work, more boats."
    document = _store_letter(user)
    pages[f"/library/documents/{document}/"] = "letter.txt"
    pages["/files/"] = "life-map"
    make_person("grace")
    values: dict[str, Any] = {
        "email": EMAIL,
        "password": PASSWORD,
        "second_factor": SECOND_FACTOR,
        "pages": pages,
        "bytes": {f"/library/documents/{document}/file/": sha256(LETTER).hexdigest()},
    }
    Path(expected).write_text(json.dumps(values, indent=2) + "\n")


async def _store_note(user: User) -> str:
    draft = build_draft(
        file_type=FileType.OVERVIEW,
        content="Less work, more boats.",
        now=datetime(2026, 11, 29, 9, 0, tzinfo=UTC),
        timezone=ZoneInfo("Europe/Berlin"),
    )
    stored = await store_file(user_id=user.pk, draft=draft, source=FileSource.USER)
    return stored.path


def _store_letter(user: User) -> int:
    stored = store_object_now(user_id=user.pk, data=LETTER)
    document = make_document(
        make_client(user),
        "letter.txt",
        text=LETTER.decode(),
        storage_key=stored.key,
        size=stored.size,
        sha256=stored.sha256,
        content_type="text/plain",
        read_at=timezone.now(),
    )
    return document.pk
