"""A long conversation: requests stay small, cached and valid, and the brief misses nothing."""

import json
from datetime import timedelta
from itertools import pairwise

import pytest
import time_machine
from django.contrib.auth.models import User

from coaching.context.brief_lines import MAX_TOKENS
from coaching.context.budget import PROMPT_TOKENS, count_tokens
from coaching.practice.script import Reply, Text, ToolUse
from sessions_app.database import in_database
from sessions_app.models import Session, SessionBrief
from tests.context.conftest import Talk, text_blocks
from tests.context.test_prefix import MORNING, WORDS, seed_life
from tests.thoroughness import size

pytestmark = pytest.mark.django_db(transaction=True)

TURNS = size(60, long=250)
MAX_MESSAGES = 35


def answer(number: int) -> list[Reply | str]:
    if number % 25 == 10:
        page = {"file_type": "domain", "file_name": "career", "content": f"# Career\n\nTurn {number}."}
        return [Reply.of(Text("I'll keep that."), ToolUse("save_file", page)), "Kept."]
    return [f"I hear you, number {number}. " + WORDS]


async def converse(talk: Talk) -> list[int]:
    """Talk for all turns, each followed by its brief; return the edge of each turn."""
    edges = []
    with time_machine.travel(MORNING, tick=True) as clock:
        for number in range(TURNS):
            talk.practice.script(answer(number))
            done = await talk.say(f"I decided thing {number}. {WORDS}")
            assert done.status == "completed", talk.practice.requests[-1].error
            session = await in_database(lambda: Session.unscoped.only("opening").get())
            edges.append(json.loads(session.opening)["edge"])
            assert await talk.remember() == 1
            clock.shift(timedelta(minutes=7))
    return edges


async def test_many_messages_are_sent_small_cached_and_valid(talk: Talk, person: User) -> None:
    await seed_life(person)
    edges = await converse(talk)
    requests = talk.practice.requests
    assert [request.error for request in requests if request.error] == []
    assert sorted(set(edges)) == [0, *range(21, 2 * TURNS - 18, 20)], "one step of twenty messages at a time"

    frame = json.dumps([requests[0].body["system"], requests[0].body["tools"]])
    for request in requests:
        said = [block for block in text_blocks(request.body) if block.startswith("<")]
        assert count_tokens(frame) + sum(map(count_tokens, said)) < PROMPT_TOKENS + 1_000
        assert len(request.body["messages"]) <= MAX_MESSAGES + 2

    usages = [request.usage for request in requests]
    read = sum(usage["cache_read_input_tokens"] for usage in usages)
    written = sum(usage["cache_creation_input_tokens"] + usage["input_tokens"] for usage in usages)
    assert read / (read + written) >= 0.9, f"{read / (read + written):.1%}"

    briefs = await in_database(lambda: list(SessionBrief.unscoped.order_by("version")))
    assert [brief.version for brief in briefs] == list(range(1, TURNS + 1))
    assert briefs[0].covers_from == 1
    assert all(later.covers_from == before.covers_until + 1 for before, later in pairwise(briefs))
    assert briefs[-1].covers_until == 2 * TURNS
    assert all(count_tokens(brief.text) <= MAX_TOKENS for brief in briefs)
