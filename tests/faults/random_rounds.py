"""Random rounds of a planned answer: text, notes, parallel and mixed calls, in any order and pace."""

import random
from collections.abc import Mapping
from typing import Any

from coaching.practice.faults.fault import FaultKind
from tests.faults.planned_model import DOMAINS, PlannedRound

FAULTS: tuple[FaultKind, ...] = (
    *("cut", "reset", "end_early", "broken_json", "error_event", "unknown_event", "status", "empty_body"),
    *("changed_message_id", "duplicate_message_start", "tool_use_without_block", "context_window_exceeded"),
    *("max_tokens_in_tool", "max_tokens_in_text", "refusal", "pause_turn"),
)
PACES = (0.0, 0.0, 40.0, 120.0)
"""Tokens per second. Slow enough that most faults hit a running turn."""

Call = tuple[str, Mapping[str, Any]]

BAD_CALLS: tuple[Call, ...] = (
    ("no_such_tool", {"a": 1}),
    ("save_file", {"file_type": "domain", "file_name": "../../etc/passwd", "content": "x"}),
    ("save_file", {"content": 7}),
    ("read_file", {"path": "nowhere.md"}),
    ("enter_structured_arc", {"arc": "nonsense"}),
    ("show_options", {"options": [{"label": "Only one"}]}),
    ("show_pulse_check", {"domains": ["weather"]}),
)
GOOD_CALLS: tuple[Call, ...] = (
    ("read_file", {"path": "life-map/career.md"}),
    ("enter_structured_arc", {"arc": "open_day"}),
    ("enter_structured_arc", {"arc": "weekly_checkin"}),
    ("complete_session", {"type": "arc"}),
    ("complete_session", {"type": "arc", "summary": "An arc was walked."}),
)
END: Call = ("complete_session", {"type": "session", "summary": "All was said."})


def random_plan(rng: random.Random) -> list[PlannedRound]:
    """Return up to three rounds with calls and one in words."""
    return [*(_round_of_calls(rng) for _ in range(rng.randint(0, 3))), _round_of_words(rng)]


def _round_of_words(rng: random.Random) -> PlannedRound:
    return PlannedRound(words=rng.randint(1, 8), note=rng.random() < 0.3, tokens_per_second=rng.choice(PACES))


def _round_of_calls(rng: random.Random) -> PlannedRound:
    saves = tuple(rng.choices(DOMAINS, k=rng.choice((0, 1, 2, 3))))
    calls = [rng.choice(BAD_CALLS) for _ in range(rng.choice((0, 0, 1, 2)))]
    calls += [rng.choice(GOOD_CALLS) for _ in range(rng.choice((0, 0, 1)))]
    calls += [_question(rng) for _ in range(rng.choice((0, 0, 0, 1, 2)))]
    if rng.random() < 0.03:
        calls.append(END)
    if not saves and not calls:
        saves = (rng.choice(DOMAINS),)
    return PlannedRound(
        words=rng.randint(0, 4),
        note=rng.random() < 0.3,
        saves=saves,
        calls=tuple(calls),
        shuffle=rng.randrange(1, 2**31),
        tokens_per_second=rng.choice(PACES),
    )


def _question(rng: random.Random) -> Call:
    options = [{"label": "Yes"}, {"label": "No", "value": "no"}, {"label": "Perhaps"}]
    return rng.choice(
        (
            ("show_options", {"options": rng.sample(options, rng.randint(2, 3))}),
            ("show_pulse_check", {"domains": rng.sample(DOMAINS, rng.randint(1, 3))}),
        )
    )
