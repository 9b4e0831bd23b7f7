"""Answers second looks: as the product's own rules would, unless a test sets labels.

They never take from the scripts and faults of conversations, so a look changes nothing else that is scripted.
"""

from collections.abc import Callable, Mapping
from typing import Any

from coaching.practice.api.prefix import content_blocks
from coaching.practice.script import Reply, Text
from coaching.safety.card import danger_in
from coaching.safety.second_look import SCHEMA, answer_for, newest_words

Judge = Callable[[str], Reply]


def judge_by_rules(words: str) -> Reply:
    """Answer as the rules would, at once."""
    return Reply.of(Text(answer_for(danger_in(words))), tokens_per_second=0.0)


def judge_by_labels(labels: Mapping[str, str], *, seconds: float = 0.0) -> Judge:
    """Return a judge that knows the level of each message by its words; others are none."""

    def judge(words: str) -> Reply:
        text = f'{{"level": "{labels.get(words, "none")}", "about": "self", "topic": "life"}}'
        return Reply.of(Text(text), tokens_per_second=0.0, first_token_seconds=seconds)

    return judge


def words_to_judge(body: Mapping[str, Any]) -> str | None:
    """Return the newest words of a second look; None for any other request."""
    output = (body.get("output_config") or {}).get("format") or {}
    if output.get("schema") != SCHEMA:
        return None
    question = content_blocks(body["messages"][-1]["content"])[0]  # its schema in words may follow
    return newest_words(str(question.get("text")))
