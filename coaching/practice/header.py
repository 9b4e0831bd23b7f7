"""What the application says beside the user's words: part of the day, earlier sessions, an arc that is due.

Only what stands there; a request without such a section leaves the coach without a clock.
"""

import re
from dataclasses import dataclass

from coaching.practice.conversation import Conversation
from coaching.practice.prefix import content_blocks
from coaching.practice.story import ARCS

_HEADER = re.compile(r"<(session_context|arc_offer|offer|due)\b[^>]*>(.*?)</\1>", re.DOTALL)
_BRACKET = re.compile(r"\b(morning|afternoon|evening)\b", re.IGNORECASE)
_KNOWN = re.compile(r"^last session\s*:\s*(?!none|never|no\b|-)\S", re.IGNORECASE | re.MULTILINE)
_NO_PLAN = re.compile(r"\b(?:no plan|(?:day )?plan\s*:\s*(?:none|no|missing))\b", re.IGNORECASE)
_CHECKIN_DUE = re.compile(r"^check-?in\b[^\n]*\b(?:over)?due\b(?! (?:in|on)\b)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """`part_of_day` is empty where it isn't said; `due_arc` is an arc's name or empty."""

    part_of_day: str
    is_known_user: bool
    due_arc: str


def read_header(conversation: Conversation) -> Header:
    """Read the newest header sections of a request; a later one holds."""
    texts = [
        found[2]
        for message in conversation.messages
        if message["role"] == "user"
        for block in content_blocks(message["content"])
        if block["type"] == "text" and block["text"].lstrip().startswith("<")
        for found in _HEADER.finditer(block["text"])
    ]
    text = "\n".join(texts)
    brackets = [found[1].lower() for found in _BRACKET.finditer(text)]
    part = brackets[-1] if brackets else ""
    named = [arc for arc in ARCS if re.search(rf"\b{arc}\b(?! session)", "\n".join(texts))]
    due = named[0] if named and any("offer" in t or "due" in t for t in texts) else ""
    if not due and _CHECKIN_DUE.search(text):
        due = "weekly_checkin"
    if not due and part == "morning" and _NO_PLAN.search(text):
        due = "open_day"
    return Header(part_of_day=part, is_known_user=bool(_KNOWN.search(text)), due_arc=due)
