"""What of a document isn't in its text: fixed sentences, one a line, as they are stored with it."""

from collections.abc import Sequence
from itertools import pairwise

from coaching.library.extractors.content_types import WRONG_NAME
from coaching.library.extractors.extracted import gettext_noop
from coaching.library.extractors.left_out import DELETED, MAX_NOTE, joined_notes, pages_note

PICTURES = gettext_noop("Sage hasn’t read the pages that are pictures:")
"""Their numbers follow in a line of their own."""
FROM_PICTURES = gettext_noop("These pages were read from their pictures. Check names and numbers:")
"""Their numbers follow, too."""
BEGINNING_SEARCHED = gettext_noop("It’s very long: Sage looked for facts in its beginning only.")
_OTHER_NOTES = {WRONG_NAME, FROM_PICTURES, DELETED}
"""All that a document says was read."""


def pictures_note(pages: Sequence[int]) -> str:
    """Return the sentence that names pages without text; empty for none."""
    return pages_note(PICTURES, pages)


def with_page_texts(note: str, *, read: Sequence[int], unread: Sequence[int]) -> str:
    """Return a note that names the pages that were read from their pictures, and those that weren't."""
    lines = ["", *note.splitlines()]
    rest = [line for before, line in pairwise(lines) if not {before, line} & {PICTURES, FROM_PICTURES}]
    named = pages_note(FROM_PICTURES, read)
    return joined_notes([pictures_note(unread), named, *rest])


def with_line(note: str, sentence: str, *, is_there: bool) -> str:
    """Return a note with a sentence that no other line follows, or without it; unchanged if it is full."""
    lines = [line for line in note.splitlines() if line != sentence]
    longer = "\n".join([*lines, sentence] if is_there else lines)
    return longer if len(longer) <= MAX_NOTE else note


def is_read_in_part(note: str) -> bool:
    """Say whether a stored note tells of something that wasn't read."""
    lines = ["", *note.splitlines()]
    return any(not _OTHER_NOTES & {before, line} for before, line in pairwise(lines))
