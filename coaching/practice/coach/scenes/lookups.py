"""Searches and reminders, if their tools are offered."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from coaching.practice.coach.arc_hearing import one_line
from coaching.practice.coach.arc_talk import say
from coaching.practice.coach.conversation import CallOutcome, Conversation
from coaching.practice.coach.offer_wording import (
    LOOK_UP_DECLINED,
    LOOK_UP_FAILED,
    LOOKED_UP,
    RECALL_FAILED,
    RECALL_FOUND,
    RECALL_IMPOSSIBLE,
    RECALL_NOTHING,
    RECALLING,
)
from coaching.practice.coach.wording import OPEN_QUESTIONS, pick
from coaching.practice.script import Note, Reply, ToolUse

_RECALLING = re.compile(
    r"\b(?:do you (?:still )?remember|can you remember|what did (?:i|you|we) (?:say|tell|write|decide)|"
    r"did i (?:ever )?(?:tell|say|mention|write)|have i (?:ever )?(?:told|said|mentioned)|"
    r"when did (?:i|we) (?:last )?(?:say|talk|speak|write|mention)|remind me what)\b(.*)",
    re.IGNORECASE | re.DOTALL,
)
_REMINDING = re.compile(r"\bremind me (?:to|of|about) (.+)", re.IGNORECASE | re.DOTALL)
_TO_DO = re.compile(
    r"\b(?:my|the|open) (?:to-?do list|to-?dos|action items|tasks|reminders)\b", re.IGNORECASE
)
_IN_LIBRARY = re.compile(
    r"\b(?:in|from|through) (?:my|the) (?:documents|library|papers|contracts?)\b", re.IGNORECASE
)
_DOCUMENTS = re.compile(r"\b(?:which|what|list|show me) (?:\w+ ){0,2}documents\b", re.IGNORECASE)
_SAID_LISTS = ("hits", "results", "passages", "items", "documents", "entries")
_SAID_TEXTS = ("passage", "text", "title", "content", "name", "file_name")
_QUERY_LEAD = re.compile(
    r"\A\W*(?:(?:you|me|that|what|about|of|if|when|i|we|said|told)\b\s*)*", re.IGNORECASE
)
_LIBRARY_TOOLS = frozenset(
    {"create_action_item", "list_action_items", "search_knowledge_bank", "list_documents"}
)
_MOST_SHOWN = 3


def look_up(conversation: Conversation) -> Reply | None:
    """Run a requested lookup, or report its results; None without a request."""
    fresh = [o for o in conversation.fresh_outcomes if o.name == "recall_context" or o.name in _LIBRARY_TOOLS]
    if fresh:
        return (
            _say_recalled(conversation, fresh[-1])
            if fresh[-1].name == "recall_context"
            else _say_found(conversation, fresh[-1])
        )
    if conversation.fresh_outcomes:
        return None
    words = conversation.newest
    found = _RECALLING.search(words.replace("’", "'"))
    if found and not _REMINDING.search(words):
        return _recall(conversation, found[1])
    for name, values in _wanted(words):
        if name in conversation.tools:
            return Reply.of(ToolUse(name, values))
    return None


def _recall(conversation: Conversation, asked: str) -> Reply:
    if "recall_context" not in conversation.tools:
        return say(pick(RECALL_IMPOSSIBLE, conversation))
    query = one_line(_QUERY_LEAD.sub("", asked).strip(" ?!.")) or one_line(conversation.newest)
    return Reply.of(Note(pick(RECALLING, conversation)), ToolUse("recall_context", {"query": query}))


def _wanted(words: str) -> Sequence[tuple[str, dict[str, Any]]]:
    wanted: list[tuple[str, dict[str, Any]]] = []
    if reminded := _REMINDING.search(words):
        wanted.append(("create_action_item", {"title": one_line(reminded[1], 120)}))
    if _TO_DO.search(words):
        wanted.append(("list_action_items", {}))
    if _IN_LIBRARY.search(words):
        wanted.append(("search_knowledge_bank", {"query": one_line(_IN_LIBRARY.sub("", words))}))
    if _DOCUMENTS.search(words):
        wanted.append(("list_documents", {}))
    return wanted


def _say_recalled(conversation: Conversation, outcome: CallOutcome) -> Reply:
    if outcome.is_error:
        return say(pick(RECALL_FAILED, conversation))
    shown = _shown(outcome)
    if not shown:
        return say(pick(RECALL_NOTHING, conversation))
    lines = "\n".join(f"- {line}" for line in shown)
    return say(pick(RECALL_FOUND, conversation), lines, pick(OPEN_QUESTIONS, conversation))


def _say_found(conversation: Conversation, outcome: CallOutcome) -> Reply:
    reason = " ".join(str(outcome.values.get("message") or outcome.text).split())[:200]
    if outcome.values.get("declined") or "declined" in outcome.text.lower():
        return say(pick(LOOK_UP_DECLINED, conversation))
    if outcome.is_error or outcome.values.get("success") is False:
        return say(pick(LOOK_UP_FAILED, conversation).format(word=reason))
    lines = [f"- {line}" for line in _shown(outcome)] or [f"- {reason}"]
    return say(pick(LOOKED_UP, conversation), "\n".join(lines))


def _shown(outcome: CallOutcome) -> Sequence[str]:
    """Return the first results as lines: the date if there is one, and the passage as a quote."""
    entries = next(
        (outcome.values[name] for name in _SAID_LISTS if isinstance(outcome.values.get(name), list)), None
    )
    if entries is None:
        return (
            []
            if outcome.values
            else [f"“{line}”" for line in outcome.text.splitlines() if line.strip()][:_MOST_SHOWN]
        )
    return [line for entry in entries[:_MOST_SHOWN] if (line := _line(entry))]


def _line(entry: object) -> str:
    if not isinstance(entry, Mapping):
        return one_line(str(entry), 300)
    said = next((str(entry[name]) for name in _SAID_TEXTS if entry.get(name)), "")
    date = str(entry.get("date") or "")[:10]
    return f"{date + ': ' if date else ''}“{' '.join(said.split())[:300]}”" if said else ""
