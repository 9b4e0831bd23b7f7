"""What the requests of background jobs share: a conversation's words as data."""

import re
from collections.abc import Sequence

from coaching.legacy_text.blocks import strip_block_tags
from sessions_app.models import Message

_TAG = re.compile(r"<(?=/?\s*(?:transcript|beginning|said)\b)", re.IGNORECASE)


def said_lines(messages: Sequence[Message], *, most_characters: int | None = None) -> list[str]:
    """Return each message in a tag that names its speaker, perhaps only its first characters."""
    return [
        f'<said by="{"person" if message.role == "user" else "sage"}">\n'
        f"{_fenced(message.content[:most_characters])}\n</said>"
        for message in messages
    ]


def _fenced(text: str) -> str:
    """Return text that can neither close its section nor open another."""
    return _TAG.sub("&lt;", strip_block_tags(text))
