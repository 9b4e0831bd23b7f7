"""Which types may be written in which conversation (SPEC 4). The user's own edits aren't checked."""

from coaching.files.errors import FileRefused
from coaching.models import FileType
from sessions_app.models import SessionKind

WRITABLE: dict[SessionKind, tuple[FileType, ...]] = {
    SessionKind.OPEN_CONVERSATION: (
        FileType.DOMAIN,
        FileType.OVERVIEW,
        FileType.LIFE_PLAN,
        FileType.WEEKLY_PLAN,
        FileType.SAGE_CONTEXT,
        FileType.SAGE_PATTERNS,
        FileType.CAPTURE,
        FileType.REFLECTION_PROMPT,
        FileType.SAFETY_PLAN,
        # Only additions: see `tools.day_additions`.
        FileType.DAY_PLAN,
    ),
    SessionKind.LIFE_MAPPING: (
        FileType.DOMAIN,
        FileType.OVERVIEW,
        FileType.LIFE_PLAN,
        FileType.SAGE_CONTEXT,
        FileType.SAGE_PATTERNS,
    ),
    SessionKind.WEEKLY_CHECKIN: (
        FileType.CHECK_IN,
        FileType.DOMAIN,
        FileType.OVERVIEW,
        FileType.LIFE_PLAN,
        FileType.WEEKLY_PLAN,
        FileType.SAGE_CONTEXT,
        FileType.SAGE_PATTERNS,
        FileType.REFLECTION_PROMPT,
    ),
    SessionKind.OPEN_DAY: (FileType.DAY_PLAN, FileType.SAGE_CONTEXT, FileType.CAPTURE),
    SessionKind.CLOSE_DAY: (
        FileType.DAILY_LOG,
        FileType.DOMAIN,
        FileType.SAGE_CONTEXT,
        FileType.SAGE_PATTERNS,
        FileType.REFLECTION_PROMPT,
    ),
}

WRITTEN_TYPES = tuple(
    file_type for file_type in FileType if any(file_type in row for row in WRITABLE.values())
)
"""The types that Sage writes at all. The others are only their user's."""


def may_write(effective_kind: str, file_type: FileType) -> bool:
    """Return whether a conversation of that effective kind may write the type."""
    return file_type in _writable(effective_kind)


def check_may_write(effective_kind: str, file_type: FileType) -> None:
    """Raise `FileRefused`, with the types that may be written now, unless `may_write`."""
    if not may_write(effective_kind, file_type):
        writable = ", ".join(_writable(effective_kind)) or "nothing"
        raise FileRefused(
            f"The type {file_type} can't be written in {effective_kind}; nothing was saved. "
            f"What may be written now: {writable}."
        )


def _writable(effective_kind: str) -> tuple[FileType, ...]:
    if effective_kind not in SessionKind.values:
        return ()
    return WRITABLE[SessionKind(effective_kind)]
