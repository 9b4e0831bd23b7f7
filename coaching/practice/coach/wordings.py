"""Which of several wordings is said: one that wasn't said yet."""

import re
from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation

_KNOWN = re.compile(r"^last session\s*:\s*(?!none|never|no\b|-)\S", re.IGNORECASE | re.MULTILINE)
_SCRIPT = re.compile(r"\b(?:script|Skript|guion)", re.IGNORECASE)
_ENDS = ".!?…"


def choose(conversation: Conversation, *pools: str) -> str:
    """Return a wording that wasn't used yet, else the one that was used longest ago."""
    known = [each for pool in pools for each in texts.answers(pool)]
    return unsaid(conversation, known) or min(known, key=conversation.spoken.rfind)


def filled(conversation: Conversation, pool: str, words: str) -> str:
    """Return a wording with words of theirs in it, the first that wasn't used yet."""
    return fill(conversation, texts.answers(pool), words)


def fill(conversation: Conversation, known: Sequence[str], words: str) -> str:
    """Return the first of some wordings that wasn't used yet, with words of theirs in it."""
    new = [each for each in known if each.partition("}")[2] not in conversation.spoken]
    return (new or known)[0].format(words=words)


def unsaid(conversation: Conversation, known: Sequence[str]) -> str:
    """Return the first wording that wasn't used yet; nothing if all were."""
    return next((each for each in known if each not in conversation.spoken), "")


def without_question(wording: str) -> str:
    """Return a wording without the question at its end; nothing if it only asks."""
    if not wording.endswith("?"):
        return wording
    return wording[: 1 + max(wording.rfind(end, 0, -1) for end in _ENDS)].strip()


def introduce(told: str) -> str:
    """Return first words with who is speaking, unless they say it already."""
    return told if _SCRIPT.search(told) else f"{told}\n\n{texts.said('introduced')}"


def introduction(conversation: Conversation) -> str:
    """Return what the tour says of itself at the beginning of a conversation."""
    is_known = _KNOWN.search(conversation.section("session_context"))
    return texts.said("hello_again" if is_known else "introduction")


def holds(said: str, wordings: Sequence[str]) -> bool:
    """Return whether something said has one of the wordings."""
    return any(each in said for each in wordings)
