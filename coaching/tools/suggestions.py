"""What other programs suggest: once each, and what becomes of it is the user's."""

import hashlib

from coaching.engine.tools import ToolResult
from coaching.models import ActionItem, EntryState, KnowledgeEntry

WAITS = "It waits for the person's yes: tell them."
DECIDED = "It was suggested before, and the person has decided about it. Don't suggest it again unasked."


def suggested_key(*said: object) -> str:
    """Return the same key for the same suggestion, from any program."""
    words = "\n".join(" ".join(str(each or "").split()) for each in said).casefold()
    return f"program:{hashlib.sha256(words.encode('utf-8', 'replace')).hexdigest()[:24]}"


def suggested(row: ActionItem | KnowledgeEntry, *, waits_at: str) -> ToolResult:
    """Return what became of a suggestion; `waits_at` is the page where the user decides."""
    is_waiting = row.state == EntryState.PROPOSED  # steps have the same word
    return ToolResult.of(
        suggested=is_waiting,
        id=row.pk,
        state=row.state,
        title=row.title,
        link=waits_at,
        message=WAITS if is_waiting else DECIDED,
    )
