"""Removing a person leaves nothing: no row, object or socket, whatever fails in between.

Over 300 lines, because it has every step of one removal, in its order.
"""

import asyncio
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from io import StringIO
from pathlib import Path
from zoneinfo import ZoneInfo

import boto3
import psycopg
import pytest
from asgiref.sync import async_to_sync
from django.conf import settings as configured
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest_django import Settings

from coaching.files.drafts import build_draft
from coaching.files.garbage import collect_garbage
from coaching.job_queue.names import REMOVAL_JOB
from coaching.job_queue.queue import enqueue
from coaching.models import FileSource, FileType, Skill, UserFile
from coaching.personal_data.ownership import owner_of_argument
from coaching.personal_data.removal import remove_person
from coaching.practice.script import Hold, Reply
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import ModelUsage, Session, Turn
from tests.browsers import browser_of
from tests.conftest import PASSWORD, MakeUser
from tests.files.auditor import audit_files, stored_keys
from tests.files.conftest import S3
from tests.files.storing import store_file
from tests.jobs.conftest import WorkOff, empty_queue, make_due, queue, work_off
from tests.live_sage import LiveSage, open_socket, session_cookie, url_of_test_database
from tests.personal_data.life import live
from tests.personal_data.traces import traces_of, words_of_rows
from tests.sage.processes import StartedProcess
from tests.stored_turns import open_conversation

__all__ = ["queue", "work_off"]

pytestmark = pytest.mark.django_db(transaction=True)

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
NAME = "ada.the.first"
ADDRESS = f"{NAME}@example.org"


@pytest.fixture(autouse=True)
def _no_jobs_left(transactional_db: None) -> Iterator[None]:
    yield
    empty_queue()


@pytest.fixture
def user(make_user: MakeUser) -> User:
    """A person with a name that no hash contains by chance."""
    return make_user(NAME)


def write_files(user: User, *texts: str) -> None:
    """Store versions of the person's overview, as Sage does."""
    for text in texts:
        draft = build_draft(
            file_type=FileType.OVERVIEW, content=f"{user.username} {text}", now=NOW, timezone=ZoneInfo("UTC")
        )
        async_to_sync(store_file)(user_id=user.pk, draft=draft, source=FileSource.TOOL)


def whole_life(user: User, word: str) -> set[str]:
    """Create rows of every model, files, jobs and a sign-in; return everything that identifies the person."""
    rows = live(user, word)
    write_files(user, "one", "two", "three")
    session = rows["sessions_app.Session"]
    enqueue("summarise_session", key=f"summary:{session.pk}", session_id=str(session.pk))
    Client().force_login(user)
    return {word, *words_of_rows(user, rows.values())}


def looked_at(operator: User, seen: object) -> None:
    """Log that an operator viewed somebody's row."""
    LogEntry.objects.create(
        user=operator,
        content_type=ContentType.objects.get_for_model(seen),  # type: ignore[arg-type]
        object_id=str(seen.pk),  # type: ignore[attr-defined]
        object_repr="what was looked at",
        action_flag=CHANGE,
    )


def remove(name: str) -> str:
    told = StringIO()
    call_command("delete_user", name, yes=True, stdout=told)
    return told.getvalue()


# --- Nothing is left ------------------------------------------------------------------------------


def test_no_row_and_no_object_is_left_and_nobody_else_loses_any(
    each_storage: str, user: User, other_user: User, operator: User
) -> None:
    words = whole_life(user, "adaswords")
    theirs = whole_life(other_user, "graceswords")
    for seen in (user, user.profile, *user.coaching_sessions.all()):
        looked_at(operator, seen)
    looked_at(operator, other_user)
    storages["default"].save(f"users/{user.pk}/{'a' * 32}", ContentFile(b"an orphan of a failed write"))
    storages["default"].save(f"users/{user.pk}1/{'b' * 32}", ContentFile(b"somebody whose number begins so"))
    kept = {key for key in stored_keys() if not key.startswith(f"users/{user.pk}/")}
    before = len(traces_of(other_user.pk, theirs))
    assert len(traces_of(user.pk, words)) > 20

    told = remove(NAME)

    assert re.fullmatch(rf"{NAME} is gone: \d+ rows and 4 stored objects\.\n", told)
    assert traces_of(user.pk, words) == []
    assert stored_keys() == kept
    assert len(traces_of(other_user.pk, theirs)) == before
    assert LogEntry.objects.filter(user=operator).count() == 1
    assert not UserFile.unscoped.filter(user=user).exists()
    async_to_sync(in_database)(audit_overview, other_user)


def audit_overview(user: User) -> None:
    UserFile.unscoped.filter(user=user).exclude(path="life-map/_overview.md").delete()
    audit_files(user.pk)


def test_what_an_operator_changed_stays_without_their_name(disk_storage: Path, operator: User) -> None:
    call_command("sync_skills", verbosity=0)
    skill = Skill.objects.get(name="open-day")
    skill.save_with_reason(editor=operator, reason="Kinder words")
    looked_at(operator, skill)
    told = remove("olive")
    assert "olive is gone" in told
    line = skill.history.first()
    assert (line.history_change_reason, line.history_user_id) == ("Kinder words", None)
    assert traces_of(operator.pk, {"olive"}) == []


@pytest.mark.s3
def test_a_bucket_that_keeps_what_is_deleted_keeps_nothing_of_a_person(s3_storage: S3, user: User) -> None:
    options = configured.STORAGES["default"]["OPTIONS"]
    client = boto3.client(
        "s3", endpoint_url=options["endpoint_url"], aws_access_key_id="test", aws_secret_access_key="test",
        region_name="eu-central-1",
    )  # fmt: skip
    try:
        client.put_bucket_versioning(Bucket=s3_storage.bucket, VersioningConfiguration={"Status": "Enabled"})
        write_files(user, "one", "two")
        key = next(iter(stored_keys()))
        client.delete_object(Bucket=s3_storage.bucket, Key=key)  # as versions of Sage before this one did
        assert len(client.list_object_versions(Bucket=s3_storage.bucket)["Versions"]) == 2
        remove(NAME)
        left = client.list_object_versions(Bucket=s3_storage.bucket)
        assert not left.get("Versions")
        assert not left.get("DeleteMarkers")
    finally:
        client.close()


# --- Interrupted ----------------------------------------------------------------------------------


@pytest.mark.s3
def test_a_storage_that_fails_locks_the_person_out_and_a_second_try_ends_it(
    s3_storage: S3, user: User
) -> None:
    words = whole_life(user, "adaswords")
    s3_storage.proxy.fault = "500"
    with pytest.raises(CommandError, match=f"{NAME} is locked out"):
        remove(NAME)
    user.refresh_from_db()
    assert not user.is_active
    assert not user.has_usable_password()
    assert UserFile.unscoped.filter(user=user).exists()
    s3_storage.proxy.fault = "none"
    assert f"{NAME} is gone" in remove(NAME)
    assert traces_of(user.pk, words) == []


def test_a_removal_that_is_killed_half_way_can_be_run_again(disk_storage: Path, user: User) -> None:
    """Killed when the objects are gone and the rows aren't: a row lock stops it there."""
    words = whole_life(user, "adaswords")
    session = Session.unscoped.get(user=user)
    environment = {"DATABASE_URL": url_of_test_database(), "SAGE_DATA_DIR": str(disk_storage.parent)}
    with psycopg.connect(**connection.get_connection_params()) as held:
        held.execute("SELECT 1 FROM sessions_app_session WHERE id = %s FOR UPDATE", [session.pk])
        process = StartedProcess(["manage.py", "delete_user", NAME, "--yes"], environment)
        _until_it_waits_for_a_lock()
        process.kill()
    assert stored_keys() == set()
    assert Session.unscoped.filter(user=user).exists()
    assert f"{NAME} is gone" in remove(NAME)
    assert traces_of(user.pk, words) == []
    with pytest.raises(CommandError, match="There is nobody called ada"):
        remove(NAME)


def _until_it_waits_for_a_lock() -> None:
    with connection.cursor() as cursor:
        for _ in range(600):
            cursor.execute(
                "SELECT pg_sleep(0.05), count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND wait_event_type = 'Lock' AND query LIKE '%sessions_app_session%'"
            )
            if cursor.fetchone()[1]:
                return
    raise AssertionError("it never came to the rows")


async def test_an_object_that_comes_too_late_is_garbage(disk_storage: Path, user: User) -> None:
    await remove_person(user.pk)
    late = f"users/{user.pk}/{uuid.uuid4().hex}"
    await in_database(storages["default"].save, late, ContentFile(b"late"))
    report = await in_database(collect_garbage, now=datetime(2040, 1, 1, tzinfo=UTC))
    assert report.removed == 1


async def test_two_removals_at_once_are_one(disk_storage: Path, user: User) -> None:
    words = await in_database(whole_life, user, "adaswords")
    first, second = await asyncio.gather(remove_person(user.pk), remove_person(user.pk))
    assert bool(first.rows) != bool(second.rows)
    assert await in_database(traces_of, user.pk, words) == []


# --- While Sage runs ------------------------------------------------------------------------------


async def test_a_running_turn_is_stopped_and_sockets_are_closed(
    live_sage: LiveSage, practice: PracticeServer, disk_storage: Path, user: User, other_user: User
) -> None:
    mine = await in_database(open_conversation, user)
    theirs = await in_database(open_conversation, other_user)
    cookies = [await in_database(session_cookie, person) for person in (user, other_user)]
    logged = live_sage.log.stat().st_size
    practice.script([Reply.of("adaswords ", Hold("for ever"), "never read this."), "Still here."])
    async with (
        open_socket(live_sage, mine.id, cookies[0]) as ada,
        open_socket(live_sage, theirs.id, cookies[1]) as grace,
    ):
        await ada.send(type="message", text="Hello")
        await practice.reached("for ever")
        await remove_person(user.pk)
        words = {"adaswords", user.username, str(mine.id)}
        assert await in_database(traces_of, user.pk, words) == []
        assert await ada.closed_with() == 4403
        await grace.send(type="message", text="Are you there?")
        await grace.until("done")
    assert await in_database(traces_of, user.pk, words) == []
    assert await in_database(Turn.unscoped.filter(session=theirs, status="completed").count) == 1
    assert not await in_database(ModelUsage.unscoped.filter(user_id=user.pk).exists)
    assert b"Traceback" not in live_sage.log.read_bytes()[logged:]


# --- From the page --------------------------------------------------------------------------------


def asked_for(client: Client, **changed: str) -> int:
    return client.post(
        "/settings/delete/", {"confirmation": ADDRESS, "password": PASSWORD, **changed}
    ).status_code


async def test_who_deletes_their_account_is_out_at_once_and_gone_when_the_job_has_run(
    work_off: WorkOff, disk_storage: Path, user: User, other_user: User
) -> None:
    def close_account() -> set[str]:
        words = whole_life(user, "adaswords")
        here, elsewhere = Client(), Client()
        here.force_login(user)
        elsewhere.force_login(user)
        response = here.post(
            "/settings/delete/", {"confirmation": ADDRESS, "password": PASSWORD}, follow=True
        )
        assert response.redirect_chain == [("/goodbye/", 302)]
        assert "Your account is closed." in response.content.decode()
        for client in (here, elsewhere):
            assert client.get("/settings/").status_code == HTTPStatus.FOUND
        assert not Client().login(username=NAME, password=PASSWORD)
        return words

    words = await in_database(close_account)
    assert await in_database(User.objects.filter(pk=user.pk).exists)
    await work_off()
    assert not await in_database(User.objects.filter(pk=user.pk).exists)
    # The job's own row has a user id without a user, until the hourly cleanup.
    done = await in_database(lambda: list(ProcrastinateJob.objects.filter(task_name=REMOVAL_JOB)))
    assert [job.status for job in done] == ["succeeded"]
    await in_database(forget_old_jobs)
    await work_off()
    assert await in_database(traces_of, user.pk, words) == []
    assert await in_database(User.objects.filter(pk=other_user.pk).exists)


def forget_old_jobs() -> None:
    app.configure_task("remove_old_jobs", allow_unknown=False).defer(timestamp=0)


@pytest.mark.s3
async def test_the_job_is_tried_until_the_storage_is_back(
    s3_storage: S3, work_off: WorkOff, user: User
) -> None:
    def close_account() -> None:
        write_files(user, "one")
        client = browser_of(user)
        assert asked_for(client) == HTTPStatus.FOUND

    await in_database(close_account)
    s3_storage.proxy.fault = "503"
    await work_off()
    (job,) = await in_database(lambda: list(ProcrastinateJob.objects.filter(task_name=REMOVAL_JOB)))
    assert (job.status, job.attempts) == ("todo", 1)
    s3_storage.proxy.fault = "none"
    await in_database(make_due)
    await work_off()
    assert not await in_database(User.objects.filter(pk=user.pk).exists)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"confirmation": "grace@example.org"}, "doesn’t match ada.the.first@example.org."),
        ({"confirmation": NAME}, "doesn’t match ada.the.first@example.org."),
        ({"confirmation": ""}, "required"),
        ({"password": "wrong"}, "isn’t your password."),
        ({"password": ""}, "required"),
        ({"password": "x\x00y"}, "Null characters"),
    ],
)
def test_without_the_address_and_the_password_nothing_happens(
    client: Client, user: User, changed: dict[str, str], sentence: str
) -> None:
    client.force_login(user)
    response = client.post("/settings/delete/", {"confirmation": ADDRESS, "password": PASSWORD, **changed})
    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert sentence in response.content.decode()
    assert PASSWORD not in response.content.decode()
    user.refresh_from_db()
    assert user.is_active
    assert not ProcrastinateJob.objects.exists()


def test_an_account_without_an_address_is_deleted_by_a_word_that_the_page_shows(
    client: Client, user: User
) -> None:
    User.objects.filter(pk=user.pk).update(email="")
    client.force_login(user)
    assert "Type “delete”" in client.get("/settings/delete/").content.decode()
    assert asked_for(client, confirmation=NAME) == HTTPStatus.BAD_REQUEST
    assert asked_for(client, confirmation=" Delete ") == HTTPStatus.FOUND


def test_a_password_can_not_be_guessed_here(client: Client, user: User, settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"reauthenticate": "3/m/user"}
    client.force_login(user)
    answers = [asked_for(client, password=f"guess {number}") for number in range(4)]
    assert answers == [400, 400, 400, 429]
    assert asked_for(client) == HTTPStatus.TOO_MANY_REQUESTS
    user.refresh_from_db()
    assert user.is_active


def test_the_page_to_leave_offers_to_take_everything_along_and_a_way_back(client: Client, user: User) -> None:
    client.force_login(user)
    page = client.get("/settings/delete/").content.decode()
    assert 'action="/settings/export/"' in page
    assert 'href="/settings/"' in page
    assert client.get("/goodbye/")["Location"] == "/"


def test_the_last_superuser_sees_what_to_run_and_may_leave_anyway(
    client: Client, user: User, other_user: User
) -> None:
    warning = "You’re the last superuser of this server."
    client.force_login(user)
    assert warning not in client.get("/settings/delete/").content.decode()
    User.objects.filter(pk=user.pk).update(is_superuser=True)
    User.objects.filter(pk=other_user.pk).update(is_superuser=True, is_active=False)
    page = client.get("/settings/delete/").content.decode()
    assert warning in page
    assert "uv run manage.py createsuperuser" in page
    User.objects.filter(pk=other_user.pk).update(is_active=True)
    assert warning not in client.get("/settings/delete/").content.decode()
    User.objects.filter(pk=other_user.pk).update(is_superuser=False)
    assert asked_for(client) == HTTPStatus.FOUND
    assert not User.objects.get(pk=user.pk).is_active


# --- By command, and what it knows ----------------------------------------------------------------


def test_the_command_only_lists_what_would_go_without_yes(user: User) -> None:
    live(user, "adaswords")
    told = StringIO()
    with pytest.raises(CommandError, match="Nothing was removed"):
        call_command("delete_user", NAME, stdout=told)
    assert "1  messages" in told.getvalue()
    user.refresh_from_db()
    assert user.is_active


def test_every_argument_of_a_job_that_names_a_row_is_understood() -> None:
    """Otherwise a queued job would outlive the person whose row it refers to."""
    for name, task in app.tasks.items():
        if name.startswith(("builtin:", "procrastinate.")):
            continue
        code = task.func.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        # `arc` is an index in its session's list, `lane` counts jobs; the others say what to write or send.
        no_rows = {"context", "timestamp", "user_id", "waited_seconds"}
        no_rows |= {"arc", "is_anew", "is_bulk", "is_open", "kind", "lane", "day", "month", "at", "run"}
        for argument in set(names) - no_rows:
            assert owner_of_argument(argument) is not None, f"{name}: what does {argument} name a row of?"
