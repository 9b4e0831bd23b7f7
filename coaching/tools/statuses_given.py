"""The statuses of parts of life that were given a moment ago: a rating now must fit."""

from collections.abc import Mapping
from datetime import timedelta

from coaching.files.selectors import domain_of
from coaching.models import FileType, UserFile
from coaching.tools.context import AnswerContext
from coaching.tools.save_file import SAVE_FILE
from sessions_app.arcs import current_arc
from sessions_app.models import Session, ToolCallRecord, ToolCallState
from sessions_app.selectors import accessible_session

MOST = timedelta(hours=12)
"""What was said earlier isn't held against a rating: the newer one holds."""


def read_statuses_given(context: AnswerContext) -> Mapping[str, str]:
    """Return the statuses that saves of the current arc named and that the pages still have, by domain."""
    session = accessible_session(user_id=context.user_id, session_id=context.session_id)
    named = _read_named(context, session)
    if not named:
        return {}
    pages = UserFile.of(context.user_id).filter(file_type=FileType.DOMAIN)
    held = {domain_of(path): status for path, status in pages.values_list("path", "frontmatter__status")}
    return {domain: status for domain, status in named.items() if held.get(domain) == status}


def _read_named(context: AnswerContext, session: Session) -> dict[str, str]:
    arc = current_arc(session)
    if arc is None:
        return {}
    saves = ToolCallRecord.within(session).filter(
        name=SAVE_FILE.name,
        state=ToolCallState.FINISHED,
        is_error=False,
        created_at__gte=max(arc.started_at, context.now - MOST),
        input__file_type=FileType.DOMAIN,
    )
    found = saves.order_by("id").values_list("input__file_name", "input__attributes__status")
    return {domain: status for domain, status in found if isinstance(domain, str) and isinstance(status, str)}
