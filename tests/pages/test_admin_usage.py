"""Usage and cost in the admin: sums of a period, by day, model, purpose and person."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from coaching.admin.usage import period_of
from sessions_app.models import ModelUsage
from sessions_app.usage_report import read_usage_report, usage_between
from tests.browsers import browser_of
from tests.conftest import MakeUser

pytestmark = pytest.mark.django_db

SUMS = "/admin/sessions_app/modelusage/sums/"
NOW = datetime(2026, 11, 22, 15, tzinfo=UTC)


@pytest.fixture
def operator(make_user: MakeUser) -> Client:
    member = make_user("staff", is_staff=True)
    member.user_permissions.set(Permission.objects.filter(codename="view_modelusage"))
    return browser_of(member)


def use(user: User, at: datetime, **fields: Any) -> None:
    model = fields.pop("model", "claude-sonnet-5-5")
    row = ModelUsage.unscoped.create(user=user, model=model, **fields)
    ModelUsage.unscoped.filter(pk=row.pk).update(created_at=at)


@pytest.fixture
def month(user: User, other_user: User) -> None:
    """Usage of two people on both sides of a month's first day."""
    first = datetime(2026, 11, 1, tzinfo=UTC)
    use(user, first - timedelta(seconds=1), cost_micro_usd=70_000_000)
    use(user, first, input_tokens=100, cache_read_tokens=300, output_tokens=7, cost_micro_usd=1_500_000)
    use(user, first + timedelta(hours=23), purpose="brief", model="claude-haiku-5-5", cost_micro_usd=4_000)
    use(other_user, NOW, output_tokens=5, cost_micro_usd=2_000_000)
    use(other_user, NOW, purpose="title", model="qwen-next", cost_micro_usd=None)


def page_of(client: Client, **query: str) -> str:
    with time_machine.travel(NOW, tick=False):
        client.force_login(User.objects.get(username="staff"))
        response = client.get(SUMS, query)
    assert response.status_code == 200
    return response.content.decode()


def words_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def test_a_period_is_added_up_by_day_model_purpose_and_person(month: None, operator: Client) -> None:
    text = words_of(page_of(operator))
    assert "From 1 November 2026 to 22 November 2026." in text
    assert "Cost $3.50 Requests 4 Tokens sent 400 of them from the cache 75 % Tokens answered 12" in text
    assert "The price of 1 request isn’t known." in text
    assert "Sun 1 November $1.50 2 400 75 % 7" in text
    assert "claude-sonnet-5-5 $3.50 2 400 75 % 12 claude-haiku-5-5 under $0.01 1" in text
    assert "qwen-next not known 1 (1 without a price)" in text
    assert "Turn $3.50 2 400 75 % 12 Brief under $0.01 1 0 0 % 0 Title not known" in text
    assert text.index("grace $2.00 2 (1 without a price)") < text.index("ada $1.50 2")


def test_every_chart_has_its_numbers_in_a_table_and_no_script(month: None, operator: Client) -> None:
    page = page_of(operator)
    content = page.partition('id="content"')[2]
    assert "<script" not in content.partition("<footer")[0]
    assert " style=" not in content
    columns = re.findall(
        r'<rect x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"><title>([^<]+)', page
    )
    assert len(columns) == 22
    assert columns[0] == ("34.7", "105.3", "Sun 1 November: $1.50")
    assert columns[1][1:] == ("0.0", "Mon 2 November: $0.00")
    assert columns[-1] == ("0.0", "140.0", "Sun 22 November: $2.00")
    bars = re.findall(r'width="([\d.]+)" height="10"', page)
    assert bars == ["100.0", "0.1", "0.0", "100.0", "0.1", "0.0", "100.0", "75.2"]
    assert page.count("<tbody>") == 4


def test_tokens_are_drawn_where_nothing_costs_anything(user: User, operator: Client) -> None:
    use(user, NOW, model="sage-practice", output_tokens=1_000, cost_micro_usd=0)
    text = words_of(page_of(operator))
    assert "The highest column is 1,000 tokens." in text
    assert "Cost $0.00 Requests 1" in text


def test_a_name_leads_to_its_requests_and_a_list_without_a_filter_to_the_sums(
    month: None, operator: Client, other_user: User
) -> None:
    page = page_of(operator)
    rows = operator.get("/admin/sessions_app/modelusage/", {"user__id__exact": other_user.pk})
    assert f"/admin/sessions_app/modelusage/?user__id__exact={other_user.pk}" in page
    assert "$2.0000" in rows.content.decode()
    assert "not known" in rows.content.decode()
    assert "ada" not in words_of(rows.content.decode()).partition("Select model usage")[2]
    bare = operator.get("/admin/sessions_app/modelusage/")
    assert (bare.status_code, bare["Location"]) == (302, SUMS)
    assert operator.get("/admin/sessions_app/modelusage/", {"p": "1"}).status_code == 200


def test_nobody_sees_the_sums_without_the_permission_to_see_usage(make_user: MakeUser, user: User) -> None:
    client = browser_of(make_user("other staff", is_staff=True))
    assert client.get(SUMS).status_code == 403
    client.force_login(user)
    assert client.get(SUMS).status_code == 302


@pytest.mark.parametrize(
    ("period", "today", "first", "end"),
    [
        ("this-month", date(2026, 11, 22), date(2026, 11, 1), date(2026, 11, 23)),
        ("last-month", date(2026, 1, 31), date(2025, 12, 1), date(2026, 1, 1)),
        ("30-days", date(2026, 3, 1), date(2026, 1, 31), date(2026, 3, 2)),
        ("12-months", date(2026, 11, 22), date(2025, 12, 1), date(2026, 11, 23)),
        ("12-months", date(2026, 12, 31), date(2026, 1, 1), date(2027, 1, 1)),
        ("12-months", date(2028, 2, 29), date(2027, 3, 1), date(2028, 3, 1)),
    ],
)
def test_periods_are_whole_days(period: str, today: date, first: date, end: date) -> None:
    now = datetime(today.year, today.month, today.day, 23, 59, 59, tzinfo=UTC)
    since, until = period_of(period, now=now)
    assert (since.date(), until.date()) == (first, end)
    assert {since.time(), until.time()} == {datetime.min.time()}


def test_a_years_chart_has_a_column_for_each_month(month: None, operator: Client) -> None:
    page = page_of(operator, period="12-months")
    assert page.count("<title>") - 1 == 12
    assert "October 2026: $70.00" in page


def test_a_report_takes_two_queries_that_read_only_its_period(user: User) -> None:
    since, until = period_of("this-month", now=NOW)
    ModelUsage.unscoped.bulk_create(ModelUsage(user=user, model="m") for _ in range(2_000))
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE sessions_app_modelusage SET created_at = created_at - (id % 700) * interval '1 day'"
        )
        cursor.execute("ANALYZE sessions_app_modelusage")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        report = read_usage_report(since=since, until=until)
    assert len(queries) == 2
    assert report.total.calls == usage_between(since, until).count() < 100
    plan = usage_between(since, until).values("user_id").explain()
    assert "usage_created" in plan
