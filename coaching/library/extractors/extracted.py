"""What an extractor returns, and how it says that a file can't be read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

UnreadOutcome = Literal["needs_password", "broken", "refused"]


def gettext_noop(sentence: str) -> str:
    """Return a sentence that `makemessages` finds by this function's name: extractors don't import Django."""
    return sentence


# PostgreSQL takes no zeros, nothing takes lone surrogates, and form feeds separate pages.
UNWANTED = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff\ufeff\ufffe\uffff]")

LOCKED = gettext_noop("This file is protected by a password. Remove the password and try again.")


class Unread(Exception):
    """A file that isn't read. `sentence` says why, in words for the person."""

    def __init__(self, outcome: UnreadOutcome, sentence: str) -> None:
        super().__init__(sentence)
        self.outcome = outcome
        self.sentence = sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file inside an email. `data` is None if it doesn't fit, or nothing in it can be read."""

    name: str
    size: int
    data: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The text of a file by page, or an image prepared for a model that sees.

    `pages_read` are the numbers of the pages in `pages`, empty if all are. `picture_pages` are the numbers of
    pages that are pictures, with little text or none. `filled` differs between copies of a form with other
    values, and is empty without any. `hints` are facts that the file states about itself, such as its title;
    they are as untrusted as its text. `note` says in a sentence what was left out.
    """

    pages: tuple[str, ...] = ()
    page_count: int = 1
    pages_read: tuple[int, ...] = ()
    picture_pages: tuple[int, ...] = ()
    filled: str = ""
    hints: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    image: bytes = b""
    attachments: tuple[Attachment, ...] = ()
