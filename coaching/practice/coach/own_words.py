"""What the person said in this conversation: their name, and their own words found again."""

import re
from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.file_names import clip
from coaching.practice.coach.hearing import hear, is_about, search
from coaching.practice.coach.spoken import PATTERNS

_WORD = re.compile(r"\w{3,}")
_NAME = re.compile(r"^Name: (?!not known yet)(.+)$", re.MULTILINE)
_NAMED = re.compile(
    r"(?<=[a-zà-ÿ,] )(?!(?:Mum|Mom|Dad|[MTWFS]\w+day|Dr|Mr|Mrs|Ms|God|Christmas)\b)[A-ZÀ-Þ][a-zà-ÿ]{2,20}\b"
)
_EVERYDAY = frozenset(PATTERNS["common"]["everyday"].split())
_STEM = 5
_NAMED_IN = frozenset({"greet", "tell", "open", "good", "goal", "smalltalk", "short"})
"""Acts beside which a name is given."""
_MAX_NAMING_WORDS = 10
"""In more words something is told besides the name."""
_MAX_TOLD = 4
"""So many statements are quoted to who asks what they said so far."""


def name_told(conversation: Conversation) -> str:
    """Return the name that the person gave in this conversation, or nothing."""
    told = [search("name", exchange.answer) for exchange in conversation.exchanges if not exchange.value]
    return next((next(filter(None, found.groups())).capitalize() for found in reversed(told) if found), "")


def found_here(
    conversation: Conversation, query: str, name: str = "found_here", *, has_all: bool = False
) -> str:
    """Return what the person said in this conversation with a word of the query, or with all; or nothing."""
    wanted = _stems(query)
    for exchange in reversed(conversation.exchanges[:-1]):
        found = wanted & _stems(exchange.answer)
        is_found = found == wanted if has_all else found
        if not exchange.value and "?" not in exchange.answer and found and is_found:
            return texts.said(name, words=clip(" ".join(exchange.answer.split()), 240).rstrip("."))
    return ""


def say_of_names(conversation: Conversation, act: str) -> str:
    """Return what to say to who gives their name, asks for one, or for all that they told."""
    words = conversation.exchanges[-1].answer
    is_brief = len(words.split()) <= _MAX_NAMING_WORDS
    if is_brief and act in _NAMED_IN and (found := search("name", words)):
        return texts.said("named_you", name=next(filter(None, found.groups())).capitalize())
    if is_about("my_name", words):
        return say_name(conversation)
    return say_named(conversation) or say_so_far(conversation)


def say_named(conversation: Conversation) -> str:
    """Return the name of somebody else that they ask for, if they told it in this conversation."""
    asked = conversation.exchanges[-1].answer
    if not is_about("asks_name", asked) or is_about("my_name", asked):
        return ""
    wanted = _stems(asked)
    told = [(words, search("names", words)) for words in reversed(_statements(conversation))]
    known = [
        (len(wanted & _stems(words)), next(filter(None, found.groups()))) for words, found in told if found
    ]
    _, name = max(known, key=lambda each: each[0], default=(0, ""))
    return texts.said("your_name", name=name.strip(" .!")) if name else ""


def say_so_far(conversation: Conversation) -> str:
    """Return the last of what they told, if they ask for all of it."""
    if not is_about("so_far", conversation.exchanges[-1].answer):
        return ""
    return say_last_told(conversation) or texts.said("told_nothing_yet")


def say_last_told(conversation: Conversation) -> str:
    """Return the last of what they told; nothing if they told nothing."""
    told = [words for words in _statements(conversation) if hear(words).kind in {"answer", "grief", "danger"}]
    quoted = [texts.said("quoted", words=clip(" ".join(words.split()), 100)) for words in told[-_MAX_TOLD:]]
    return texts.said("told_so_far", words="; ".join(quoted)) if quoted else ""


def _statements(conversation: Conversation) -> Sequence[str]:
    """Return what they wrote before the newest words, except for questions and single words."""
    said = [each.answer for each in conversation.exchanges[:-1] if not each.value]
    return [words for words in said if "?" not in words and len(words.split()) > 1]


def say_name(conversation: Conversation) -> str:
    if name := name_told(conversation):
        return texts.said("your_name", name=name)
    account = _NAME.search(conversation.section("session_context"))
    return texts.said("account_name", name=account[1]) if account else texts.said("no_name")


def say_told(conversation: Conversation) -> str:
    """Return what the person said: first, last, or with the most words in common with what they ask."""
    asked = conversation.exchanges[-1].answer
    said = _statements(conversation)
    if is_about("a_name", asked) and (name := _name_of_another(said)):
        return texts.said("your_name", name=name)
    wanted = _stems(asked)
    near = max(said[-8:], key=lambda text: len(wanted & _stems(text)), default="")
    if not wanted & _stems(near):
        near = said[0 if is_about("at_first", asked) else -1] if said else ""
    words = clip(" ".join(near.split()), 240).rstrip(".")
    name = "was_read" if is_about("did_read", asked) else "found_here"
    return texts.said(name, words=words) if words else texts.said("told_nothing")


def _name_of_another(said: Sequence[str]) -> str:
    """Return the last name inside a sentence of theirs; in German, where nouns look the same, none."""
    if texts.language() == "de":
        return ""
    return next((found[-1] for words in reversed(said) if (found := _NAMED.findall(words))), "")


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.lower()) if word not in _EVERYDAY}
