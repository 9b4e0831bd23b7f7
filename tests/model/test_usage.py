"""The row of what an answer used."""

from dataclasses import asdict

from coaching.engine.usage import RoundUsage, TokenCounts
from coaching.model.usage import usage_row


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
