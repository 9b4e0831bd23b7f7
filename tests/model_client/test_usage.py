"""The row of what an answer used, and what a month of them costs."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from coaching.engine.usage import RoundUsage, TokenCounts
from coaching.model_client.usage import usage_row
from sessions_app.models import UsagePurpose
from sessions_app.usage import usage_by_purpose


def test_every_count_of_an_answer_stands_in_its_row_under_its_own_name() -> None:
    tokens = TokenCounts(
        input_tokens=1,
        output_tokens=2,
        cache_creation_5m_tokens=3,
        cache_creation_1h_tokens=4,
        cache_read_tokens=5,
    )
    usage = RoundUsage(
        model="claude-sonnet-5-5", tokens=tokens, first_token_ms=6, duration_ms=7, round_number=8
    )
    row = usage_row(usage)
    assert {name: getattr(row, name) for name in asdict(tokens)} == asdict(tokens)
    assert (row.model, row.first_token_ms, row.duration_ms, row.round_number) == (usage.model, 6, 7, 8)
    assert row.cost_micro_usd


@dataclass(frozen=True, kw_only=True)
class Calls:
    """A number of equal calls at one moment."""

    count: int
    at: datetime
    model: str
    purpose: UsagePurpose
    tokens: TokenCounts


TURN, BRIEF, SUMMARY, TITLE = UsagePurpose.TURN, UsagePurpose.BRIEF, UsagePurpose.SUMMARY, UsagePurpose.TITLE
ROUND = TokenCounts(
    input_tokens=150, cache_creation_5m_tokens=700, cache_read_tokens=12_345, output_tokens=333
)
OCTOBER = (
    # 1,200 x $2 + 9,000 x $4 + 400 x $10, each per million = $0.0424; 30 of them: $1.272
    Calls(
        count=30,
        at=datetime(2026, 10, 1, 4, tzinfo=UTC),
        model="claude-sonnet-5-5",
        purpose=TURN,
        tokens=TokenCounts(input_tokens=1_200, cache_creation_1h_tokens=9_000, output_tokens=400),
    ),
    # 150 x $2 + 700 x $2.50 + 12,345 x $0.20 + 333 x $10 = $0.007849; 100 of them: $0.7849
    Calls(
        count=100,
        at=datetime(2026, 10, 6, 23, 59, 59, tzinfo=UTC),
        model="claude-sonnet-5-5",
        purpose=TURN,
        tokens=ROUND,
    ),
    # A second later, a cache read costs $0.10: $0.0066145; 100 of them: $0.66145
    Calls(
        count=100,
        at=datetime(2026, 10, 7, tzinfo=UTC),
        model="claude-sonnet-5-5",
        purpose=TURN,
        tokens=ROUND,
    ),
    # A prompt of 100,000: 20,000 x $0.10 + 80,000 x $0.01 + 600 x $0.50 = $0.0031; 10 of them: $0.031
    Calls(
        count=10,
        at=datetime(2026, 10, 20, tzinfo=UTC),
        model="claude-haiku-5-5",
        purpose=BRIEF,
        tokens=TokenCounts(input_tokens=20_000, cache_read_tokens=80_000, output_tokens=600),
    ),
    # A prompt of 100,001: 20,001 x $0.50 + 30,000 x $1 + 50,000 x $0.05 + 600 x $2.50 = $0.0440005;
    # 10 of them: $0.440005
    Calls(
        count=10,
        at=datetime(2026, 10, 20, tzinfo=UTC),
        model="claude-haiku-5-5",
        purpose=BRIEF,
        tokens=TokenCounts(
            input_tokens=20_001, cache_creation_1h_tokens=30_000, cache_read_tokens=50_000, output_tokens=600
        ),
    ),
    # A dated name has the price of its model: 1,000 x $1 + 100 x $5 = $0.0015; 3 of them: $0.0045
    Calls(
        count=3,
        at=datetime(2026, 10, 30, tzinfo=UTC),
        model="claude-haiku-4-5-20251001",
        purpose=SUMMARY,
        tokens=TokenCounts(input_tokens=1_000, output_tokens=100),
    ),
    Calls(
        count=2,
        at=datetime(2026, 10, 31, tzinfo=UTC),
        model="qwen-next",
        purpose=TITLE,
        tokens=TokenCounts(input_tokens=500, output_tokens=10),
    ),
    # $0 however long.
    Calls(
        count=5,
        at=datetime(2026, 10, 31, 23, 59, 59, tzinfo=UTC),
        model="sage-practice",
        purpose=TURN,
        tokens=TokenCounts(input_tokens=500_000, output_tokens=9_000),
    ),
    # Of the next month.
    Calls(
        count=1,
        at=datetime(2026, 11, 1, 4, tzinfo=UTC),
        model="claude-sonnet-5-5",
        purpose=TURN,
        tokens=ROUND,
    ),
)


def store(user: User, month: Sequence[Calls]) -> None:
    for calls in month:
        with time_machine.travel(calls.at, tick=False):
            for _ in range(calls.count):
                row = usage_row(
                    RoundUsage(model=calls.model, tokens=calls.tokens, first_token_ms=None, duration_ms=1)
                )
                row.user, row.purpose = user, calls.purpose
                row.save()


@pytest.mark.django_db
def test_a_month_costs_what_a_hand_calculation_says(client: Client, user: User) -> None:
    """Turns $2.71835, briefs $0.471005, summaries $0.0045: $3.193855. Titles have no known price."""
    store(user, OCTOBER)
    found = usage_by_purpose(
        user_id=user.pk, since=datetime(2026, 10, 1, tzinfo=UTC), until=datetime(2026, 11, 1, tzinfo=UTC)
    )
    cents = {usage.purpose: usage.cost_micro_usd / 10_000 for usage in found}
    assert cents == pytest.approx({TURN: 271.835, BRIEF: 47.1005, SUMMARY: 0.45, TITLE: 0}, abs=0.01)
    client.force_login(user)
    with time_machine.travel(datetime(2026, 10, 31, 23, 59, 59, 500_000, tzinfo=UTC), tick=False):
        page = client.get("/settings/usage/").content.decode()
    text = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "cost: $3.19 ." in text
    assert re.search(r"Conversations 235 [\d,]+ \$2\.72 ", text)
    assert re.search(r"Remembering long conversations 20 [\d,]+ \$0\.47 ", text)
    assert re.search(r"Summaries 3 [\d,]+ under \$0\.01 ", text)
    assert re.search(r"Titles 2 1,020 not known ", text)
    assert "Not included: 2 requests with no known price" in text
