"""Saves a file through the store, without a turn."""

from uuid import UUID

from coaching.files.drafts import FileDraft
from coaching.files.store import StoredFile, save_file
from coaching.models import FileSource
from sessions_app.database import in_database


async def store_file(
    *, user_id: int, draft: FileDraft, source: FileSource, session_id: UUID | None = None
) -> StoredFile:
    return await save_file(
        user_id=user_id, draft=draft, source=source, session_id=session_id, tool_use_id="", commit=in_database
    )
