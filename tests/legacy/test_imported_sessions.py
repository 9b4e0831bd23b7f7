"""Imported conversations are their user's own: listed, continued, exported, and removed with the person."""

import io
import json
import zipfile
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from coaching.job_queue.names import BRIEF_JOB, TITLE_JOB
from coaching.jobs.tasks import enqueue_missing_briefs
from coaching.live.runner import Runner
from coaching.models import Import, UserFile
from coaching.practice import PracticeServer
from coaching.turns.request import TurnRequest
from sessions_app.database import in_database
from sessions_app.limits import RateLimit
from sessions_app.models import Message, MessageRole, Session, Turn
from sessions_app.services import open_turn
from sessions_app.usage import count_turns
from tests.jobs.conftest import WorkOff, jobs_named
from tests.legacy.exports import chatgpt_conversation, claude_conversation, write_sage_export
from tests.legacy.test_import_command import run_import, write
from tests.stored_turns import new_turn

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queue")]


def recent(number: int) -> dict[str, Any]:
    """Return a session of the last minutes, with a greeting of Sage's before its messages."""
    moment = timezone.now() - timedelta(seconds=50)
    return {
        "id": f"r-{number}",
        "kind": "open_conversation",
        "status": "active",
        "messages": [
            {
                "id": f"{number}-{place}",
                "role": ("assistant", "user")[place % 2],
                "content": f"Words {number} {place}. [SESSION_COMPLETE]",
                "created_at": (moment + timedelta(seconds=place)).isoformat(),
            }
            for place in range(40)
        ],
    }


@pytest.fixture
def recent_export(tmp_path: Path) -> Path:
    return write(tmp_path, {"sessions": [recent(number) for number in range(25)]})


def test_the_conversations_are_listed_and_shown_by_their_dates(
    tmp_path: Path, user: User, client: Client
) -> None:
    run_import(write(tmp_path, [chatgpt_conversation()]), user)
    run_import(write(tmp_path, [claude_conversation()]), user)
    client.force_login(user)
    listed = client.get("/chat/").content.decode()
    assert "Growing artichokes" in listed
    assert "A letter to the landlord" in listed
    assert "2023" in listed
    session = Session.of(user.pk).get(title="Growing artichokes", archived_at=None)
    shown = client.get(f"/chat/{session.pk}/").content.decode()
    assert "In deep soil with sun." in shown
    assert "2023" in shown
    assert "abandoned branch" not in shown
    # Where it comes from, and the way to its other branch and back.
    assert "From ChatGPT, " in shown
    branch = Session.of(user.pk).get(metadata__origin__branch_of="c-1")
    assert f'Other branches: <a href="/chat/{branch.pk}/">1</a>' in shown
    other = client.get(f"/chat/{branch.pk}/").content.decode()
    assert "The abandoned branch." in other
    assert f'another branch of <a href="/chat/{session.pk}/">this conversation</a>' in other


def test_imported_turns_count_in_no_limit(recent_export: Path, user: User) -> None:
    run_import(recent_export, user)
    now = timezone.now()
    assert count_turns(user_id=user.pk, since=now - timedelta(days=1), until=now) == 0
    new = new_turn(Session.of(user.pk).all()[0], rate_limit=RateLimit(turns=1, seconds=60))
    opened = open_turn(new, text="And now?", client_id=None)
    assert opened.is_new


@pytest.mark.slow
async def test_nothing_is_written_about_an_import_until_its_user_goes_on_in_it(
    recent_export: Path, user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    """Its brief and its title cost; then they are made as for every other conversation."""
    await in_database(run_import, recent_export, user)
    await enqueue_missing_briefs(timestamp=0)
    assert not await jobs_named(BRIEF_JOB) + await jobs_named(TITLE_JOB)

    session = await in_database(Session.of(user.pk).get, metadata__imported_id="r-7")
    practice.script(["I remember."])
    runner = Runner()
    await runner.open_turn(
        TurnRequest(kind="message", user_id=user.pk, session_id=session.pk, text="What did I say?")
    )
    assert await runner.wait_until_idle(session.pk, seconds=60)
    await runner.drain(2)
    said = practice.requests[-1].body["messages"]
    assert "Words 7 39." in json.dumps(said)
    assert "SESSION_COMPLETE" not in json.dumps(
        [message for message in said if message["role"] == "assistant"]
    )
    await in_database(session.refresh_from_db)
    assert session.metadata["imported_id"] == "r-7"
    assert session.last_message_number == 42
    await enqueue_missing_briefs(timestamp=0)
    assert {job.args["session_id"] for job in await jobs_named(BRIEF_JOB)} == {str(session.pk)}


def test_the_export_has_them_and_a_removal_takes_them(tmp_path: Path, user: User, other_user: User) -> None:
    path = write_sage_export(tmp_path / "export.json", sessions=4, messages=24, files=2, ratings=3)
    for person in (user, other_user):
        run_import(path, person)
    out = tmp_path / "all.zip"
    call_command("export_user", user.username, "--out", str(out), stdout=StringIO())
    with zipfile.ZipFile(io.BytesIO(out.read_bytes())) as archive:
        names = archive.namelist()
        text = b"".join(archive.read(name) for name in names).decode()
    assert sum("/conversations/2023-01-0" in name for name in names) == 4
    assert "lighthouse3" in text
    assert '"imported_id": "s-3"' in text
    assert any(name.endswith("data/imports.json") for name in names)

    call_command("delete_user", user.username, "--yes", stdout=StringIO())
    for model in (Session, Turn, Message, UserFile, Import):
        assert not model.of(user.pk).exists()
        assert model.of(other_user.pk).exists()
    assert Message.of(other_user.pk).filter(role=MessageRole.USER).count() == 12
