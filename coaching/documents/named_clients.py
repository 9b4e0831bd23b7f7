"""Which clients a person's own words name. A document's words, which a model may obey, name none."""

import re
import uuid
from collections import Counter
from collections.abc import Iterable

from coaching.models import Client, ClientType
from sessions_app.models import Message, MessageRole

MESSAGES_READ = 3
"""A name holds for the message that has it and the next ones: "And the rent?" is still about them."""
_SHORTEST = 3
_WORD = re.compile(r"\w+")


def clients_named_by_user(*, user_id: int, session_id: uuid.UUID) -> frozenset[int]:
    """Return the clients that the user's last messages of a conversation name. Sync ORM code.

    By the whole name, or by its first word where no other client's begins with it. The user themselves isn't
    among them: "me" is in most messages.
    """
    said = Message.of(user_id).filter(session_id=session_id, role=MessageRole.USER, turn__is_withdrawn=False)
    spoken = said.exclude(metadata__has_key="is_hidden").order_by("-number").values_list("content", flat=True)
    others = Client.of(user_id).exclude(client_type=ClientType.SELF).values_list("id", "name")
    return named_in(spoken[:MESSAGES_READ], others)


def named_in(texts: Iterable[str], clients: Iterable[tuple[int, str]]) -> frozenset[int]:
    """Return the ids of the clients whose names the texts have, as whole words in any case."""
    said = [f" {' '.join(_words(text))} " for text in texts]
    names = {pk: _words(name) for pk, name in clients}
    firsts = Counter(words[0] for words in names.values() if words)

    def is_said(words: list[str]) -> bool:
        forms = [" ".join(words)] + ([words[0]] if words and firsts[words[0]] == 1 else [])
        return any(len(form) >= _SHORTEST and f" {form} " in text for form in forms for text in said)

    return frozenset(pk for pk, words in names.items() if is_said(words))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
