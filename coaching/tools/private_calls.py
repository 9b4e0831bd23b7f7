"""Conversations in which a private file was read or written, or the skill that writes one was loaded."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from coaching.files.types import RULES
from coaching.models import PRIVATE_TYPES
from coaching.tools.load_skill import LOAD_SKILL
from sessions_app.models import Session, ToolCallRecord

_NAMES = tuple(map(str, PRIVATE_TYPES))
"""Of private types of files, and of the skills that write them."""
_PATHS = tuple(RULES[file_type].place for file_type in PRIVATE_TYPES)


def without_private(sessions: QuerySet[Session], *, user_id: int) -> QuerySet[Session]:
    """Return the user's sessions without those that are about a private file."""
    private = ToolCallRecord.of(user_id).filter(
        Q(input__file_type__in=_NAMES)
        | Q(input__path__in=_PATHS)
        | Q(name=LOAD_SKILL.name, input__name__in=_NAMES),
        turn__session=OuterRef("pk"),
    )
    return sessions.filter(~Exists(private))
