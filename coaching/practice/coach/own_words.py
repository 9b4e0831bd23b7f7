"""What the person said in this conversation: their name, and their own words found again."""

import re
from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.file_names import clip
from coaching.practice.coach.hearing import PATTERNS, is_about, search

_WORD = re.compile(r"\w{3,}")
_NAME = re.compile(r"^Name: (?!not known yet)(.+)$", re.MULTILINE)
_NAMED = re.compile(
    r"(?<=[a-zà-ÿ,] )(?!(?:Mum|Mom|Dad|[MTWFS]\w+day|Dr|Mr|Mrs|Ms|God|Christmas)\b)[A-ZÀ-Þ][a-zà-ÿ]{2,20}\b"
)
_EVERYDAY = frozenset(PATTERNS["common"]["everyday"].split())
_STEM = 5


def name_told(conversation: Conversation) -> str:
    """Return the name that the person gave in this conversation, or nothing."""
    told = [search("name", exchange.answer) for exchange in conversation.exchanges if not exchange.value]
    return next((next(filter(None, found.groups())).capitalize() for found in reversed(told) if found), "")


def found_here(conversation: Conversation, query: str, name: str = "found_here") -> str:
    """Return what the person said in this conversation with a word of the query, or nothing."""
    wanted = _stems(query)
    for exchange in reversed(conversation.exchanges[:-1]):
        if not exchange.value and "?" not in exchange.answer and wanted & _stems(exchange.answer):
            return texts.said(name, words=clip(" ".join(exchange.answer.split()), 240))
    return ""


def say_name(conversation: Conversation) -> str:
    if name := name_told(conversation):
        return texts.said("your_name", name=name)
    account = _NAME.search(conversation.section("session_context"))
    return texts.said("account_name", name=account[1]) if account else texts.said("no_name")


def say_told(conversation: Conversation) -> str:
    """Return what the person said: first, last, or with the most words in common with what they ask."""
    asked = conversation.exchanges[-1].answer
    said = [
        exchange.answer
        for exchange in conversation.exchanges[:-1]
        if not exchange.value and "?" not in exchange.answer and len(exchange.answer.split()) > 1
    ]
    if is_about("a_name", asked) and (name := _name_of_another(said)):
        return texts.said("your_name", name=name)
    wanted = _stems(asked)
    near = max(said[-8:], key=lambda text: len(wanted & _stems(text)), default="")
    if not wanted & _stems(near):
        near = said[0 if is_about("at_first", asked) else -1] if said else ""
    words = clip(" ".join(near.split()), 240)
    name = "was_read" if is_about("did_read", asked) else "found_here"
    return texts.said(name, words=words) if words else texts.said("told_nothing")


def _name_of_another(said: Sequence[str]) -> str:
    """Return the last name inside a sentence of theirs; in German, where nouns look the same, none."""
    if texts.language() == "de":
        return ""
    return next((found[-1] for words in reversed(said) if (found := _NAMED.findall(words))), "")


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.lower()) if word not in _EVERYDAY}
