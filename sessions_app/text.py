"""Checks text before it is stored: PostgreSQL refuses U+0000 and UTF-8 refuses lone surrogates.

A user's text with either is refused; in a model's text they are replaced, since it can't be asked again.
"""

import re
from hashlib import sha256
from typing import Any

from django.utils.translation import gettext_noop as _

from sessions_app.errors import Refused
from sessions_app.opening_message import OPENING_ID

MAX_MESSAGE_CHARACTERS = 20_000
MAX_CLIENT_ID_CHARACTERS = 100
TITLE_CHARACTERS = 80

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def check_message_text(text: object) -> str:
    """Return the user's text as it will be stored, with the line breaks of a page: a form sends CRLF.

    Raises `Refused` for what isn't text, is empty, too long, or holds characters that can't be stored.
    """
    if not isinstance(text, str):
        raise Refused(_("A message must be text."))
    text = text.replace("\r\n", "\n")
    if len(text) > MAX_MESSAGE_CHARACTERS:
        raise Refused(
            _(
                "This message has %(length)s characters, but only %(most)s fit. "
                "Please shorten it or send it in parts."
            ),
            length=len(text),
            most=MAX_MESSAGE_CHARACTERS,
        )
    if not is_storable(text):
        raise Refused(
            _("This message contains a character that can’t be stored. Please remove it and send again.")
        )
    if not text.strip():
        raise Refused(_("Please write something first."))
    return text


def is_storable(text: str) -> bool:
    """Return whether the database can store a text."""
    return not _UNSTORABLE.search(text)


def check_client_id(client_id: object) -> str | None:
    """Return a client's message id, None where it sent none.

    Raises `Refused` for anything that can't be an id.
    """
    if client_id is None or client_id == "":
        return None
    if (
        not isinstance(client_id, str)
        or len(client_id) > MAX_CLIENT_ID_CHARACTERS
        or _UNSTORABLE.search(client_id)
    ):
        raise Refused(
            "A message id must be text of at most %(most)s characters.", most=MAX_CLIENT_ID_CHARACTERS
        )
    if client_id == OPENING_ID:
        raise Refused(f"“{OPENING_ID}” can’t be a message id.")
    return client_id


def id_of_words(client_id: str, words: str) -> str:
    """Return the id for words that come under a client id that others have: for the same ones the same."""
    named = f"{client_id}\n{words}".encode("utf-8", "surrogatepass")
    return f"words-{sha256(named).hexdigest()}"


def mended(text: str) -> str:
    """Return a model's text with each character that can't be stored replaced by U+FFFD."""
    return text if text.isascii() and "\x00" not in text else _UNSTORABLE.sub("\ufffd", text)


def mended_json(value: Any) -> Any:
    """Return JSON values with every string mended, keys too."""
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, list):
        return [mended_json(item) for item in value]
    if isinstance(value, dict):
        return {mended(str(key)): mended_json(item) for key, item in value.items()}
    return value


def title_from(text: str) -> str:
    """Return the title that a message's first words make."""
    line = " ".join(text.split())
    if len(line) <= TITLE_CHARACTERS:
        return line
    return line[:TITLE_CHARACTERS].rsplit(" ", 1)[0] + "…"
