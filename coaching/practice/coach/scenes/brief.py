"""Briefs: a background job's request, without a user.

A script understands nothing: it keeps the old lines, and quotes what the person said in each message.
"""

import re
from collections.abc import Iterator

from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.listening import is_substance, sentences_of
from coaching.practice.script import Reply, Text

_SECTIONS = re.compile(
    r"\A<brief>\n(.*?)</brief>\n<corrections>\n(.*?)</corrections>\n<struck>\n(.*?)</struck>\n"
    r"<transcript>\n(.*)\n</transcript>",
    re.DOTALL,
)
_SAID = re.compile(r'<said number="(\d+)" by="person" day="[^"]*">\n(.*?)\n</said>', re.DOTALL)
_MAX_LINES = 20
_MAX_QUOTED_CHARACTERS = 80


def write_brief(conversation: Conversation) -> Reply | None:
    """Write a brief of one line a message. Recognised by its sections and the absence of tools."""
    sections = _SECTIONS.match(conversation.newest_as_sent)
    if sections is None or conversation.offers_tools:
        return None
    old, _, struck, transcript = sections.groups()
    lines = [*old.splitlines(), *_quotes(transcript)]
    kept = [line for line in lines if line not in struck.splitlines()][-_MAX_LINES:]
    return Reply.of(Text("\n".join(kept or ["- You talked with Sage."])))


def _quotes(transcript: str) -> Iterator[str]:
    for number, words in _SAID.findall(transcript):
        if is_substance(words):
            line = " ".join(sentences_of(words)[0].split())
            is_long = len(line) > _MAX_QUOTED_CHARACTERS
            yield f"- You said: “{line[:_MAX_QUOTED_CHARACTERS]}{'…' if is_long else ''}” [{number}]"
