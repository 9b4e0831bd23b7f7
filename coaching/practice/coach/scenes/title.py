"""Titles: a background job's request, without a user. A script names a topic or the first words."""

import re

from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.listening import domains_in, is_crisis, sentences_of
from coaching.practice.coach.wording import join_words
from coaching.practice.script import Reply, Text

_BEGINNING = re.compile(r"\A<beginning>\n(.*)\n</beginning>", re.DOTALL)
_PERSON = re.compile(r'<said by="person">\n(.*?)\n</said>', re.DOTALL)
_MAX_WORDS = 6
_NOTHING = "-"


def give_title(conversation: Conversation) -> Reply | None:
    """Title the beginning of a conversation. Recognised by the absence of tools."""
    beginning = _BEGINNING.match(conversation.newest_as_sent)
    if beginning is None or conversation.offers_tools:
        return None
    words = "\n".join(_PERSON.findall(beginning[1]))
    return Reply.of(Text(_NOTHING if is_crisis(words) else _title(words)))


def _title(words: str) -> str:
    domains = join_words(domains_in(words))
    if domains:
        return domains[0].upper() + domains[1:]
    sentences = sentences_of(words)
    first = sentences[0].split() if sentences else ["A", "conversation"]
    return " ".join(first[:_MAX_WORDS]).rstrip(".,;:!?") + ("…" if len(first) > _MAX_WORDS else "")
