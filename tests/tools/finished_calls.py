"""Finished turns with a call, stored as a turn's end stores them."""

from sessions_app.models import Message, MessageRole, Session, TurnStatus


def store_result(session: Session, result: str | None, *, tool_use_id: str = "toolu_9") -> Message:
    """Store a turn with one call."""
    turn = session.turns.create(status=TurnStatus.COMPLETED, ended_at="2026-11-20T08:00Z")
    call = {"id": tool_use_id, "name": "read_file", "input": {"path": "a"}, "round": 1}
    session.last_message_number += 1
    session.save()
    return session.messages.create(
        turn=turn,
        number=session.last_message_number,
        role=MessageRole.ASSISTANT,
        content="I read it.",
        metadata={"tool_calls": [{**call, "result": result, "is_error": False}]},
    )
