"""Summaries: a background job's request, without a user.

A script understands nothing, so it names topics and quotes.
"""

import re
from collections.abc import Sequence

from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.listening import domains_in, is_substance, sentences_of
from coaching.practice.coach.wording import join_words
from coaching.practice.script import Reply, Text

_TRANSCRIPT = re.compile(r"\A<transcript>\n(.*)\n</transcript>", re.DOTALL)
_PERSON = re.compile(r'<said by="person">\n(.*?)\n</said>', re.DOTALL)
_MAX_QUOTED_CHARACTERS = 300


def summarise(conversation: Conversation) -> Reply | None:
    """Summarise a transcript in two or three sentences. Recognised by the absence of tools."""
    transcript = _TRANSCRIPT.match(conversation.newest_as_sent)
    if transcript is None or conversation.offers_tools:
        return None
    words = _PERSON.findall(transcript[1])
    return Reply.of(Text(" ".join(_sentences(words))))


def _sentences(words: Sequence[str]) -> list[str]:
    domains = domains_in("\n".join(words))
    told = [sentence for text in words if is_substance(text) for sentence in sentences_of(text)]
    topic = f"You talked with Sage about {join_words(domains)}." if domains else "You talked with Sage."
    if not told:
        return [topic, "You kept it short."]
    quoted = [topic, f"You said: “{_quotable(told[0])}”"]
    if len(told) > 1:
        quoted.append(f"And towards the end: “{_quotable(told[-1])}”")
    return quoted


def _quotable(sentence: str) -> str:
    line = " ".join(sentence.split())
    return line if len(line) <= _MAX_QUOTED_CHARACTERS else line[:_MAX_QUOTED_CHARACTERS] + "…"
