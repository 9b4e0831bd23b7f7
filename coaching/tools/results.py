"""Results of tools that list rows: bounded, with other people's words fenced, and with links to pages."""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from coaching.context.fences import fence, fence_value
from coaching.engine.tools import ToolResult
from coaching.files.attributes import StorableText

MAX_BYTES = 6_000
WORDS = 400
MAX_ID = 2**63 - 1
NO_ID = -1

Id = Annotated[int, AfterValidator(lambda value: value if 0 < value <= MAX_ID else NO_ID)]
"""An id that fits its column. Its bounds aren't in the schema, which costs tokens in every request."""
Query = Annotated[StorableText, Field(min_length=1, max_length=500)]
Name = Annotated[StorableText, Field(min_length=1, max_length=255)]


def listed(name: str, rows: Sequence[Mapping[str, Any]], *, total: int = 0, **values: Any) -> ToolResult:
    """Return rows as JSON of at most `MAX_BYTES`; `left_out` says how many more there are."""
    shown = [plain(row) for row in rows]
    while True:
        left_out = max(total, len(rows)) - len(shown)
        more = {"left_out": left_out} if left_out else {}
        text = json.dumps({**plain(values), name: shown, **more}, ensure_ascii=False)
        if len(text.encode()) <= MAX_BYTES or not shown:
            return ToolResult(content=text)
        shown.pop()


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as JSON has them, without the empty ones."""
    return {
        name: value.isoformat() if isinstance(value, date | datetime) else value
        for name, value in values.items()
        if value not in (None, "", [], {})
    }


def line(words: str, limit: int = 120) -> str:
    """Return somebody's words as one short line that fakes nothing."""
    return fence_value(words, limit)


def passage(words: str, limit: int = WORDS) -> str:
    """Return somebody's words, perhaps shortened, that fake nothing."""
    safe = fence(words)
    return safe if len(safe) <= limit else safe[:limit].rstrip() + "…"


def document_link(document_id: int | None) -> str:
    """Return the address of a document's page; empty without one."""
    return f"/library/documents/{document_id}/" if document_id else ""
