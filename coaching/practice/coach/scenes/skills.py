"""Loads an approach's skill silently, once per arc, if its tool is offered."""

from coaching.practice.coach.arc_talk import ArcTalk
from coaching.practice.coach.story import skill_sections
from coaching.practice.script import Reply, ToolUse


def load_quietly(arc: ArcTalk, name: str) -> Reply | None:
    """Request a skill's text unless it is there or was requested already; otherwise None."""
    asked = any(
        call.outcome.name == "load_skill" and call.outcome.input.get("name") == name for call in arc.calls
    )
    is_there = any(name in skill_sections(message) for message in arc.conversation.messages)
    if asked or is_there or "load_skill" not in arc.conversation.tools:
        return None
    return Reply.of(ToolUse("load_skill", {"name": name}))
