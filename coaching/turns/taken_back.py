"""Takes back the next steps of a turn whose words turn out to speak of danger."""

from uuid import UUID

from coaching.library.resolutions import take_back_unasked
from sessions_app.models import Session, ToolCallRecord
from sessions_app.session_events import StepTold, append


def take_back_steps(session: Session, turn_id: UUID) -> None:
    """Make suggestions of the steps that a turn wrote unasked, and undo what it noted of others.

    The caller has locked the session, whose readers are told.
    """
    calls = ToolCallRecord.within(session).filter(turn_id=turn_id, name__endswith="_action_item")
    by_id = {call.tool_use_id: call for call in calls if not call.is_allowed and not call.is_error}
    touched = take_back_unasked(user_id=session.user_id, session_id=session.id, tool_use_ids=list(by_id))
    for step_id, tool_use_id in touched:
        append(session, StepTold(step_id=step_id, tool_use_id=tool_use_id, is_changed=True))
