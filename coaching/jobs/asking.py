"""What the requests of background jobs share: a conversation's words and answers as data."""

import re
from collections.abc import Sequence

from coaching.legacy_text.blocks import strip_block_tags
from coaching.transcript.answers import Said

_TAG = re.compile(r"<(?=/?\s*(?:transcript|beginning|said)\b)", re.IGNORECASE)


def said_lines(said: Sequence[Said], *, most_characters: int | None = None) -> list[str]:
    """Return each piece in a tag that names its speaker, perhaps only its first characters."""
    return [
        f'<said by="{"person" if piece.is_by_person else "sage"}">\n'
        f"{_fenced(piece.text[:most_characters])}\n</said>"
        for piece in said
    ]


def _fenced(text: str) -> str:
    """Return text that can neither close its section nor open another."""
    return _TAG.sub("&lt;", strip_block_tags(text))
