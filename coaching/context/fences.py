"""Fences: text of people and documents goes into tagged sections that it can't close or fake.

It works on text only and decides nothing about what is shown; it makes it safe and finite.
"""

import re
from collections.abc import Mapping

from coaching.legacy_text.blocks import strip_block_tags

LINE_CHARACTERS = 4_000

# Every tag that the application writes into a prompt, and those that models take for a speaker.
TAGS = (
    "session_context", "sage_context", "overview", "life_plan", "weekly_plan", "patterns", "pulse_baseline",
    "recent_sessions", "session", "left_open", "line",
    "check_ins", "check_in", "daily_logs", "daily_log", "captures", "capture", "todays_plan",
    "yesterdays_plan", "yesterdays_journal", "todays_calendar", "event", "flagged_domains", "domain",
    "library_headlines", "headline", "brief", "skill", "offer", "help_lines", "care", "arc_offer", "due",
    "file", "next_steps", "step", "steps_due", "steps_week",
    "document", "finding", "reference", "correction", "passage", "recall", "client", "project", "scope",
    "system", "human", "user", "assistant", "instructions", "tool_use", "tool_result", "function_calls",
    "function_results", "invoke", "thinking", "antml",
)  # fmt: skip

# Invisible characters that can be inside a tag: combining marks, joiners, fillers, any space. Scripts and
# emoji need them, so they are kept where they hide nothing. Among characters that form no words, only
# printable ASCII counts as visible.
_FILLERS = "\u115f\u1160\u3164\uffa0"
# None of them has a case. Ignoring it in each of these sets would double the time that compiling takes.
# What looks like an opening bracket ends a run: the last one before a name is replaced; no run is read twice.
_HIDDEN = rf"(?-i:[^\w!-~＜‹﹤]|[{_FILLERS}])"
_HIDDEN_IN_NAME = rf"(?-i:[^\w\s!-~]|[{_FILLERS}])*+"
_NAMES = "|".join(
    _HIDDEN_IN_NAME.join("[_-]" if letter == "_" else re.escape(letter) for letter in name) for name in TAGS
)
# One possessive run: with two in a row the pattern would try every split between them.
_FAKE_TAG = re.compile(rf"[<＜‹﹤](?=(?:{_HIDDEN}|[/／])*+(?:{_NAMES})(?![a-z0-9]))", re.IGNORECASE)
_CLOSING_TAG = re.compile(rf"[<＜](?=(?:(?![／]){_HIDDEN})*+[/／!?])")
_LINE_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters, direction marks, invisible characters, lone surrogates.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2061-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


def fence(text: str) -> str:
    """Return text that is safe inside a section: it closes none, opens none, hides nothing.

    Tags of old blocks are removed, and so is the rest of an overlong line.
    """
    text = _UNSEEN.sub("", _LINE_BREAKS.sub("\n", text))
    text = _FAKE_TAG.sub("&lt;", _CLOSING_TAG.sub("&lt;", strip_block_tags(text)))
    if len(text) > LINE_CHARACTERS:
        text = "\n".join(map(_cut_line, text.split("\n")))
    return text.strip()


def fence_words(text: str) -> str:
    """Return what a person typed, unchanged except that it can't fake one of our sections.

    Invisible characters are kept, since some scripts need them, unless they hide such a section or a tag of
    an old block.
    """
    words = strip_block_tags(text)
    seen = _UNSEEN.sub("", words)
    if seen != words and (_FAKE_TAG.search(seen) or strip_block_tags(seen) != seen):
        words = strip_block_tags(seen)
    return _FAKE_TAG.sub("&lt;", words)


def fence_value(value: object, limit: int = 200) -> str:
    """Return a value as one short line without quotes or angle brackets."""
    plain = " ".join(fence(str(value)).split()).replace('"', "'").replace("<", "&lt;").replace(">", "&gt;")
    return plain if len(plain) <= limit else plain[:limit].rstrip() + "…"


def open_tag(name: str, attributes: Mapping[str, object]) -> str:
    """Return a section's opening tag; empty attributes are left out."""
    given = [f' {key}="{fence_value(value)}"' for key, value in attributes.items() if value not in ("", None)]
    return f"<{name}{''.join(given)}>"


def _cut_line(line: str) -> str:
    if len(line) <= LINE_CHARACTERS:
        return line
    left_out = len(line) - LINE_CHARACTERS
    return f"{line[:LINE_CHARACTERS]} [shortened: {left_out:,} more characters in this line]"
