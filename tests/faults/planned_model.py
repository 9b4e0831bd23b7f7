"""The practice model's replies in fault runs: planned by turn and round, independent of retries.

A script is consumed reply by reply, so a crash would desynchronise it. Here the reply follows from the
request: which turn (the newest user text names its plan) and which round. Every word names turn, round,
attempt and place, so that repeated, lost, stale or foreign words are detected at once.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from coaching.practice.api.exchange import last_user_text
from coaching.practice.script import Block, Hold, Note, Reply, Text, ToolUse

HoldPlace = Literal["", "first", "text", "last"]

DOMAINS = ("career", "relationships", "health", "finances", "learning", "creativity", "play", "meaning")
WORDS = re.compile(r"k\d+t\d+r\d+a\d+w\d+")
_NUMBERS = re.compile(r"k(\d+)t(\d+)r(\d+)a\d+w(\d+)")
_PLAN_NAMED = re.compile(r"\[(k\d+t\d+)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRound:
    """An answer: words, a note, saves, other calls, and where it waits.

    It waits after `hold_after` words (`text`), before everything (`first`) or after everything (`last`), in
    the given attempts. A `shuffle` other than 0 determines the order of the calls.
    """

    words: int = 8
    note: bool = False
    saves: tuple[str, ...] = ()
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    hold: HoldPlace = ""
    hold_after: int = 4
    hold_attempts: frozenset[int] = frozenset({1})
    shuffle: int = 0
    tokens_per_second: float | None = None


@dataclass(slots=True, kw_only=True)
class Plan:
    """The answers to one message. `key` is unique in the run and part of the message."""

    key: str
    rounds: Sequence[PlannedRound]
    attempts: Counter[int] = field(default_factory=Counter)

    @property
    def text(self) -> str:
        """The user's message, with a word that must never be logged or reach anybody else."""
        return f"[{self.key}] Tell me about {self.key}secret"

    def gate(self, number: int) -> str:
        """Return the gate of a round, counted from 1."""
        return f"{self.key}.{number}"

    def reply(self, number: int) -> Reply:
        """Build the reply to the next request for a round, counted from 1."""
        self.attempts[number] += 1
        attempt = self.attempts[number]
        if number > len(self.rounds):
            return Reply.of(f"{self.key}r{number}a{attempt}w0 ends")
        planned = self.rounds[number - 1]
        name = f"{self.key}r{number}a{attempt}"
        hold = planned.hold if attempt in planned.hold_attempts else ""
        words = [f"{name}w{index} " for index in range(planned.words)]
        blocks: list[Block] = [Hold(self.gate(number))] if hold == "first" else []
        if planned.note:
            blocks.append(Note(f"{self.key}note{number}. "))
        split = planned.hold_after if hold == "text" else len(words)
        blocks += [Text("".join(words[:split]).rstrip() if split == len(words) else "".join(words[:split]))]
        if hold == "text":
            blocks += [Hold(self.gate(number)), Text("".join(words[split:]).rstrip())]
        blocks = [block for block in blocks if not isinstance(block, Text) or block.text]
        blocks += _calls(name, planned)
        if hold == "last":
            blocks.append(Hold(self.gate(number)))
        return Reply.of(*blocks, tokens_per_second=planned.tokens_per_second)


def _calls(name: str, planned: PlannedRound) -> list[Block]:
    calls: list[Block] = []
    for index, domain in enumerate(planned.saves):
        content = f"# {domain.title()}\n\n{name}c{index} was said."
        save = {"file_type": "domain", "file_name": domain, "content": content}
        calls.append(ToolUse("save_file", save, id=f"toolu_{name}c{index}"))
    for index, (tool, values) in enumerate(planned.calls, start=len(planned.saves)):
        calls.append(ToolUse(tool, values, id=f"toolu_{name}c{index}"))
    if planned.shuffle:
        random.Random(planned.shuffle).shuffle(calls)
    return calls


class PlannedModel:
    """Answers requests by their plans: the `answer` of a `PracticeServer`."""

    def __init__(self) -> None:
        self.plans: dict[str, Plan] = {}

    def add(self, plan: Plan) -> Plan:
        """Know a plan."""
        self.plans[plan.key] = plan
        return plan

    def answer(self, body: dict[str, Any]) -> Reply:
        """Return the planned reply; a message without a plan ("go on") gets a short answer."""
        named = _PLAN_NAMED.findall(last_user_text(body))
        plan = self.plans.get(named[-1]) if named else None
        if plan is None:
            return Reply.of("Going on.")
        return plan.reply(rounds_before(body) + 1)


def in_order(words: Iterable[str]) -> list[str]:
    """Return words in their planned order, whatever their attempts."""

    def place_of(word: str) -> tuple[int, ...]:
        match = _NUMBERS.fullmatch(word)
        assert match is not None
        return tuple(int(number) for number in match.groups())

    return sorted(words, key=place_of)


def plan_of(body: Mapping[str, Any]) -> str:
    """Return the key of the plan that a request is for, or an empty string."""
    named = _PLAN_NAMED.findall(last_user_text(dict(body))) if body.get("messages") else []
    return named[-1] if named else ""


def rounds_before(body: Mapping[str, Any]) -> int:
    """Return how many rounds precede the request in its open turn."""
    count = 0
    for message in reversed(body["messages"]):
        content = message["content"]
        has_text = isinstance(content, str) or any(block["type"] == "text" for block in content)
        if message["role"] == "user" and has_text:
            break
        count += message["role"] == "assistant"
    return count
