"""A person's archive: complete, readable, only theirs, and safe to unpack.

Over 300 lines, because almost all tests read the archive of the same person.
"""

import io
import json
import re
import stat
import zipfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from html import unescape
from http import HTTPStatus
from io import StringIO
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
import time_machine
from allauth.mfa.totp.internal.auth import TOTP
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, connections
from django.test import AsyncClient, Client
from django.utils import timezone
from django.utils.translation import override

from coaching.clock.days import local_day
from coaching.downloads.allowance import MAX_IN_AN_HOUR
from coaching.downloads.zip_stream import ArchiveNames, safe_name
from coaching.files.drafts import build_draft
from coaching.library.clients import create_client, create_project, own_client
from coaching.library.documents.intake import destination_of, take_in
from coaching.models import (
    ActionItem,
    ClientType,
    Document,
    FileSource,
    FileType,
    KnowledgeEntry,
    Profile,
    StepChange,
    UserFile,
    UserFileVersion,
)
from coaching.personal_data.archive import write_archive
from coaching.personal_data.rows import exported_models, file_name_of
from coaching.views.confirmed_downloads import TOKEN_SECONDS
from sessions_app.database import in_database
from sessions_app.models import Message, MessageRole, Session, ToolCallRecord, ToolCallState, Turn, TurnStatus
from tests.browsers import confirmed_browser_of, sign_in_confirmed
from tests.conftest import PASSWORD
from tests.files.storing import store_file
from tests.languages.conftest import translated
from tests.messages import append_message
from tests.personal_data.life import live
from tests.stored_turns import open_conversation

NOW = datetime(2026, 11, 22, 20, 0, tzinfo=UTC)


def unpacked(data: bytes) -> dict[str, str]:
    """Return the archive's files by their paths below its folder."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name.partition("/")[2]: archive.read(name).decode() for name in archive.namelist()}


def archive_of(user: User) -> dict[str, str]:
    return unpacked(b"".join(write_archive(user, now=NOW)))


# --- Complete, and only theirs ---------------------------------------------------------------------


@pytest.mark.django_db
def test_a_row_of_every_model_is_in_the_archive_and_nothing_of_anybody_else(
    user: User, other_user: User
) -> None:
    rows = live(user, "adaswords")
    live(other_user, "graceswords")
    files = archive_of(user)
    for owned in exported_models():
        (row,) = json.loads(files[f"data/{file_name_of(owned)}"])
        key = owned.model._meta.pk.attname
        assert row[key] in (rows[owned.label].pk, str(rows[owned.label].pk)), owned.label
    whole = "\n".join([*files, *files.values()])
    assert "adaswords coaching.UserFileVersion.content" in files["files/life-map/career.md"]
    assert "graceswords" not in whole
    assert "grace" not in whole
    assert user.password not in whole


@pytest.mark.django_db
def test_no_query_of_an_archive_has_a_time_limit_and_what_follows_has_its_own_again(user: User) -> None:
    live(user, "adaswords")
    usual, limits = _time_limits(), []

    def note_limit(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("SELECT"):
            limits.append(_time_limits())
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note_limit):
        between = [_time_limits() for _ in write_archive(user, now=NOW)]
    _of_the_profile, *of_the_life = limits
    assert len(of_the_life) > 20
    assert set(of_the_life) == {("0", "0")}
    assert set(between) == {usual}
    assert "0" not in usual


def _time_limits() -> tuple[str, ...]:
    held = connection.connection
    names = ("statement_timeout", "idle_in_transaction_session_timeout")
    return tuple(str(held.execute(f"SHOW {name}").fetchone()[0]) for name in names)


@pytest.mark.django_db
def test_somebody_who_has_just_come_gets_an_archive_too(user: User) -> None:
    files = archive_of(user)
    assert json.loads(files["data/account.json"])["username"] == "ada"
    assert json.loads(files["data/messages.json"]) == []
    assert "# What Sage has stored about you" in files["README.md"]


# --- Readable -------------------------------------------------------------------------------------


@pytest.fixture
def session(user: User) -> Session:
    Profile.unscoped.create(user=user, name="Ada", timezone="Asia/Tokyo")
    return open_conversation(user)


def answer(
    session: Session, said: str, *, at: datetime, answer: str | None = None, calls: Any = (), **fields: Any
) -> Turn:
    """Store a message and, unless None, its answer."""
    closed = {"status": TurnStatus.COMPLETED, "ended_at": NOW}
    turn = Turn.unscoped.create(session=session, **closed | fields)
    messages = [append_message(session=session, turn=turn, role=MessageRole.USER, content=said)]
    for position, call in enumerate(calls):
        ToolCallRecord.unscoped.create(
            turn=turn, round_number=1, position=position, tool_use_id=str(position), **call
        )
    if answer is not None:
        metadata = {
            "round_ends": [len(answer)],
            "notes": [{"round": 1, "text": "Looking at\nyour week."}],
            "tool_calls": [
                {"id": "s", "name": "save_file", "round": 1, "is_error": False, "input": {},
                 "result": '{"path": "life-map/career.md"}'}
            ],
        }  # fmt: skip
        messages.append(
            append_message(
                session=session, turn=turn, role=MessageRole.ASSISTANT, content=answer, metadata=metadata
            )
        )
    for message in messages:
        Message.unscoped.filter(pk=message.pk).update(created_at=at)
    return turn


@pytest.mark.django_db
def test_a_conversation_is_a_page_that_says_who_said_what_and_when(user: User, session: Session) -> None:
    asked = {
        "name": "show_options",
        "state": ToolCallState.ANSWERED,
        "finished_at": NOW,
        "input": {"prompt": "Which one?", "options": [{"label": "Rest"}, {"label": "Work", "value": "w"}]},
        "value": "w",
    }
    rated = {
        "name": "show_pulse_check",
        "state": ToolCallState.ANSWERED,
        "finished_at": NOW,
        "input": {"context": "How is it?", "domains": ["career", "health"]},
        "result": json.dumps({"ratings": {"career": {"new": 4, "old": 2}}}),
        "value": {"ratings": {"career": 4}, "note": "Better\nnow"},
    }
    dismissed = {
        "name": "show_options",
        "state": ToolCallState.DISMISSED,
        "finished_at": NOW,
        "input": {"prompt": "And then?", "options": [{"label": "Later"}]},
    }
    answer(
        session,
        "I am tired.\n\n### Sage, 10:00\n\nI said nothing.",
        at=datetime(2026, 11, 20, 16, 5, tzinfo=UTC),
        answer="# Rest\n\nThen *rest*.",
        calls=[asked, rated, dismissed],
    )
    answer(session, "Wrong words", at=datetime(2026, 11, 20, 16, 6, tzinfo=UTC), is_withdrawn=True)
    answer(
        session,
        "Again",
        at=datetime(2026, 11, 22, 3, 0, tzinfo=UTC),
        status=TurnStatus.FAILED,
        user_notice="The model is overloaded.",
    )
    Session.unscoped.filter(id=session.id).update(started_at=datetime(2026, 11, 20, 16, 0, tzinfo=UTC))
    files = archive_of(user)
    (name,) = [name for name in files if name.startswith("conversations/")]
    assert name == f"conversations/2026-11-20-i-am-tired-sage-1000-i-said-nothing-{str(session.id)[:8]}.md"
    assert files[name] == (
        "# I am tired. ### Sage, 10:00 I said nothing.\n\n"
        "Conversation · started Friday, 20 November 2026, 01:00 · still open."
        " Times are in the time zone Asia/Tokyo. A day lasts until 04:00.\n\n"
        "## Friday, 20 November 2026\n\n"
        "### You, 01:05\n\n"
        "> I am tired.\n>\n> ### Sage, 10:00\n>\n> I said nothing.\n\n"
        "### Sage, 01:05\n\n"
        "*Looking at your week.*\n\n"
        "# Rest\n\nThen *rest*.\n\n"
        "**Sage asked:** Which one?\n\n- [ ] Rest\n- [x] Work\n\n"
        "**Sage asked:** How is it?\n\n- Career: 4 of 5, previously 2\n\n"
        "**Your note:**\n\n> Better\n> now\n\n"
        "**Sage asked:** And then?\n\n- [ ] Later\n\n*Skipped.*\n\n"
        "**Saved to Files:** [Life map: Career](../files/life-map/career.md)\n\n"
        "### You, 01:06 (withdrawn)\n\n> Wrong words\n\n"
        "## Sunday, 22 November 2026\n\n"
        "### You, 12:00\n\n> Again\n\n*The model is overloaded.*\n"
    )


@pytest.mark.django_db
def test_an_archive_speaks_the_language_of_its_reader(user: User, session: Session) -> None:
    answer(session, "Hallo", at=NOW)
    with override("de"):
        pieces = write_archive(user, now=NOW)
    files = unpacked(b"".join(pieces))
    title = translated("What Sage has stored about %(name)s", "de") % {"name": "Ada"}
    assert files["README.md"].startswith(f"# {title}\n")
    assert translated("gives access to the account", "de") in files["README.md"]
    assert f" | {translated('What’s in it', 'de')} |" in files["README.md"]
    (page,) = [text for name, text in files.items() if name.startswith("conversations/")]
    assert f"### {translated('You', 'de')}, " in page
    assert translated("still open", "de") in page


@pytest.mark.django_db
def test_a_question_that_waits_is_in_the_page(user: User, session: Session) -> None:
    waiting = {
        "name": "show_options",
        "state": ToolCallState.PENDING,
        "input": {"prompt": "Which one?", "options": [{"label": "Rest"}]},
    }
    turn = answer(session, "Hello", at=NOW, status=TurnStatus.AWAITING_USER, ended_at=None, calls=[waiting])
    turn.rounds.create(number=1, part=1, blocks="[]", text="Tell me.")
    (page,) = [text for name, text in archive_of(user).items() if name.startswith("conversations/")]
    assert page.endswith(
        "### Sage, waiting for your answer\n\nTell me.\n\n"
        "**Sage asked:** Which one?\n\n- [ ] Rest\n\n*You haven’t answered yet.*\n"
    )


def draft_of(text: str, day: int) -> Any:
    return build_draft(
        file_type=FileType.OVERVIEW,
        content=text,
        now=datetime(2026, 11, day, 9, 0, tzinfo=UTC),
        timezone=ZoneInfo("UTC"),
    )


@pytest.mark.django_db(transaction=True)
async def test_files_are_current_and_older_versions_are_separate(user: User, disk_storage: Path) -> None:
    for day, text in ((19, "First words"), (20, "Second words"), (21, "Third words")):
        await store_file(user_id=user.pk, draft=draft_of(text, day), source=FileSource.TOOL)
    files = await in_database(archive_of, user)
    newest = await in_database(UserFileVersion.unscoped.get, number=3)
    assert files["files/life-map/_overview.md"] == newest.content
    assert "First words" in files["old-versions/life-map/_overview/1.md"]
    assert "Second words" in files["old-versions/life-map/_overview/2.md"]
    versions = json.loads(files["data/user-file-versions.json"])
    assert [row["number"] for row in versions] == [1, 2, 3]
    assert {"content", "storage_key"}.isdisjoint(versions[0])


# --- Safe to unpack --------------------------------------------------------------------------------

HOSTILE_PATHS = [
    "../../etc/passwd", "/etc/passwd", "..\\..\\windows\\system32", "C:\\autoexec.bat", "a/../../b.md",
    "./x.md", "a//b.md", "nul\x00byte.md", "CON.md", "life-map/LPT1", "x" * 255, "a/" * 100 + "b.md",
    "\u202egpj.md",
    "...", "dots...", "", "/", "name\nwith\nlines.md", "trailing. ", "~/.ssh/authorized_keys", "ﬀ/．．/x.md",
]  # fmt: skip


@pytest.mark.django_db(transaction=True)
async def test_documents_are_in_their_folders_byte_for_byte_and_a_missing_one_is_named(
    user: User, disk_storage: Path
) -> None:
    await in_database(_fill_library, user)
    with zipfile.ZipFile(
        io.BytesIO(await in_database(lambda: b"".join(write_archive(user, now=NOW))))
    ) as zipped:
        found = {name.partition("/")[2]: zipped.read(name) for name in zipped.namelist()}
    assert found["library/Me/Work/pay.bin"] == BYTES
    assert found["library/Mill-Co/Purchase/not filed/lease.bin"] == BYTES[::-1]
    unread, lost = found["library/missing.md"].decode().split("These files were lost.")
    assert "Download it again later" in unread
    assert "library/Me/Work/gone.bin" in unread
    assert "library/Me/Work/lost.bin" in lost
    assert "The lease ends in May." in found["library/Mill-Co/knowledge.md"].decode()
    assert (
        "- [ ] Call the bank (due 3 December 2026, weekly on Thursday)\n  “Call us”\n"
        "  How it went: They hung up.\n"
        "  - 22 November 2026: Moved (it was due on 1 December 2026) “Not yet, Thursday.”\n"
        "  - 23 November 2026: Done (it was due on 3 December 2026) “I called.” “They hung up.”\n"
    ) in found["library/Mill-Co/next-steps.md"].decode()
    assert "`library/`" in found["README.md"].decode()


BYTES = bytes(range(256)) * 1_000


def _fill_library(user: User) -> None:
    mine = own_client(user.pk)
    mill = create_client(user_id=user.pk, name="Mill/Co", client_type=ClientType.COMPANY)
    purchase = create_project(user_id=user.pk, client_id=mill.pk, name="Purchase")
    for name, data, client_id, project_id in (
        ("pay.bin", BYTES, mine.pk, None),
        ("gone.bin", b"x", mine.pk, None),
        ("lost.bin", b"y", mine.pk, None),
        ("lease.bin", BYTES[::-1], mill.pk, purchase.pk),
    ):
        place = destination_of(user_id=user.pk, client_id=client_id, project_id=project_id)
        take_in(user_id=user.pk, name=name, data=data, destination=place)
    Document.of(user.pk).filter(client=mine).update(state="filed", folder="Work")
    Document.of(user.pk).filter(name="gone.bin").update(storage_key="users/0/gone")
    Document.of(user.pk).filter(name="lost.bin").update(storage_key="users/0/lost", sha256="")
    KnowledgeEntry.of(user.pk).create(client=mill, title="Lease", content="The lease ends in May.")
    due = NOW.replace(month=12, day=1).date()
    step = ActionItem.of(user.pk).create(client=mill, title="Call the bank", due_date=due, quote="Call us")
    thursday = due.replace(day=3)
    step.due_date, step.repeats, step.outcome = thursday, "thu", "They hung up."
    step.save()
    changes = StepChange.of(user.pk)
    moved_at = NOW.replace(month=11, day=22, hour=12)
    changes.create(action_item=step, kind="moved", due_date=due, at=moved_at, quote="Not yet, Thursday.")
    said = {"quote": "I called.", "outcome": "They hung up."}
    changes.create(action_item=step, kind="done", due_date=thursday, at=moved_at.replace(day=23), **said)


@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_no_name_leads_out_of_the_folder_that_it_is_unpacked_in(path: str) -> None:
    name = safe_name(path)
    parts = PurePosixPath(name).parts
    assert parts
    assert not PurePosixPath(name).is_absolute()
    assert all(re.fullmatch(r"[^\\:*?\"<>|\x00-\x1f]{1,100}", part) for part in parts), name
    assert all(part.strip(" .") == part for part in parts), name
    assert safe_name(name) == name


@pytest.mark.parametrize(
    "path",
    ["life-map/career.md", "sage/context.md", "life-map/_overview.md", "captures/2026-11-21-093000-2.md"],
)
def test_a_name_that_sage_has_made_stays_as_it_is(path: str) -> None:
    assert safe_name(path) == path


def test_two_entries_never_have_one_name_whatever_the_system_thinks_of_capitals() -> None:
    names = ArchiveNames("all")
    taken = [names.take(path) for path in ("a/b.md", "A/B.md", "a/b.md", "a/b", "a/../b", "a/b-2.md")]
    assert taken == [
        f"all/{name}" for name in ("a/b.md", "A/B-2.md", "a/b-3.md", "a/b", "a/b-2", "a/b-2-2.md")
    ]


@pytest.mark.django_db
def test_an_archive_with_hostile_names_stays_in_its_folder(user: User) -> None:
    for number, path in enumerate(dict.fromkeys(path.replace("\x00", "") for path in HOSTILE_PATHS)):
        file = UserFile.unscoped.create(user=user, path=path, file_type="domain", version_number=1)
        UserFileVersion.unscoped.create(
            file=file, number=1, content=path, size=1, sha256="", storage_key=str(number), source="import"
        )
    with zipfile.ZipFile(io.BytesIO(b"".join(write_archive(user, now=NOW)))) as archive:
        names = archive.namelist()
        assert len(set(names)) == len(names)
        assert all(
            name.startswith("sage-export-2026-11-22/") and ".." not in name.split("/") for name in names
        )
        assert not [info for info in archive.infolist() if stat.S_ISLNK(info.external_attr >> 16)]


# --- By command and from the page -----------------------------------------------------------------


@pytest.mark.django_db
def test_the_command_writes_the_archive_for_its_owner_alone(user: User, tmp_path: Path) -> None:
    live(user, "adaswords")
    out = tmp_path / "ada.zip"
    told = StringIO()
    call_command("export_user", "ada", out=out, stdout=told)
    assert "adaswords" in unpacked(out.read_bytes())["data/messages.json"]
    assert told.getvalue() == f"ada: {out.stat().st_size:,} bytes in {out}\n"
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [out]
    call_command("export_user", "ADA@example.org", out=out, stdout=told)
    call_command("export_user", str(user.pk), out=out, stdout=told)


@pytest.mark.django_db
def test_the_command_says_what_is_wrong_and_leaves_no_half_archive(user: User, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is nobody called nobody"):
        call_command("export_user", "nobody", out=tmp_path / "x.zip")
    with pytest.raises(CommandError, match="can't be written"):
        call_command("export_user", "ada", out=tmp_path / "missing" / "x.zip")
    (tmp_path / "folder.zip").mkdir()
    with pytest.raises(CommandError, match="can't be written"):
        call_command("export_user", "ada", out=tmp_path / "folder.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.zip"]


@pytest.fixture
async def browser(user: User) -> AsyncIterator[AsyncClient]:
    """The person's browser, for pages that respond in pieces."""
    client = AsyncClient()
    await in_database(sign_in_confirmed, client, user)
    yield client
    await sync_to_async(connections.close_all)()


async def bytes_of(response: Any) -> bytes:
    return b"".join([piece async for piece in response.streaming_content])


@pytest.mark.django_db(transaction=True)
async def test_the_page_sends_the_archive_while_it_is_made(
    browser: AsyncClient, user: User, other_user: User
) -> None:
    await in_database(live, user, "adaswords")
    await in_database(live, other_user, "graceswords")
    response = await browser.post("/settings/export/")
    assert response["Content-Type"] == "application/zip"
    today = local_day(timezone.now(), ZoneInfo("Asia/Tokyo"))  # as `live` sets it
    assert response["Content-Disposition"] == f'attachment; filename="sage-export-{today}.zip"'
    assert response["X-Content-Type-Options"] == "nosniff"
    whole = "\n".join(unpacked(await bytes_of(response)).values())
    assert "adaswords" in whole
    assert "graceswords" not in whole
    again = await browser.post("/settings/export/")
    assert again["Content-Type"] == "application/zip"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
async def test_one_archive_at_a_time_is_enough(browser: AsyncClient, user: User) -> None:
    """Several pieces long: a reader that disconnects in between frees the slot."""
    session = await in_database(open_conversation, user)
    for minutes in range(40):
        text = "".join(chr(33 + (minutes * i * 7919) % 90) for i in range(20_000))
        await in_database(answer, session, text, at=NOW + timedelta(minutes=minutes))
    first: Any = await browser.post("/settings/export/")
    pieces = aiter(first.streaming_content)
    await anext(pieces)
    for ask, path in ((browser.post, "/settings/export/"), (browser.get, "/files/all.zip")):
        second = await ask(path)
        assert second.status_code == HTTPStatus.FOUND
        page = await browser.get(second["Location"])
        assert "already in progress" in page.content.decode()
    first.close()
    third = await browser.post("/settings/export/")
    assert len(unpacked(await bytes_of(third))) > 10


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
async def test_archives_per_hour_are_limited_and_the_error_gives_the_wait(
    browser: AsyncClient, other_user: User
) -> None:
    for number in range(MAX_IN_AN_HOUR):
        response = await (browser.get("/files/all.zip") if number % 2 else browser.post("/settings/export/"))
        assert await bytes_of(response)
    refused = await browser.get("/files/all.zip")
    assert (refused.status_code, refused["Location"]) == (HTTPStatus.FOUND, "/files/")
    said = (await browser.get("/files/")).content.decode()
    assert "You’ve done that too often in a short time. Please try again in 60 minutes." in said
    assert (await browser.post("/settings/export/"))["Location"] == "/settings/data/"
    other = AsyncClient()
    await in_database(sign_in_confirmed, other, other_user)
    assert await bytes_of(await other.get("/files/all.zip"))


@pytest.mark.django_db(transaction=True)
async def test_an_archive_that_fails_locks_nobody_out(
    browser: AsyncClient, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Django doesn't close a response whose content raised."""

    async def failing(*_: object, **__: object) -> AsyncIterator[bytes]:
        yield b"PK"
        raise OperationalError

    with monkeypatch.context() as patched:
        patched.setattr("coaching.views.personal_data.stream_archive", failing)
        response = await browser.post("/settings/export/")
        with pytest.raises(OperationalError):
            await bytes_of(response)
    again = await browser.post("/settings/export/")
    assert unpacked(await bytes_of(again))


@pytest.mark.django_db(transaction=True)
def test_an_archive_is_only_sent_when_it_is_asked_for_by_form(client: Client, user: User) -> None:
    sign_in_confirmed(client, user)
    assert client.get("/settings/export/")["Location"] == "/settings/data/"
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(user)
    assert strict.post("/settings/export/").status_code == HTTPStatus.FORBIDDEN


START = re.compile(r'<meta http-equiv="refresh" content="0; url=([^"]+)">')


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("method", "path"),
    [("post", "/settings/export/"), ("get", "/files/all.zip"), ("get", "/files/all.zip?versions=all")],
)
async def test_everything_is_sent_once_the_password_was_given_again_without_another_press(
    user: User, method: str, path: str
) -> None:
    await in_database(live, user, "adaswords")
    client = AsyncClient()
    await client.aforce_login(user)
    asked = await getattr(client, method)(path)
    assert asked.status_code == HTTPStatus.FOUND
    page = await client.get(asked["Location"])
    assert "Confirm it’s you" in page.content.decode()
    (next_page,) = re.findall(r'name="next" value="([^"]+)"', page.content.decode())
    form = {"password": "wrong", "next": unescape(next_page)}
    assert f'value="{next_page}"' in (await client.post("/accounts/reauthenticate/", form)).content.decode()
    confirmed = await client.post("/accounts/reauthenticate/", form | {"password": PASSWORD})
    begins = (await client.get(confirmed["Location"])).content.decode()
    (url,) = START.findall(begins)
    response = await client.get(unescape(url))
    assert response["Content-Type"] == "application/zip"
    assert "adaswords" in "".join(unpacked(await bytes_of(response)).values())
    await sync_to_async(connections.close_all)()


@pytest.mark.django_db(transaction=True)
def test_who_has_no_password_confirms_by_a_code(client: Client, user: User) -> None:
    TOTP.activate(user, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    user.set_unusable_password()
    user.save()
    client.force_login(user)
    assert client.post("/settings/export/")["Location"].startswith("/accounts/2fa/reauthenticate/?next=")


@pytest.mark.django_db(transaction=True)
def test_a_choice_counts_for_who_made_it_for_what_and_a_while(
    client: Client, user: User, other_user: User
) -> None:
    client.force_login(user)
    begin = parse_qs(urlsplit(client.post("/settings/export/")["Location"]).query)["next"][0]
    other = confirmed_browser_of(other_user)
    sign_in_confirmed(client, user)
    export = begin.replace("begin/", "")
    assert other.get(begin)["Location"] == other.get(export)["Location"] == "/settings/data/"
    assert client.get(export)["Content-Type"] == "application/zip"
    files = parse_qs(urlsplit(Client().get("/files/all.zip")["Location"]).query)
    assert files == {"next": ["/files/all.zip"]}  # the sign-in page
    with time_machine.travel(timezone.now() + timedelta(seconds=TOKEN_SECONDS + 1)):
        assert client.get(export)["Location"].startswith(("/accounts/login/", "/settings/data/"))
