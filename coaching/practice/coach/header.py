"""The application's header sections: earlier sessions, part of the day, an arc that is due.

`<offer arc="open_day">` names a suitable arc, `<session_context>` is the header with four fields,
`<flagged_domains>` lists domains in trouble. Without such a section the coach has no clock.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from coaching.practice.api.prefix import content_blocks
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.story import ARCS

_MORNING = re.compile(r"\bmorning\b", re.IGNORECASE)
_KNOWN = re.compile(r"^last session\s*:\s*(?!none|never|no\b|-)\S", re.IGNORECASE | re.MULTILINE)
_NO_PLAN = re.compile(r"\b(?:no plan|(?:day )?plan\s*:\s*(?:none|no|missing))\b", re.IGNORECASE)
_CHECKIN_DUE = re.compile(
    r"^check-?in\b(?![^\n]*\bnot\b)[^\n]*\b(?:over)?due\b(?! (?:in|on)\b)", re.IGNORECASE | re.MULTILINE
)


_OFFER = re.compile(r'<offer arc="([a-z_]{1,40})">')
_DOMAIN_IN_CRISIS = re.compile(r'^<domain name="([a-z]{1,40})" status="in_crisis"', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """`due_arc` is the arc to offer, or empty."""

    is_known_user: bool
    due_arc: str


def read_header(conversation: Conversation) -> Header:
    """Read the header sections of a request."""
    offer = _OFFER.match(_sections(conversation, "offer"))
    header = _sections(conversation, "session_context")
    due = offer[1] if offer and offer[1] in ARCS else ""
    if not due and _CHECKIN_DUE.search(header):
        due = "weekly_checkin"
    if not due and _MORNING.search(header) and _NO_PLAN.search(header):
        due = "open_day"
    return Header(is_known_user=bool(_KNOWN.search(header)), due_arc=due)


def domains_in_crisis(conversation: Conversation) -> Sequence[str]:
    """Return the domains that the context marks as in crisis."""
    return _DOMAIN_IN_CRISIS.findall(_sections(conversation, "flagged_domains"))


def _sections(conversation: Conversation, name: str) -> str:
    """Return the newest section of that name, with its tags; empty if there is none."""
    found = [
        section
        for message in conversation.messages
        if message["role"] == "user"
        for block in content_blocks(message["content"])
        if block["type"] == "text" and block["text"].lstrip().startswith("<")
        if (section := _section(block["text"], name))
    ]
    return found[-1] if found else ""


def _section(text: str, name: str) -> str:
    start = text.find(f"<{name}")
    end = text.find(f"</{name}>", start + 1)
    return text[start:end] if 0 <= start < end else ""
