"""The admin's start page: what needs a look, figures by subject, and only what an operator may see."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
import time_machine
from django.contrib import admin
from django.contrib.auth.models import AnonymousUser, Permission, User
from django.core.cache import cache
from django.db import connection
from django.template.response import TemplateResponse
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from coaching.admin.records import group_records
from coaching.admin.start import read_groups, with_figures
from coaching.job_queue.queue import enqueue
from coaching.people.mail_failures import note_failure, note_sent
from sessions_app.figures import read_brief_figures, read_turn_figures, sessions_with_brief_behind
from sessions_app.models import Message, ModelUsage, Session, Turn, TurnStatus
from tests.conftest import MakeUser
from tests.pages.conftest import Exchange

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 22, 15, tzinfo=UTC)
ALL = ("view_turn", "view_modelusage", "view_session", "view_procrastinatejob")
WITHOUT_SCANS = "SET LOCAL enable_seqscan = off"
"""For so few rows a scan may seem as cheap, depending on what other tests have left in the table."""
SECRET = "what nobody else should read"
OF_EVERY_OPERATOR = {"Database, cache, storage, loops", "Isolation of readers", "Version"}


@pytest.fixture(autouse=True)
def no_jobs(db: None) -> None:
    """An empty queue, and a worker that was seen just now: other tests leave jobs behind."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_periodic_defers")
        cursor.execute("DELETE FROM procrastinate_jobs")
        cursor.execute("DELETE FROM procrastinate_workers")
        cursor.execute("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (%s)", [NOW])
    cache.clear()


def figures_of(make_user: MakeUser, *codenames: str) -> tuple[dict[str, str], str]:
    """Return the figures that staff with these permissions see beside those of health, and the page."""
    member = make_user("staff", is_staff=True)
    member.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client = Client()
    with time_machine.travel(NOW, tick=False):
        client.force_login(member)
        page = client.get("/admin/").content.decode()
    found = re.findall(r"<dt>([^<]+)</dt><dd>(.+?)</dd>", page)
    figures = {unescape(name): re.sub(r"<[^>]+>", "", value) for name, value in found}
    assert set(figures) >= OF_EVERY_OPERATOR
    return {name: value for name, value in figures.items() if name not in OF_EVERY_OPERATOR}, page


def alerts_in(page: str) -> list[str]:
    """Return what needs a look; whether readers have a whole sandbox is the machine's."""
    alerts = page.partition('id="needs-look"')[2].partition("</section>")[0]
    found = re.findall(r"<li>(?:<a [^>]+>|<strong>)([^<]+)", alerts)
    return [alert for alert in found if not alert.startswith("Sandbox")]


def use(user: User, at: datetime, first_token_ms: int, cost: int | None, round_number: int = 1) -> None:
    row = ModelUsage.unscoped.create(
        user=user, model="m", first_token_ms=first_token_ms, cost_micro_usd=cost, round_number=round_number
    )
    ModelUsage.unscoped.filter(pk=row.pk).update(created_at=at)


def begin(turn: Turn, at: datetime) -> None:
    Turn.unscoped.filter(pk=turn.pk).update(started_at=at)
    Message.unscoped.filter(turn=turn).update(created_at=at)


@pytest.fixture
def two_days(user: User, session: Session, exchange: Exchange) -> None:
    """Four turns of today, of which two failed, and one of yesterday."""
    begin(exchange(SECRET, SECRET), NOW - timedelta(days=1))
    begin(exchange(SECRET, "Answer"), NOW)
    begin(exchange(SECRET, "Answer"), NOW.replace(hour=0))
    begin(exchange(SECRET, None, status=TurnStatus.FAILED), NOW)
    begin(exchange(SECRET, None, status=TurnStatus.INTERRUPTED), NOW)
    Session.unscoped.update(last_active_at=NOW)
    use(user, NOW - timedelta(days=1), 60_000, 5_000_000)
    for milliseconds in (400, 800, 1_200):
        use(user, NOW, milliseconds, 250_000)
    use(user, NOW, 90_000, None, round_number=2)
    use(user, datetime(2026, 10, 31, tzinfo=UTC), 1, 70_000_000)


def test_the_day_is_shown_in_figures_and_without_words(two_days: None, make_user: MakeUser) -> None:
    figures, page = figures_of(make_user, *ALL)
    assert figures == {
        "Turns today": "4",
        "Failed or interrupted today": "2",
        "First word, median": "0.8 s",
        "First word, 95th percentile": "1.2 s",
        "Worker": "working",
        "Jobs that wait": "0",
        "Jobs that run": "0",
        "Failed jobs": "0",
        "Oldest message without a brief": "24 h",
        "Briefs that keep failing": "0",
        "People today": "1",
        "Cost today": "$0.75 + 1 request without a price",
        "Cost this month": "$5.75 + 1 request without a price",
    }
    assert SECRET not in page
    assert "<title>Today | Sage</title>" in page
    assert alerts_in(page) == ["Failed or interrupted today: 2"]


def test_each_figure_needs_the_permission_for_its_rows(two_days: None, make_user: MakeUser) -> None:
    figures, _ = figures_of(make_user, "view_modelusage")
    assert list(figures) == ["Cost today", "Cost this month"]


def test_staff_without_permissions_see_no_figure(two_days: None, make_user: MakeUser) -> None:
    note_failure("smtp.example", ConnectionRefusedError())
    figures, page = figures_of(make_user)
    assert not figures
    assert alerts_in(page) == []
    assert "You don’t have permission to view or edit anything." in page


def test_a_figure_leads_to_its_rows(two_days: None, client: Client, operator: User) -> None:
    with time_machine.travel(NOW, tick=False):
        client.force_login(operator)
        page = unescape(client.get("/admin/").content.decode())
        addresses = re.findall(r'<dd><a href="([^"]+)"', page)
        rows = [client.get(address, follow=True).content.decode() for address in addresses]
    assert len(addresses) == 10
    assert "4 turns" in rows[0]
    assert "2 turns" in rows[1]
    assert "1 session" in rows[4]
    assert "0 sessions" in rows[5]


def test_nothing_is_queried_twice(two_days: None) -> None:
    with CaptureQueriesContext(connection) as queries:
        read_groups(lambda _name: True, now=NOW)
    asked = [query["sql"] for query in queries]
    assert len(asked) > 8
    assert len(asked) == len(set(asked))


def test_what_an_operator_needs_first_comes_first_and_each_list_has_its_subject(
    two_days: None, client: Client, operator: User
) -> None:
    client.force_login(operator)
    page = unescape(client.get("/admin/").content.decode())
    heads = re.findall(r"<h[23][^>]*>([^<]+)</h[23]>", page)
    assert [head for head in heads if head != "Needs a look"] == [
        "Health", "Answers", "Queue", "Backup", "People", "Spend", "Lists",
        "People", "Conversations", "Documents and files", "How Sage works", "Safety", "Background",
    ]  # fmt: skip
    lists = re.findall(r'<li><a href="(/admin/[a-z_]+/[a-z]+/)">', page)
    assert set(lists) == {
        f"/admin/{model._meta.app_label}/{model._meta.model_name}/" for model in admin.site._registry
    }


def test_each_list_is_called_what_leads_to_it(client: Client, operator: User) -> None:
    client.force_login(operator)
    page = unescape(client.get("/admin/").content.decode())
    lists = re.findall(r'<li><a href="(/admin/[a-z_]+/[a-z]+/)">([^<]+)</a>', page)
    assert len(lists) > 20
    for address, name in lists:
        listed = unescape(client.get(address, follow=True).content.decode())
        assert re.findall(r"<h1>([^<]+)</h1>", listed) == [name], address
        assert f"<title>{name} | Sage</title>" in re.sub(r"\s*(</?title>)\s*", r"\1", listed)
        assert f"› {name}\n" in re.sub(r"\n?</(div|ol|nav)>", "\n", listed.replace("&rsaquo;", "›"))


def test_lists_about_safety_have_names_that_an_operator_understands(make_user: MakeUser) -> None:
    _, page = figures_of(make_user, "view_cardcount", "view_safetyverdict", "view_captureverdict")
    for name, address in (
        ("Safety cards shown", "coaching/cardcount"),
        ("Safety checks of messages", "sessions_app/safetyverdict"),
        ("Safety checks of captures", "coaching/captureverdict"),
    ):
        assert f'<a href="/admin/{address}/">{name}</a>' in page


@pytest.mark.parametrize(
    ("state", "shown", "asks"),
    [("full", "complete", False), ("partial", "partial", True), ("unknown", "unknown", False)],
)
def test_readers_without_any_right_are_isolated_completely(state: str, shown: str, *, asks: bool) -> None:
    parts = {"database": "ok", "sandbox": state}
    page = with_figures(
        lambda request, extra_context=None: TemplateResponse(request, "", {"app_list": []}), lambda: parts
    )
    request = RequestFactory().get("/admin/")
    request.user = AnonymousUser()
    health = (page(request).context_data or {})["groups"][0]
    (found,) = [figure for figure in health.figures if figure.name == "Isolation of readers"]
    assert (found.value, found.is_alert, bool(found.note)) == (shown, asks, asks)


def test_what_no_subject_names_is_listed_too() -> None:
    model = {"object_name": "New", "name": "news", "admin_url": "/admin/new/", "add_url": None}
    (subject,) = group_records([{"models": [model]}])
    assert (subject.name, [record.address for record in subject.records]) == ("Others", ["/admin/new/"])


@pytest.fixture
def failed_job(no_jobs: None) -> None:
    enqueue("summarise_session", key="summary:1", session_id="1")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET status = 'failed'")


def test_failed_jobs_and_failing_briefs_ask_for_attention(
    failed_job: None, session: Session, make_user: MakeUser
) -> None:
    Session.unscoped.filter(pk=session.pk).update(brief_attempts=5)
    figures, page = figures_of(make_user, *ALL)
    assert (figures["Failed jobs"], figures["Briefs that keep failing"]) == ("1", "1")
    assert alerts_in(page) == ["Failed jobs: 1", "Briefs that keep failing: 1"]


def test_a_worker_that_is_frozen_or_missing_needs_a_look(make_user: MakeUser) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_workers SET last_heartbeat = %s", [NOW - timedelta(hours=1)])
    figures, page = figures_of(make_user, *ALL)
    assert figures["Worker"].startswith("not seen since 2026-11-22 14:00 UTC")
    assert alerts_in(page) == ["Worker: not seen since 2026-11-22 14:00 UTC"]
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_workers")
    (queue, *_) = [group for group in read_groups(lambda _name: True, now=NOW) if group.name == "Queue"]
    assert (queue.figures[0].value, queue.figures[0].is_alert) == ("none runs", True)


def test_mail_that_failed_needs_a_look_until_one_is_sent(make_user: MakeUser) -> None:
    with time_machine.travel(NOW, tick=False):
        note_failure("smtp.example", ConnectionRefusedError("ada@example.org"))
    shown, page = figures_of(make_user, *ALL)
    assert alerts_in(page) == ["Mail: the last one failed on 2026-11-22 15:00 UTC"]
    assert "smtp.example: ConnectionRefusedError." in shown["Mail"]
    assert "ada@example.org" not in page
    note_sent()
    assert "Mail" not in [
        figure.name for group in read_groups(lambda _name: True, now=NOW) for figure in group.figures
    ]


def test_lists_that_a_setting_keeps_empty_name_it(client: Client, operator: User) -> None:
    client.force_login(operator)
    for model, setting in (("backup", "SAGE_BACKUP_DIR"), ("inboxstate", "SAGE_INBOX_URL")):
        assert f"{setting} is unset" in client.get(f"/admin/coaching/{model}/").content.decode()


def test_a_day_without_turns_has_no_first_word(make_user: MakeUser) -> None:
    figures, _ = figures_of(make_user, *ALL)
    assert figures["First word, median"] == "–"
    assert figures["Cost this month"] == "$0.00"
    assert figures["Oldest message without a brief"] == "nothing waiting"


def test_a_cost_says_how_many_requests_it_leaves_out(user: User, make_user: MakeUser) -> None:
    ModelUsage.unscoped.bulk_create(ModelUsage(user=user, model="m") for _ in range(1_000))
    ModelUsage.unscoped.update(created_at=NOW)
    use(user, NOW, 400, 0)
    figures, _ = figures_of(make_user, "view_modelusage")
    assert figures["Cost today"] == "$0.00 + 1,000 requests without a price"


def test_the_age_of_the_oldest_message_leads_to_the_sessions_that_it_counts(
    session: Session, exchange: Exchange, client: Client, operator: User
) -> None:
    begin(exchange("Hello", "Hello."), NOW - timedelta(days=40))
    client.force_login(operator)

    def listed() -> bool:
        with time_machine.travel(NOW, tick=False):
            page = client.get("/admin/sessions_app/session/?brief=behind").content.decode()
        return str(session.id) in page

    Session.unscoped.update(last_active_at=NOW - timedelta(days=40))
    assert not read_brief_figures(now=NOW, failing_from=5).oldest_seconds
    assert not listed()
    Session.unscoped.update(brief_attempts=1)
    assert listed()
    Session.unscoped.update(brief_attempts=0, last_active_at=NOW)
    assert listed()


def test_the_lag_of_briefs_counts_finished_messages_that_no_brief_covers(
    session: Session, exchange: Exchange
) -> None:
    def lag() -> int:
        return read_brief_figures(now=NOW, failing_from=5).oldest_seconds

    begin(exchange("One", "Answer"), NOW - timedelta(seconds=50))
    begin(exchange("Two", "Answer"), NOW - timedelta(seconds=30))
    begin(exchange("Three", None, status=TurnStatus.RUNNING, ended_at=None), NOW - timedelta(seconds=20))
    Session.unscoped.update(last_active_at=NOW)
    assert lag() == 50
    Session.unscoped.update(brief_covers=2)
    assert lag() == 30
    Turn.unscoped.filter(messages__number=3).update(is_withdrawn=True)
    assert lag() == 0
    Session.unscoped.update(brief_covers=0, last_active_at=NOW - timedelta(days=2))
    assert lag() == 0
    Session.unscoped.update(brief_attempts=1)
    assert lag() == 50


def test_recent_and_failing_briefs_are_found_by_indexes(user: User) -> None:
    Session.unscoped.bulk_create(Session(user=user, last_message_number=1) for _ in range(2_000))
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE sessions_app_session SET last_active_at = now() - random() * interval '900 days'"
        )
        cursor.execute("ANALYZE sessions_app_session")
        cursor.execute(WITHOUT_SCANS)
    plan = sessions_with_brief_behind(now=datetime.now(UTC)).values("pk").explain()
    assert "session_recent" in plan
    assert "session_brief_failing" in plan
    assert "session_brief_failing" in Session.unscoped.filter(brief_attempts__gte=5).values("pk").explain()


def test_turns_of_a_day_are_found_by_an_index(session: Session) -> None:
    Turn.unscoped.bulk_create(
        Turn(session=session, status=TurnStatus.COMPLETED, ended_at=NOW) for _ in range(2_000)
    )
    with connection.cursor() as cursor:
        cursor.execute("UPDATE sessions_app_turn SET started_at = now() - random() * interval '900 days'")
        cursor.execute("ANALYZE sessions_app_turn")
        cursor.execute(WITHOUT_SCANS)
    since = datetime.now(UTC) - timedelta(days=1)
    assert "turn_started" in Turn.unscoped.filter(started_at__gte=since).values("pk").explain()
    assert read_turn_figures(since=since).turns < 100
