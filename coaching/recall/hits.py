"""What a search finds: places in a user's history."""

import uuid
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A place that was found: a message or document with its best part and piece, or another text.

    `file_id` is the id of a file, document, knowledge entry or step, by source. `part` of a document is the
    page, or 0 for what is known of it. `score` is 0 where the question has no words to look for: then the
    newest are found.
    """

    source: str
    session_id: uuid.UUID | None
    file_id: int | None
    number: int
    message_id: int | None
    part: int
    piece: int
    moment: datetime
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NearbyMessage:
    """The message before or after a hit, shortened."""

    is_by_user: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A hit with its text, at most 1,260 characters, and where it stands.

    `is_by_user` is None where nobody said it. `title` is the session's, the file's path, the document's name
    or the title of the entry or step; `anchor` marks a message on its page, and `later` counts the messages
    after it. Before `body_from`, a file's text is frontmatter.
    """

    hit: Hit
    text: str
    title: str
    is_by_user: bool | None = None
    imported_id: str | None = None
    anchor: str = ""
    later: int = 0
    before: NearbyMessage | None = None
    after: NearbyMessage | None = None
    body_from: int = 0
