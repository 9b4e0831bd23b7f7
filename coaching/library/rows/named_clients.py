"""Which clients a person's own words name. A document's words, which a model may obey, name none.

Text that the person pastes into a message counts as their words.
"""

import re
import unicodedata
import uuid
from collections import Counter
from collections.abc import Iterable

from coaching.models import Client, ClientType
from sessions_app.models import Message, MessageRole

MESSAGES_READ = 3
"""A name holds for the message that has it and the next ones: "And the rent?" is still about them."""
_SHORTEST = 3
_LEGAL_FORMS = frozenset(
    {"ag", "bv", "co", "corp", "gmbh", "inc", "kg", "limited", "llc", "llp", "ltd", "plc", "sa", "sarl"}
)
_TITLES = frozenset({"dr", "herr", "frau", "madame", "miss", "mme", "mr", "mrs", "ms", "prof", "sir"})
_NEVER_A_FIRST_NAME = frozenset(
    {"about", "all", "and", "any", "april", "are", "august", "but", "can", "der", "did", "die", "dear", "for",
     "friday", "from", "had", "has", "have", "her", "his", "home", "house", "how", "its", "january", "july",
     "june", "les", "may", "monday", "new", "not", "now", "old", "one", "our", "out", "saturday", "she",
     "sunday", "that", "the", "their", "them", "they", "this", "thursday", "tuesday", "was", "wednesday",
     "were", "what", "when", "where", "which", "who", "why", "with", "would", "you", "your"}
)  # fmt: skip
_WORDS_AND_NAMES = frozenset(
    {"amber", "angel", "art", "autumn", "bill", "bob", "carol", "chance", "chase", "christian", "clay",
     "cliff", "crystal", "dale", "dawn", "dean", "destiny", "don", "drew", "earl", "eve", "faith", "forest",
     "frank", "gene", "glen", "grace", "grant", "guy", "harmony", "heath", "hope", "hunter", "ivy", "jack",
     "jean", "joy", "king", "lily", "major", "mark", "mason", "max", "mercy", "miles", "nick", "norm", "pat",
     "patience", "pearl", "penny", "peter", "pierce", "rain", "ray", "rich", "river", "rob", "robin", "rose",
     "ruby", "rusty", "sage", "sandy", "skip", "sky", "storm", "sue", "summer", "terry", "tiffany", "tony",
     "trinity", "ward", "will", "winter", "woody"}
)  # fmt: skip
_SHORT_WORDS = frozenset(
    {"a", "ai", "am", "an", "as", "at", "be", "by", "do", "eh", "er", "go", "he", "hi", "i", "if", "in", "is",
     "it", "ma", "me", "my", "no", "of", "oh", "ok", "on", "or", "so", "to", "uk", "up", "us", "we"}
)  # fmt: skip
_EVERYDAY = _TITLES | _NEVER_A_FIRST_NAME | _WORDS_AND_NAMES | _SHORT_WORDS
_UNSPACED = re.compile(
    "[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff]"
)
"""Letters of scripts that put no spaces between words, or write particles onto them."""


def clients_named_by_user(*, user_id: int, session_id: uuid.UUID) -> frozenset[int]:
    """Return the clients that the user's last messages of a conversation name. Sync ORM code.

    The user themselves isn't among them: "me" is in most messages.
    """
    said = Message.of(user_id).filter(session_id=session_id, role=MessageRole.USER, turn__is_withdrawn=False)
    spoken = said.exclude(metadata__has_key="is_hidden").order_by("-number").values_list("content", flat=True)
    others = Client.of(user_id).exclude(client_type=ClientType.SELF)
    return named_in(spoken[:MESSAGES_READ], others.values_list("id", "name", "client_type"))


def named_in(texts: Iterable[str], clients: Iterable[tuple[int, str, str]]) -> frozenset[int]:
    """Return the ids of the clients that the texts name; a client is an id, a name and a type.

    The whole name counts, in any case, without titles in front and legal forms behind. So does a person's
    first name where no other client's name begins with it. A single everyday word ("Will") counts only with
    its capital inside a sentence, and a name of one or two letters only with its exact capitals.
    """
    said = [unicodedata.normalize("NFC", text) for text in texts]
    names = {pk: (_name(name), client_type) for pk, name, client_type in clients}
    firsts = Counter(words[0].casefold() for words, _ in names.values() if words)

    def is_named(words: list[str], client_type: str) -> bool:
        if not words:
            return False
        if any(_has(text, words) for text in said):
            return True
        first = words[0].casefold()
        is_first_name = client_type == ClientType.PERSON and len(first) >= _SHORTEST and firsts[first] == 1
        if not is_first_name or first in _NEVER_A_FIRST_NAME:
            return False
        return any(_has(text, words[:1]) for text in said)

    return frozenset(pk for pk, name in names.items() if is_named(*name))


def _has(text: str, name: list[str]) -> bool:
    """Return whether a text has a name, or the first word of one."""
    if any(_UNSPACED.search(word) for word in name):
        return "".join(name).casefold() in "".join(_words(text)).casefold()
    if len(name) > 1:
        return f" {' '.join(name).casefold()} " in f" {' '.join(_words(text)).casefold()} "
    (word,) = name
    if word.casefold() in _EVERYDAY:
        return re.search(rf"[\w,][ \t]+{re.escape(word.capitalize())}(?!\w)", text) is not None
    if len(word) < _SHORTEST:
        return word in _words(text)
    return word.casefold() in _words(text.casefold())


def _name(name: str) -> list[str]:
    """Return a name's words, without titles and a legal form unless hardly anything is left."""
    words = _words(unicodedata.normalize("NFC", name))
    while len(words) > 1 and words[0].casefold() in _TITLES:
        del words[0]
    while len(words) > 2 and words[-1].casefold() in _LEGAL_FORMS:
        del words[-1]
    return words


def _words(text: str) -> list[str]:
    """Return the runs of letters, digits, and marks, without which vowels of some scripts part words."""
    return "".join(
        each if each.isalnum() or unicodedata.category(each)[0] == "M" else " " for each in text
    ).split()
