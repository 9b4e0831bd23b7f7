"""Selects and sorts the user's own sentences for quoting in a file."""

import re
from collections.abc import Iterator, Sequence

from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.listening import DOMAINS, domains_in, is_substance, sentences_of

_MAX_PASSAGES = 30
_CLAUSE_END = re.compile(r"[,;]\s+(?:and\s+|but\s+)?|\s+but\s+")


def has_words_to_save(conversation: Conversation) -> bool:
    """Return whether the user has said something substantial since the last save."""
    fresh = conversation.user_texts[_saved_up_to(conversation) :]
    return any(map(is_substance, fresh))


def count_fresh_words(conversation: Conversation) -> int:
    """Count the substantial messages since the last save."""
    return sum(map(is_substance, conversation.user_texts[_saved_up_to(conversation) :]))


def _saved_up_to(conversation: Conversation) -> int:
    return conversation.save_indexes[-1] if conversation.save_indexes else 0


def quotable_passages(conversation: Conversation, request: str) -> Sequence[Sequence[str]]:
    """Return the user's substantial sentences by message, each once.

    From the whole conversation, because a file is replaced as a whole.
    """
    seen: set[str] = set()
    passages: list[list[str]] = []
    for text in conversation.user_texts:
        told: Sequence[str] = []
        if is_substance(text):
            told = [_plain(sentence) for sentence in sentences_of(text)]
        elif text == request:
            told = _content_of_request(text)
        passages.append([sentence for sentence in dict.fromkeys(told) if sentence not in seen])
        seen.update(told)
    return [passage for passage in passages if passage][-_MAX_PASSAGES:]


def _content_of_request(text: str) -> Sequence[str]:
    """Return the content of a request to save: "Save that I want to sleep more"."""
    told = []
    for sentence in sentences_of(text):
        _, mark, rest = sentence.partition(":")
        candidate = rest.strip() if mark else sentence
        if is_substance(candidate):
            told.append(_plain(candidate))
    return told


def _plain(sentence: str) -> str:
    """Return a sentence as a list item: one line, no leading markup."""
    text = " ".join(sentence.split()).lstrip("#>*-+| ")
    return text[:1].upper() + text[1:]


def sort_by_domain(
    passages: Sequence[Sequence[str]],
) -> tuple[dict[str, list[str]], list[str]]:
    """Sort sentences by life domain; the second value are the rest.

    A sentence without a domain gets the domain of the preceding one in its message.
    """
    found: dict[str, list[str]] = {}
    others: list[str] = []
    for passage in passages:
        current = [name for sentence in passage for name in domains_in(sentence)][:1]
        for sentence in _clauses(passage):
            current = list(domains_in(sentence)) or current[-1:]
            for name in current:
                found.setdefault(name, []).append(sentence)
            if not current:
                others.append(sentence)
    return {name: found[name] for name in DOMAINS if name in found}, others


def _clauses(passage: Sequence[str]) -> Iterator[str]:
    """Yield sentences, split into clauses if they mention several domains."""
    for sentence in passage:
        if len(domains_in(sentence)) < 2:
            yield sentence
        else:
            yield from (_plain(clause) for clause in _CLAUSE_END.split(sentence) if clause.strip())
