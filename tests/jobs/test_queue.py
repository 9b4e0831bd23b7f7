"""The queue: transactional, deduplicated, and surviving dead workers."""

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection, transaction
from django.test import Client
from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.job_queue.queue import enqueue
from coaching.jobs.retries import MAX_ATTEMPTS
from coaching.jobs.tasks import free_stalled_jobs
from tests.conftest import MakeUser

NAME = "summarise_session"
ID = "0b6a3f5e-0000-4000-8000-000000000001"

pytestmark = pytest.mark.usefixtures("queue")


class ChangedMindError(Exception):
    """Rolls a transaction back."""


def put(key: str = "summary:1") -> bool:
    return enqueue(NAME, key=key, session_id=ID)


@transaction.atomic
def put_and_change_mind() -> None:
    put()
    raise ChangedMindError


def change(job: ProcrastinateJob, **values: str | int | None) -> None:
    """Change a job as a worker would; its model is read-only."""
    columns = ", ".join(f"{name} = %s" for name in values)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE procrastinate_jobs SET {columns} WHERE id = %s", [*values.values(), job.id])


def make_worker(*, silent_seconds: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat)"
            " VALUES (now() - make_interval(secs => %s)) RETURNING id",
            [silent_seconds],
        )
        worker_id: int = cursor.fetchone()[0]
        return worker_id


def the_job(key: str = "summary:1") -> ProcrastinateJob:
    job: ProcrastinateJob = ProcrastinateJob.objects.filter(queueing_lock=key).latest("id")
    return job


def test_a_job_is_committed_with_its_transaction_or_not_at_all() -> None:
    with pytest.raises(ChangedMindError):
        put_and_change_mind()
    assert not ProcrastinateJob.objects.exists()
    with transaction.atomic():
        put()
    assert the_job().status == "todo"


def test_a_job_that_waits_already_is_not_put_twice_and_the_transaction_goes_on() -> None:
    with transaction.atomic():
        assert put()
        assert not put()
        assert put("summary:2")
    assert ProcrastinateJob.objects.count() == 2


def test_a_job_that_nobody_knows_is_refused_where_it_is_put() -> None:
    with pytest.raises(Exception, match="Task"):
        enqueue("no_such_job", key="k")


def test_jobs_of_silent_and_vanished_workers_go_back_and_those_of_living_ones_stay() -> None:
    silent, living = make_worker(silent_seconds=60), make_worker(silent_seconds=1)
    for key, worker in (("silent", silent), ("gone", None), ("living", living)):
        put(key)
        change(the_job(key), status="doing", worker_id=worker)
    freed = free_stalled_jobs(silent_seconds=20)
    assert set(freed) == {the_job("silent").id, the_job("gone").id}
    assert [the_job(key).status for key in ("silent", "gone", "living")] == ["todo", "todo", "doing"]
    assert the_job("silent").attempts == 1
    assert free_stalled_jobs(silent_seconds=20) == ()


def test_a_job_under_which_worker_after_worker_died_ends_as_failed() -> None:
    put()
    change(the_job(), status="doing", attempts=MAX_ATTEMPTS - 1)
    free_stalled_jobs(silent_seconds=20)
    assert the_job().status == "failed"


def test_a_stalled_job_whose_like_waits_ends_as_failed_and_frees_it() -> None:
    put()
    first = the_job()
    change(first, status="doing")
    put()
    free_stalled_jobs(silent_seconds=20)
    statuses = ProcrastinateJob.objects.order_by("id").values_list("status", flat=True)
    assert list(statuses) == ["failed", "todo"]


def test_operators_see_jobs_and_put_failed_ones_back(client: Client, operator: User, user: User) -> None:
    put()
    job = the_job()
    change(job, status="failed", attempts=MAX_ATTEMPTS)
    page = "/admin/procrastinate/procrastinatejob/"
    client.force_login(user)
    assert client.get(page).status_code == 302
    client.force_login(operator)
    listed = client.get(page).content.decode()
    shown = client.get(f"{page}{job.id}/change/").content.decode()
    for content in (listed, shown):
        assert "summarise_session" in content
        assert f"session_id={ID}" in content
        assert "cancelled, " in content  # as it was never begun
        assert " style=" not in content.partition('id="content"')[2]
    client.post(page, {"action": "retry", "_selected_action": [job.id]})
    assert the_job().status == "todo"


def test_a_failed_job_whose_like_waits_is_not_queued_again(client: Client, operator: User) -> None:
    put()
    first = the_job()
    change(first, status="failed")
    put()
    put("summary:2")
    change(the_job("summary:2"), status="failed")
    client.force_login(operator)
    ids = [first.id, the_job("summary:2").id]
    response = client.post(
        "/admin/procrastinate/procrastinatejob/", {"action": "retry", "_selected_action": ids}, follow=True
    )
    page = response.content.decode()
    assert "1 queued again." in page
    assert "1 not queued: the same job waits already." in page
    first.refresh_from_db()
    assert (first.status, the_job("summary:2").status) == ("failed", "todo")


def test_jobs_are_only_queued_again_with_the_permission_to_change_them(
    client: Client, make_user: MakeUser
) -> None:
    put()
    change(the_job(), status="failed")
    member = make_user("staff", is_staff=True)
    member.user_permissions.set(Permission.objects.filter(codename="view_procrastinatejob"))
    client.force_login(member)
    page = "/admin/procrastinate/procrastinatejob/"
    assert "summarise_session" in client.get(page).content.decode()
    client.post(page, {"action": "retry", "_selected_action": [the_job().id]})
    assert the_job().status == "failed"
