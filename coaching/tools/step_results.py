"""What the tools of next steps share: their results, and the fact that tells of a step."""

import hashlib
from typing import Any

from coaching.models import ActionItem, ActionState
from coaching.reminders.preferences import is_reminded_of_steps
from coaching.tools.context import CallContext
from sessions_app.selectors import accessible_session
from sessions_app.session_events import StepTold, append


def said_key(title: str, sentence: str) -> str:
    """Return the same key for the same step from the same sentence."""
    said = f"{' '.join(title.split())}\n{sentence}".casefold()
    return f"said:{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()[:24]}"


def step_values(step: ActionItem) -> dict[str, Any]:
    """Return a step as a result has it, with whether a reminder will come. Sync ORM code."""
    due: dict[str, Any] = {"due_date": step.due_date.isoformat()} if step.due_date else {}
    if step.due_date and step.state == ActionState.OPEN:
        due["reminder"] = is_reminded_of_steps(step.user_id)
    at = {"due_time": f"{step.due_time:%H:%M}"} if step.due_time else {}
    repeats = {"repeats": step.repeats} if step.repeats else {}
    values = {
        "written": True,
        "id": step.pk,
        "state": step.state,
        "title": step.title,
        **due,
        **at,
        **repeats,
    }
    return values if not step.quote else {**values, "quote": step.quote}


def tell_step(context: CallContext, step: ActionItem) -> None:
    """Tell the readers of the conversation of a step that was written unasked. Sync ORM code.

    The transaction has locked the session.
    """
    if context.session_id is None:
        return
    session = accessible_session(user_id=context.user_id, session_id=context.session_id, is_locked=True)
    append(session, StepTold(step_id=step.pk, tool_use_id=context.tool_use_id))
